"""The plan and the preview: the core alone, no server and no socket."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgchunk import chunk
from pgchunk.title import derive_title
from pgchunk_loader.report import printable

Command = Callable[..., Any]
OddTree = Any
Tree = Callable[[dict[str, str | bytes]], Path]
DOCUMENT = "---\ntitle: Guide\n---\n\nBefore.\n\n# One\n\nfirst\n\n## Two\n\n" + "Some words go here. " * 400 + "\n"


@pytest.fixture(autouse=True)
def no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any use of a socket fails the test, a local one included."""

    def refuse(*_arguments: object, **_more: object) -> None:
        raise AssertionError("a socket was used")

    for name in ("socket", "socketpair", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setenv("PGCHUNK_DSN", "host=/nowhere")


def plan(offline: Command, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(offline("load", "--dry-run", "--format", "json", *arguments).out)
    return found


def test_the_plan_is_what_the_core_makes(offline: Command, tree: Tree) -> None:
    root = tree({"guide.md": DOCUMENT, "notes/plain.txt": "No # heading.\n"})
    found = plan(offline, root)
    guide, plain = found["files"]
    chunks = chunk(DOCUMENT, "Guide")
    assert guide["source_uri"] == f"{root}/guide.md"
    assert guide["title"] == "Guide"
    assert guide["chunks"] == len(chunks)
    assert guide["tokens"] == sum(each.token_count for each in chunks)
    assert guide["embedded_tokens"] == sum(each.content_token_count for each in chunks)
    paths = list(dict.fromkeys(each.heading_path for each in chunks))
    assert [tuple(part["heading_path"]) for part in guide["parts"]] == paths
    assert plain["file"] == "notes/plain.txt"
    assert plain["format"] == "text"
    assert found["totals"]["files"] == 2
    assert found["totals"]["chunks"] == guide["chunks"] + plain["chunks"]


def test_the_table_says_the_same_as_the_json(offline: Command, tree: Tree) -> None:
    root = tree({"guide.md": DOCUMENT})
    found = plan(offline, root)
    ran = offline("load", "-n", root)
    assert ran.status == 0
    lines = ran.out.splitlines()
    assert lines[0].split() == ["chunks", "tokens", "file", "and", "heading", "path"]
    guide = found["files"][0]
    assert lines[1].split() == [f"{guide['chunks']:,}", f"{guide['embedded_tokens']:,}", "guide.md"]
    assert [line.strip().split("  ")[-1].strip() for line in lines[2:5]] == [
        "(no heading)",
        "One",
        "One > Two",
    ]
    assert "in 1 file" in ran.out


def test_a_file_of_many_headings_is_shown_in_few_lines_unless_all_are_wanted(offline: Command, tree: Tree) -> None:
    root = tree({"long.md": "".join(f"# Heading {i}\n\n{'some words ' * 60}\n\n" for i in range(60))})
    short, whole = offline("load", "-n", root).out, offline("load", "-n", "-v", root).out
    assert "40 more heading paths" in short
    assert "Heading 59" not in short
    assert "Heading 59" in whole


def test_every_odd_file_is_planned_or_named(offline: Command, odd_tree: OddTree) -> None:
    ran = offline("load", "-n", "-v", "--format", "json", odd_tree.directory)
    found = json.loads(ran.out)
    assert ran.status == 1
    assert {file["source_uri"] for file in found["files"]} == set(odd_tree.uris)
    skipped = {each["file"]: each["reason"] for each in found["skipped"]}
    assert skipped.keys() == odd_tree.bad.keys()
    assert all(word in skipped[path] for path, word in odd_tree.bad.items())
    assert found["left_out"]["symbolic link"] == 3
    for name in (*odd_tree.bad, "loop", "self.md", "link.md", "pipe.md"):
        assert name in ran.err


def test_two_dry_runs_are_equal_byte_for_byte(offline: Command, odd_tree: OddTree) -> None:
    assert offline("load", "-n", odd_tree.directory) == offline("load", "-n", odd_tree.directory)


def test_json_of_nothing_is_json(offline: Command, tree: Tree) -> None:
    found = plan(offline, tree({"x.png": "x"}))
    assert found["files"] == []
    assert found["totals"] == {"files": 0, "chunks": 0, "tokens": 0, "embedded_tokens": 0}


def test_the_strategy_is_asked_for_or_stands_in_front_matter(offline: Command, tree: Tree) -> None:
    own = "---\npgchunk.strategy: sections\n---\n\n# A\n\na\n\n# B\n\nb\n"
    root = tree({"own.md": own, "plain.md": "# A\n\na\n\n# B\n\nb\n", "wrong.md": own.replace("sections", "nope")})
    ran = offline("load", "-n", "-f", "json", root)
    assert ran.status == 1
    found = json.loads(ran.out)
    assert {file["file"]: file["strategy"] for file in found["files"]} == {
        "own.md": "sections",
        "plain.md": "default",
    }
    assert [each["file"] for each in found["skipped"]] == ["wrong.md"]
    forced = plan(offline, root, "--strategy", "packed")
    assert {file["strategy"] for file in forced["files"]} == {"packed"}


def test_what_needs_a_server_is_refused(offline: Command, tree: Tree) -> None:
    root = tree({"a.md": "x"})
    for arguments in (["--prune"], ["--watch"], ["--strategy", "unheard-of"]):
        ran = offline("load", "-n", root, *arguments)
        assert ran.status == 2
        assert "error: " in ran.err


def test_front_matter_that_cannot_be_read_is_a_warning(offline: Command, tree: Tree) -> None:
    root = tree({"a.md": "---\na: [1\nb: 2\n---\n\n# X\n\nx\n"})
    ran = offline("load", "-n", root)
    assert ran.status == 0
    assert "warning: a.md: front matter" in ran.err


def test_quiet_leaves_only_results_and_problems(offline: Command, tree: Tree) -> None:
    root = tree({"a.md": "x", "b.md": b"\0", "c.png": ""})
    whole, ran = offline("load", "-n", root), offline("load", "-n", "-q", "-v", root)
    assert ran.out.splitlines() == whole.out.splitlines()[:-2]
    assert ran.out.splitlines()[-1].endswith("in 1 file")
    assert json.loads(offline("load", "-n", "-q", "-f", "json", root).out)["totals"]["files"] == 1
    assert ran.err.splitlines() == [
        "skipped: b.md: holds a NUL character "
        "(at character 0; PostgreSQL cannot store that: remove it or --exclude the file)"
    ]


def test_a_quiet_preview_is_the_chunks_alone(offline: Command, tree: Tree) -> None:
    path = tree({"guide.md": DOCUMENT}) / "guide.md"
    whole = offline("preview", path)
    quiet = offline("preview", "-q", path)
    assert quiet.out.splitlines() == whole.out.splitlines()[:-1]
    assert not quiet.err


def test_a_named_file_of_another_type_is_taken_with_a_word(offline: Command, tree: Tree) -> None:
    root = tree({"a.rst": "text", "b.md": "text"})
    ran = offline("load", "-n", "-f", "json", root / "a.rst")
    assert ran.status == 0
    assert ran.err == "warning: a.rst: of no type that directories are searched for; taken as markdown\n"
    found = json.loads(ran.out)
    assert [file["file"] for file in found["files"]] == [each["file"] for each in found["warnings"]] == ["a.rst"]
    for asked in (["b.md"], ["a.rst", "--include", "*.rst"]):
        assert offline("load", "-n", root / asked[0], *asked[1:]).err == ""


def test_a_broken_pattern_is_wrong_usage(offline: Command, tree: Tree) -> None:
    root = tree({"a.md": "x"})
    for option in ("--include", "--exclude"):
        ran = offline("load", "-n", root, option, "[")
        assert ran.status == 2
        assert ran.err.startswith(f"error: {option} '[' is not a pattern\nhint: ")


def test_one_file_is_planned_as_it_would_be_in_its_directory(offline: Command, tree: Tree) -> None:
    root = tree({"sub/a.md": DOCUMENT, "sub/b.md": "x"})
    assert plan(offline, root / "sub/a.md")["files"] == plan(offline, root / "sub")["files"][:1]


def test_preview_shows_every_field_of_every_chunk(offline: Command, tree: Tree) -> None:
    path = tree({"guide.md": DOCUMENT}) / "guide.md"
    ran = offline("preview", path, "--format", "json")
    assert ran.status == 0
    rows = json.loads(ran.out)
    chunks = chunk(DOCUMENT, derive_title(DOCUMENT, str(path)))
    assert [row["content"] for row in rows] == [each.content for each in chunks]
    for row in rows:
        assert row["raw_content"] == DOCUMENT[row["char_start"] : row["char_end"]]
        assert isinstance(row["heading_path"], list)


def test_preview_prints_a_line_for_each_chunk_or_the_text(offline: Command, tree: Tree) -> None:
    path = tree({"guide.md": DOCUMENT}) / "guide.md"
    chunks = chunk(DOCUMENT, "Guide")
    lines = offline("preview", path).out.splitlines()
    assert len(lines) == len(chunks) + 3
    assert "One > Two" in lines[-2]
    assert lines[-1].startswith(f"{len(chunks)} chunks, ")
    full = offline("preview", path, "--full").out
    assert all(each.content in full for each in chunks)


def test_preview_takes_a_strategy_options_and_standard_input(offline: Command, tree: Tree) -> None:
    path = tree({"guide.md": DOCUMENT}) / "guide.md"
    some = [
        "--strategy",
        "sections",
        "--option",
        "max_tokens=64",
        "--option",
        "heading_line=exclude",
        "-f",
        "json",
    ]
    rows = json.loads(offline("preview", path, *some).out)
    expected = chunk(DOCUMENT, "Guide", "sections", max_tokens=64, heading_line="exclude")
    assert [row["content_hash"] for row in rows] == [each.content_hash for each in expected]
    piped = json.loads(offline("preview", "-", "-f", "json", stdin=DOCUMENT).out)
    assert [row["content"] for row in piped] == [each.content for each in chunk(DOCUMENT, "Guide")]


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.md"],
        ["."],
        ["a.md", "--strategy", "nope"],
        ["a.md", "--option", "max_tokens"],
        ["a.md", "--option", "max_tokens=1"],
        ["a.md", "--option", "nope=1"],
        ["a.md", "--max-bytes", "many"],
        ["a.md", "--format", "xml"],
        [],
    ],
)
def test_wrong_usage_of_preview_is_status_2(
    offline: Command, tree: Tree, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree({"a.md": "x"}))
    ran = offline("preview", *arguments)
    assert ran.status == 2
    assert ran.err
    assert not ran.out


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("split_levels=1,2", {"split_levels": (1, 2)}),
        ("split_levels=2", {"split_levels": (2,)}),
        ("split_levels=[1, 2]", {"split_levels": (1, 2)}),
        ("include_title=no", {"include_title": False}),
        ("include_title=Yes", {"include_title": True}),
        ("include_title=false", {"include_title": False}),
        ("separator=1", {"separator": "1"}),
        ('separator=" / "', {"separator": " / "}),
        ("separator= / ", {"separator": " / "}),
        ("max_tokens=64", {"max_tokens": 64}),
        ("min_tokens=null", {"min_tokens": None}),
    ],
)
def test_options_are_written_as_json_or_plainly(
    offline: Command, tree: Tree, option: str, value: dict[str, Any]
) -> None:
    path = tree({"guide.md": DOCUMENT}) / "guide.md"
    ran = offline("preview", path, "-o", option, "-f", "json")
    assert ran.status == 0, ran.err
    expected = chunk(DOCUMENT, "Guide", **value)
    assert [row["content"] for row in json.loads(ran.out)] == [each.content for each in expected]


