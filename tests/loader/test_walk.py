"""Which files belong to a tree, and in which order."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pgchunk_loader import text
from pgchunk_loader import walk as walking
from pgchunk_loader.problems import SkipError, UnusableError
from pgchunk_loader.walk import Rules, walk

Tree = Callable[[dict[str, str | bytes]], Path]


class Seen:
    """What a walk yields, leaves out and cannot read."""

    def __init__(self, root: Path, rules: Rules | None = None) -> None:
        self.left_out: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self.files = list(walk(root, rules or Rules(), self.left_out.__setitem__, self._fail))

    def _fail(self, path: str, skipped: SkipError) -> None:
        self.failed[path] = skipped.reason


def files(root: Path, **rules: object) -> list[str]:
    return Seen(root, Rules(**rules)).files  # type: ignore[arg-type]


def test_types_are_told_by_their_extension(tree: Tree) -> None:
    wanted = ["a.md", "b.markdown", "c.mdx", "d.txt", "e.MD", "f.Txt", "g.tar.md"]
    others = ["h.rst", "i.md.bak", "j", "md", "k.mdown", "l.html"]
    seen = Seen(tree(dict.fromkeys(wanted + others, "")))
    assert sorted(seen.files) == sorted(wanted)
    assert seen.left_out == dict.fromkeys(others, walking.OTHER_TYPE)


def test_the_order_is_the_same_on_every_run_and_depth_first(tree: Tree) -> None:
    root = tree(dict.fromkeys(["b.md", "a/z.md", "a/b/c.md", "a.md", "ä.md", "Z.md", "a-b.md"], ""))
    assert files(root) == ["Z.md", "a/b/c.md", "a/z.md", "a-b.md", "a.md", "b.md", "ä.md"]


def test_dotfiles_and_what_lies_in_dot_directories_are_left_out(tree: Tree) -> None:
    seen = Seen(tree(dict.fromkeys([".a.md", ".git/b.md", "c/.d/e.md", "c/.f.md", "c/g.md"], "")))
    assert seen.files == ["c/g.md"]
    assert seen.left_out == dict.fromkeys([".a.md", ".git", "c/.d", "c/.f.md"], walking.HIDDEN)


def test_links_are_never_followed_but_counted(tree: Tree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.md").write_text("")
    root = tree({"a.md": "", "sub/b.md": ""})
    links = {
        "loop": root,
        "sub/up": root,
        "self.md": root / "self.md",
        "out": outside,
        "file.md": root / "a.md",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    seen = Seen(root)
    assert seen.files == ["a.md", "sub/b.md"]
    assert seen.left_out == dict.fromkeys(links, walking.SYMLINK)


def test_what_is_not_a_regular_file_is_left_out(tree: Tree) -> None:
    root = tree({"a.md": ""})
    os.mkfifo(root / "pipe.md")
    seen = Seen(root)
    assert seen.files == ["a.md"]
    assert seen.left_out == {"pipe.md": walking.SPECIAL}


def test_a_directory_may_be_called_like_a_file(tree: Tree) -> None:
    assert files(tree({"a.md/b.md": ""})) == ["a.md/b.md"]


def test_include_adds_and_exclude_takes_away(tree: Tree) -> None:
    root = tree(dict.fromkeys(["a.md", "b.rst", "sub/c.rst", "drafts/d.md", "sub/drafts/e.md", "sub/f.md"], ""))
    assert files(root, include=["*.rst"], exclude=["/drafts/"]) == [
        "a.md",
        "b.rst",
        "sub/c.rst",
        "sub/drafts/e.md",
        "sub/f.md",
    ]
    assert files(root, exclude=["drafts/", "a.*"]) == ["sub/f.md"]


BROKEN = ["", "  ", "[", "a[", "[]", "[z-a]", "!", "/", "a\\", "# not a pattern", "[[:alpha:]]"]


@pytest.mark.parametrize("pattern", BROKEN)
@pytest.mark.parametrize("option", ["include", "exclude"])
def test_a_pattern_that_would_match_nothing_is_refused(option: str, pattern: str) -> None:
    with pytest.raises(UnusableError, match=f"--{option} .* is not a pattern") as caught:
        Rules(**{option: ["*.rst", pattern]})  # type: ignore[arg-type]
    assert repr(pattern) in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("pattern", ["*.rst", "!a.md", "\\[", "\\#a.md", "[a-c]*.md", "a/**/b", "/drafts/", "*.md "])
def test_every_other_pattern_is_taken(pattern: str) -> None:
    Rules(include=[pattern], exclude=[pattern])


@pytest.mark.filterwarnings("error")
def test_broken_lines_of_a_gitignore_match_nothing_and_the_others_hold(tree: Tree) -> None:
    root = tree({".gitignore": "\n".join([*BROKEN, "b.md"]), "a.md": "", "b.md": "", "[": ""})
    assert files(root, gitignore=True) == ["a.md"]


def test_files_over_the_limit_fail_before_they_are_opened(tree: Tree) -> None:
    seen = Seen(tree({"a.md": "x" * 10, "b.md": "x" * 11}), Rules(max_bytes=10))
    assert seen.files == ["a.md"]
    assert seen.failed == {"b.md": text.TOO_LARGE}


@pytest.mark.parametrize("depth", [2100])
def test_a_deep_tree_is_walked_as_far_as_paths_reach(tmp_path: Path, depth: int) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    seen = Seen(tmp_path)
    assert seen.files == []
    assert list(seen.failed.values()) == [text.UNREADABLE]  # the name became too long, and that is said
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_directory_that_cannot_be_read_is_named(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree({"a.md": "", "locked/b.md": "", "z.md": ""})
    real = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(walking.os, "scandir", refuse)
    seen = Seen(root)
    assert seen.files == ["a.md", "z.md"]
    assert seen.failed == {"locked/": text.DENIED}


GITIGNORES: dict[str, str | bytes] = {
    ".gitignore": "*.tmp.md\n/build/\n!keep.tmp.md\nlogs/\n# comment\n\\#hash.md\n",
    "docs/.gitignore": "!b.tmp.md\n/only-here.md\n",
    "a.md": "",
    "a.tmp.md": "",
    "keep.tmp.md": "",
    "#hash.md": "",
    "build/x.md": "",
    "docs/b.tmp.md": "",
    "docs/c.tmp.md": "",
    "docs/only-here.md": "",
    "docs/sub/only-here.md": "",
    "docs/build/y.md": "",
    "docs/logs/z.md": "",
    "logs/keep.tmp.md": "",
}


def test_hidden_files_are_loaded_when_wanted_but_never_those_of_git(tree: Tree) -> None:
    root = tree({"a.md": "", ".b.md": "", ".github/c.md": "", ".git/d.md": "", "sub/.git/e.md": "", "sub/.f/g.md": ""})
    assert files(root, hidden=True) == [".b.md", ".github/c.md", "a.md", "sub/.f/g.md"]
    assert files(root) == ["a.md"]


def test_gitignore_is_asked_only_when_wanted(tree: Tree) -> None:
    root = tree(GITIGNORES)
    assert len(files(root)) == sum(name.endswith(".md") for name in GITIGNORES)


#: What git makes of the tree above.
NOT_IGNORED = ["a.md", "docs/b.tmp.md", "docs/build/y.md", "docs/sub/only-here.md", "keep.tmp.md"]


def test_gitignore_decides_as_git_does(tree: Tree) -> None:
    root = tree(GITIGNORES)
    (root / ".git").mkdir()
    assert sorted(files(root, gitignore=True)) == NOT_IGNORED
    below = [name.removeprefix("docs/") for name in NOT_IGNORED if name.startswith("docs/")]
    assert sorted(files(root / "docs", gitignore=True)) == below


def test_patterns_above_the_repository_do_not_count(tree: Tree) -> None:
    root = tree({".gitignore": "*.md\n", "repository/a.md": "", "repository/.git/x": "", "plain/b.md": ""})
    assert files(root / "repository", gitignore=True) == ["a.md"]
    assert files(root / "plain", gitignore=True) == ["b.md"]


@pytest.mark.skipif(shutil.which("git") is None, reason="asks git itself; the test above has its answer")
def test_git_says_so_itself(tree: Tree) -> None:
    git = ["git", "-C", str(tree(GITIGNORES)), "-c", "core.excludesFile=/dev/null"]
    subprocess.run([*git, "init", "-q"], check=True)
    listing = [*git, "ls-files", "-z", "-o", "--exclude-standard"]
    told = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    assert sorted(name for name in told.split("\0") if name.endswith(".md")) == NOT_IGNORED


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything; the test above stands in for it")
def test_permissions_are_the_systems(tree: Tree) -> None:
    root = tree({"a.md": "", "locked/b.md": ""})
    (root / "locked").chmod(0)
    try:
        assert Seen(root).failed == {"locked/": text.DENIED}
    finally:
        (root / "locked").chmod(0o700)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes such names")
def test_names_that_are_not_utf8_are_walked(tree: Tree) -> None:
    root = tree({"a.md": ""})
    raw = os.fsencode(root) + b"/\xff.md"
    os.close(os.open(raw, os.O_CREAT, 0o600))
    assert files(root) == ["a.md", os.fsdecode(b"\xff.md")]
