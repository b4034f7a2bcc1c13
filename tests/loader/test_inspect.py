"""`pgchunk inspect`: where the page comes from, where it goes, and what is said when it cannot be."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgchunk_loader.inspect.wanted import Wanted, parse_wanted
from pgchunk_loader.inspect.write import file_name
from pgchunk_loader.problems import UnusableError

Command = Callable[..., Any]
Tree = Callable[[dict[str, str | bytes]], Path]
DOCUMENT = "# Guide\n\n" + "".join(
    f"## Part {n}\n\n" + f"Some words of part {n} go here. " * 30 + "\n\n" for n in range(4)
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of this test, for pages without a name."""
    directory = tmp_path / "elsewhere"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def guide(tree: Tree) -> Path:
    return tree({"guide.md": DOCUMENT}) / "guide.md"


def panes(html: str) -> list[tuple[str, str]]:
    """Name and origin of the strategies on a page."""
    return re.findall(r"<h2><bdi>(.*?)</bdi> <small>(.*?)</small></h2>", html)


# A file.


def test_a_file_needs_no_server_and_gets_a_name_of_its_own(offline: Command, guide: Path, elsewhere: Path) -> None:
    ran = offline("inspect", guide, PGCHUNK_DSN="host=/nowhere")
    assert (ran.status, ran.out, ran.err) == (0, "", "wrote guide.chunks.html\n")
    html = (elsewhere / "guide.chunks.html").read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert panes(html) == [("default", "chunked without a server")]
    assert "<title>Guide · chunks</title>" in html


def test_two_strategies_stand_side_by_side(offline: Command, guide: Path) -> None:
    ran = offline("inspect", guide, "-s", "default", "-s", "sections", "-o", "page.html", "--quiet")
    assert (ran.status, ran.err) == (0, "")
    assert [name for name, _ in panes(Path("page.html").read_text("utf-8"))] == ["default", "sections"]


def test_an_option_can_be_for_one_of_them(offline: Command, guide: Path) -> None:
    ran = offline("inspect", guide, "-s", "default", "-s", "default", "--option", "2:max_tokens=64", "-o", "-")
    first, second = (re.findall(r"<dt>max_tokens</dt><dd>(\d+)", part) for part in ran.out.split('id="pane-b"'))
    assert (first, second) == (["512"], ["64"])


def test_standard_input_goes_to_standard_output(offline: Command, elsewhere: Path) -> None:
    ran = offline("inspect", "-", stdin="# Größe\n\n大小 🙂\r\nZeile\n")
    assert (ran.status, ran.err) == (0, "")
    assert "大小 🙂&#13;\nZeile" in ran.out
    assert not list(elsewhere.iterdir())


def test_plain_text_is_plain_text(offline: Command, tree: Tree) -> None:
    ran = offline("inspect", tree({"notes.txt": "# no heading\n\ntext\n"}) / "notes.txt", "-o", "-")
    assert "text · 19 characters" in ran.out
    assert '<b class="h' not in ran.out.partition('<div class="text"')[2]