@pytest.mark.parametrize("option", ["split_levels=one,two", "include_title=perhaps", "max_tokens=1,2", "min_tokens"])
def test_a_wrong_option_is_answered_with_how_to_write_one(offline: Command, tree: Tree, option: str) -> None:
    ran = offline("preview", tree({"a.md": "x"}) / "a.md", "-o", option)
    assert ran.status == 2
    assert "--option split_levels=1,2 or --option include_title=no" in ran.err.splitlines()[-1]


@pytest.mark.parametrize("data", [b"\xff", b"a\0b", b"x" * 101])
def test_preview_of_what_is_no_document_is_status_1(offline: Command, tree: Tree, data: bytes) -> None:
    path = tree({"a.md": data}) / "a.md"
    ran = offline("preview", path, "--max-bytes", "100")
    assert ran.status == 1
    assert "skipped: " in ran.err


def test_control_characters_of_a_name_never_reach_the_terminal(offline: Command, tree: Tree) -> None:
    root = tree({"a\n\x1b[31m.md": "x", "b\r.md": b"\0", "c\x9b.md": "# \x1b[31m red\n\nx\n"})
    ran = offline("load", "-n", "-v", root)
    for char in "\x1b\r\x9b":
        assert char not in ran.out + ran.err
    assert "a\\n\\x1b[31m.md" in ran.out


