"""The command as a function, and a tree with every odd file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pgchunk_loader.cli import app

MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Outcome:
    """What a run of the command left behind."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]


def run_command(*arguments: str | Path, stdin: str | bytes | None = None, **environment: str) -> Outcome:
    result = CliRunner().invoke(app, [str(each) for each in arguments], input=stdin, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def offline() -> Command:
    """offline(*arguments) runs the command with no server to reach."""
    return run_command


@pytest.fixture
def pgchunk(dsn: str) -> Command:
    """pgchunk(*arguments) runs the command on this test's database."""

    def run(*arguments: str | Path, **more: Any) -> Outcome:
        return run_command(*arguments, PGCHUNK_DSN=dsn, **more)

    return run


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str | bytes]], Path]:
    """tree({path: content}) writes files below a directory of this test and returns it; again adds to it."""
    directory = tmp_path / "tree"

    def make(files: dict[str, str | bytes]) -> Path:
        directory.mkdir(exist_ok=True)
        for name, content in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return directory

    return make


#: Files of the odd tree that are documents, with what the database must hold of them.
GOOD = {
    "a small one.md": "# Small\n\nA few words.\n",
    "nested/deep/headings.md": "# One\n\nfirst\n\n## Two\n\nsecond\n\n### Three\n\nthird\n",
    "long.md": "# Long\n\n" + "A sentence of nine words stands here again, yes. " * 800 + "\n",
    "setext.markdown": "Title\n=====\n\nbody\n\nSub\n---\n\nmore\n",
    "component.mdx": "import X from 'x'\n\n# Component\n\n<X />\n",
    "plain.txt": "No # heading here.\n\nTwo paragraphs.\n",
    "UPPER.MD": "# Upper\n\ncase\n",
    "empty.md": "",
    "blank.md": " \n\t\n",
    "crlf.md": "# Title\r\n\r\nbody\r\n",
    "quotes ' and \".md": "# Quotes\n\ntext\n",
    "line\nbreak.md": "# Line break\n\ntext\n",
    "100%_sure?#.md": "# Percent\n\ntext\n",
    "größe 大小 🙂.md": "# Größe\n\n大小\n",
    "back\\slash.md": "# Back\n\nslash\n",
    "<|endoftext|>.md": "# Special <|endoftext|>\n\ntext <|endoftext|>\n",
    "front.md": "---\ntitle: From front matter\ndate: 2024-05-06\ntags: [a, b]\n---\n\n# Other\n\ntext\n",
}
#: Files that are documents in another encoding: path, bytes, text.
ENCODED = [
    ("bom.md", b"\xef\xbb\xbf# Bom\n\ntext\n", "# Bom\n\ntext\n"),
    ("utf16le.md", "\ufeff# Sixteen\n\nö\n".encode("utf-16-le"), "# Sixteen\n\nö\n"),
    ("utf16be.md", "\ufeff# Sixteen\n\n🙂\n".encode("utf-16-be"), "# Sixteen\n\n🙂\n"),
]
#: Files that are named and skipped: path, bytes, a word of the reason.
BAD = [
    ("latin1.md", "# Größe\n".encode("latin-1"), "not text"),
    ("nul.md", b"# Nul\n\nbe\0fore\n", "NUL"),
    ("binary.md", bytes(range(256)) * 4, "not text"),
    ("truncated utf16.md", b"\xff\xfe#\0x", "not text"),
    ("utf32.md", "\ufeff# x\n".encode("utf-32-le"), "not text"),
    ("huge.md", b"# Huge\n" + b"x" * (20 * MEGABYTE), "max-bytes"),
]
#: Files that the rules leave out.
LEFT_OUT = ["picture.png", "script.py", ".hidden.md", ".git/readme.md", "README"]


@dataclass(frozen=True)
class OddTree:
    """The tree of every odd file.

    Attributes:
        documents: relative path to the text that is to be stored.
        bad: relative path to a word of the reason it is skipped for.
    """

    directory: Path
    documents: dict[str, str]
    bad: dict[str, str]

    @property
    def uris(self) -> dict[str, str]:
        """source_uri to text, when loaded by path."""
        return {f"{self.directory}/{path}": text for path, text in self.documents.items()}


@pytest.fixture
def odd_tree(tree: Callable[[dict[str, str | bytes]], Path], monkeypatch: pytest.MonkeyPatch) -> OddTree:
    """Every odd file: encodings, names, links, sizes, permissions."""
    files: dict[str, str | bytes] = dict(GOOD)
    files |= {path: data for path, data, _ in ENCODED} | {path: data for path, data, _ in BAD}
    files |= dict.fromkeys(LEFT_OUT, "# Not me\n")
    files["secret.md"] = "# Secret\n"
    directory = tree(files)
    (directory / "loop").symlink_to(directory, target_is_directory=True)
    (directory / "self.md").symlink_to("self.md")
    (directory / "link.md").symlink_to("plain.txt")
    os.mkfifo(directory / "pipe.md")
    bad = {path: word for path, _, word in BAD} | {"secret.md": "permission denied"}
    make_unreadable(directory / "secret.md", monkeypatch)
    documents = GOOD | {path: text for path, _, text in ENCODED}
    return OddTree(directory, documents, bad)


def make_unreadable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes a file's permissions away; root, whom that does not stop, is refused by a stand-in for open()."""
    path.chmod(0)
    if os.geteuid() == 0:
        real = os.open

        def refuse(name: Any, *arguments: Any, **more: Any) -> int:
            if Path(os.fsdecode(name)) == path:
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return real(name, *arguments, **more)

        monkeypatch.setattr("pgchunk_loader.text.os.open", refuse)