def test_a_page_of_before_is_replaced_and_another_file_is_not(offline: Command, guide: Path, elsewhere: Path) -> None:
    assert offline("inspect", guide).status == 0
    assert offline("inspect", guide).status == 0
    (elsewhere / "guide.chunks.html").write_text("mine")
    ran = offline("inspect", guide)
    assert ran.status == 2
    assert "'guide.chunks.html' exists, and is no page of pgchunk inspect\nhint: Name a file with -o." in ran.err
    assert (elsewhere / "guide.chunks.html").read_text() == "mine"
    assert offline("inspect", guide, "-o", "guide.chunks.html").status == 0
    assert (elsewhere / "guide.chunks.html").read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a FILE or --document URI, and not both"),
        (["guide.md", "--document", "x"], "give a FILE or --document URI, and not both"),
        (["nothing.md"], "nothing.md"),
        (["."], "is a directory"),
        (["guide.md", "-s", "nope"], "there is no shipped strategy 'nope'"),
        (["guide.md", "-s", "default", "-s", "packed", "-s", "focused"], "3 strategies do not fit on a page"),
        (["guide.md", "--option", "max_tokens"], "is not NAME=VALUE"),
        (["guide.md", "--option", "max_tokens=1"], "max_tokens must be an integer from 16"),
        (["guide.md", "--option", "2:max_tokens=64"], "is for a second strategy, and there is one"),
        (["guide.md", "-o", "nowhere/page.html"], "'nowhere/page.html' cannot be written: No such file or directory"),
        (["guide.md", "-o", "-", "--open"], "--open cannot show standard output"),
    ],
)
def test_what_cannot_be_done_is_said(offline: Command, elsewhere: Path, arguments: list[str], message: str) -> None:
    (elsewhere / "guide.md").write_text(DOCUMENT)
    ran = offline("inspect", *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert ran.out == ""
    assert [each.name for each in elsewhere.iterdir()] == ["guide.md"]


def test_a_file_that_is_no_text_is_named(offline: Command, tree: Tree, elsewhere: Path) -> None:
    directory = tree({"bad.md": b"\xff\xfe\xfa", "long.md": "words " * 1000})
    assert offline("inspect", directory / "bad.md").err.startswith(f"skipped: {directory}/bad.md: not text")
    ran = offline("inspect", directory / "long.md", "--max-bytes", "1kB")
    assert (ran.status, "over --max-bytes" in ran.err) == (1, True)
    assert not list(elsewhere.iterdir())


def test_a_terminal_is_not_filled_with_html(guide: Path) -> None:
    master, slave = pty.openpty()
    program = Path(sys.executable).with_name("pgchunk")
    ran = subprocess.run([program, "inspect", guide, "-o", "-"], stdout=slave, stderr=subprocess.PIPE, text=True)
    os.close(slave)
    os.close(master)
    assert (ran.returncode, ran.stderr.splitlines()[0]) == (2, "error: a terminal cannot show the page")


def test_a_browser_is_opened_when_asked_for(
    offline: Command, guide: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or len(opened) == 1)
    assert offline("inspect", guide, "--open").err == "wrote guide.chunks.html\n"
    assert opened == [(elsewhere / "guide.chunks.html").as_uri()]
    assert "no browser was found" in offline("inspect", guide, "--open").err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("docs/guide.md", "guide.chunks.html"),
        ("https://example.org/docs/guide.md?x=1#y", "guide.chunks.html"),
        ("https://example.org/docs/", "docs.chunks.html"),
        ("../..", "document.chunks.html"),
        ("42", "42.chunks.html"),
        ("größe 大小.md", "größe-大小.chunks.html"),
        ("a\nb\x1b[0m.md", "a-b-0m.chunks.html"),
        ("v1.2.tar.md", "v1.2.tar.chunks.html"),
        ("x" * 300, "x" * 80 + ".chunks.html"),
        ("", "document.chunks.html"),
    ],
)
def test_names_of_pages(name: str, expected: str) -> None:
    assert file_name(name) == expected


def test_options_for_all_and_for_one() -> None:
    found = parse_wanted(["a", "b"], ["max_tokens=64", "1:merge=none", "2:max_tokens=32"])
    assert found == [Wanted("a", {"max_tokens": 64, "merge": "none"}), Wanted("b", {"max_tokens": 32})]
    assert parse_wanted([], ["separator=1:2"]) == [Wanted(None, {"separator": "1:2"})]
    with pytest.raises(UnusableError, match="second strategy"):
        parse_wanted(["a"], ["2:max_tokens=64"])


# A document of the database.


@pytest.fixture
def stored(pgchunk: Command, guide: Path) -> str:
    """The source_uri of a document in the database."""
    assert pgchunk("load", guide, "--quiet").status == 0
    return str(guide)


def inspected(pgchunk: Command, *arguments: str | Path) -> str:
    ran = pgchunk("inspect", *arguments, "-o", "-")
    assert (ran.status, ran.err) == (0, "")
    return str(ran.out)