@pytest.mark.parametrize(
    "text",
    [
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467, flag \U0001f3f4\U000e0067\U000e0062\U000e007f",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "no\u00a0break, narrow\u202fspace, \u5168\u3000\u89d2, soft\u00adhyphen, \ufeff",
        "\u05d0\u200f!",
    ],
)
def test_joiners_and_rare_spaces_are_printed_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("char", [*"\0\n\r\t\x1b\x7f\x85\x9b\u2028\u2029\u202a\u202e\u2066\u2069", "\ud800"])
def test_what_steers_a_terminal_or_turns_text_round_is_escaped(char: str) -> None:
    shown = printable(f"a{char}b")
    assert shown.isascii()
    assert shown.isprintable()


def test_bytes_that_are_not_utf8_are_shown_as_bytes() -> None:
    assert printable(os.fsdecode(b"bad\xff\x80.md")) == "bad\\xff\\x80.md"


def python_without_rights(*arguments: str | Path) -> list[str]:
    """A Python that root's right to read everything does not help."""
    command = [
        sys.executable,
        "-c",
        "import sys; from pgchunk_loader.cli import app; app()",
        *map(str, arguments),
    ]
    if os.geteuid() != 0:
        return command
    capabilities = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={capabilities}", f"--inh-caps={capabilities}", "--", *command]


@pytest.mark.skipif(not shutil.which("setpriv") and os.geteuid() == 0, reason="root needs setpriv to be refused")
def test_permission_denied_is_named_and_the_rest_goes_on(tree: Tree) -> None:
    root = tree({"a.md": "a", "locked/b.md": "b", "secret.md": "c", "z.md": "d"})
    (root / "locked").chmod(0)
    (root / "secret.md").chmod(0)
    try:
        ran = subprocess.run(
            python_without_rights("load", "-n", "-f", "json", root),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (root / "locked").chmod(0o700)
    assert sorted(ran.stderr.splitlines()) == [
        "skipped: locked/: permission denied",
        "skipped: secret.md: permission denied",
    ]
    found = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert [file["file"] for file in found["files"]] == ["a.md", "z.md"]
    assert {each["file"]: each["reason"] for each in found["skipped"]} == {
        "locked/": "permission denied",
        "secret.md": "permission denied",
    }


@pytest.mark.skipif(not shutil.which("setpriv") and os.geteuid() == 0, reason="root needs setpriv to be refused")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["preview", "secret.md"], 1, "skipped: secret.md: permission denied"),
        (["load", "-n", "secret.md"], 1, "skipped: secret.md: permission denied"),
        (["load", "-n", "locked"], 2, "error: cannot read 'locked': permission denied"),
        (["preview", "locked/b.md"], 2, "error: cannot read 'locked/b.md': permission denied"),
    ],
)
def test_permission_denied_is_said_in_the_same_words_everywhere(
    tree: Tree, arguments: list[str], status: int, said: str
) -> None:
    root = tree({"locked/b.md": "b", "secret.md": "c"})
    (root / "locked").chmod(0)
    (root / "secret.md").chmod(0)
    try:
        ran = subprocess.run(
            python_without_rights(*arguments), cwd=root, capture_output=True, text=True, check=False, timeout=60
        )
    finally:
        (root / "locked").chmod(0o700)
    assert (ran.returncode, ran.stderr.splitlines()) == (status, [said])