def test_a_document_is_shown_with_its_stored_chunks(pgchunk: Command, stored: str, db: psycopg.Connection[Any]) -> None:
    db.execute(
        "UPDATE chunks SET embedding = array_fill(0.1, ARRAY[1024])::vector, embedding_model = 'some-model',"
        " embedded_at = '2026-01-02 03:04+00' WHERE ordinal = 0"
    )
    html = inspected(pgchunk, "--document", stored)
    assert panes(html) == [("default", "stored chunks")]
    assert "some-model, 2026-01-02" in html
    assert html.count('["embedding","none yet"]') == 3
    assert "law of chunking" not in html
    (key,) = db.execute("SELECT id FROM documents").fetchone() or ()
    assert inspected(pgchunk, "--document", str(key)) == html


def test_a_strategy_without_stored_chunks_is_previewed(pgchunk: Command, stored: str) -> None:
    html = inspected(pgchunk, "--document", stored, "-s", "default", "-s", "sections")
    assert panes(html) == [("default", "stored chunks"), ("sections", "preview: no chunks of it are stored")]
    html = inspected(pgchunk, "--document", stored, "--option", "max_tokens=64")
    assert panes(html) == [("default", "preview with options changed, not stored")]


def test_the_documents_own_strategy_is_shown(pgchunk: Command, tree: Tree) -> None:
    directory = tree({"own.md": "---\npgchunk.strategy: sections\n---\n" + DOCUMENT})
    pgchunk("load", directory, "--quiet")
    html = inspected(pgchunk, "--document", str(directory / "own.md"))
    assert panes(html) == [("sections", "stored chunks")]


def test_stale_chunks_are_shown_with_what_they_were_made_with(
    pgchunk: Command, stored: str, db: psycopg.Connection[Any]
) -> None:
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 128 WHERE name = 'default'")
    html = inspected(pgchunk, "--document", stored)
    assert "stale: 4 of 4 chunks; the strategy has other options now." in html
    assert "CALL pgchunk.rechunk(&#39;default&#39;, collection =&gt; &#39;default&#39;) mends that." in html
    assert "<dt>max_tokens</dt><dd>512</dd>" in html
    assert "law of chunking" not in html
    db.execute("CALL pgchunk.rechunk('default')")
    html = inspected(pgchunk, "--document", stored)
    assert "stale: " not in html
    assert "<dt>max_tokens</dt><dd>128</dd>" in html


def test_a_broken_row_is_a_problem_on_the_page(pgchunk: Command, stored: str, db: psycopg.Connection[Any]) -> None:
    db.execute("UPDATE chunks SET raw_content = 'other', token_count = 99 WHERE ordinal = 1")
    html = inspected(pgchunk, "--document", stored)
    assert "L1: chunk 1: raw_content is not the slice that its offsets name" in html


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--document", "nothing"], "there is no document 'nothing' in collection 'default'"),
        (["--document", "99999999999999999999999"], "there is no document"),
        (["--document", "1", "-s", "nope"], "there is no strategy 'nope'"),
        (["--document", "1", "--option", "max_tokens=1"], "max_tokens must be an integer from 16"),
        (["--document", "1", "--option", "nope=1"], "unknown option 'nope'"),
        (["--document", "1", "--collection", "nope"], "there is no collection 'nope'"),
        (["--document", "1", "--dsn", "host=/nowhere"], "no connection"),
    ],
)
def test_what_the_database_does_not_have_is_said(
    pgchunk: Command, stored: str, arguments: list[str], message: str
) -> None:
    ran = pgchunk("inspect", *arguments, "-o", "-")
    assert ran.status == 2
    assert message in ran.err
    assert ran.out == ""


def test_reading_is_all_that_the_role_needs(
    pgchunk: Command, stored: str, dsn: str, db: psycopg.Connection[Any], make_role: Callable[..., str]
) -> None:
    role = make_role()
    account = ["--dsn", f"{dsn} user={role} password={role}"]
    arguments = ["inspect", "--document", stored, "-s", "default", "-s", "packed", "-o", "-", *account]
    statuses = []
    for grant in ("USAGE ON SCHEMA pgchunk", "SELECT ON documents", "SELECT ON chunks"):
        statuses.append(pgchunk(*arguments).status)
        db.execute(f"GRANT {grant} TO {role}")
    assert [*statuses, pgchunk(*arguments).status] == [2, 2, 2, 0]
