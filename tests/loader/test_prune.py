"""Pruning: only what is certainly gone, only of this root, and not too much of it unasked."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

Command = Callable[..., Any]
Tree = Callable[[dict[str, str | bytes]], Path]
Connection = psycopg.Connection[Any]


def uris(db: Connection) -> set[str]:
    return {row[0] for row in db.execute("SELECT source_uri FROM documents")}


def names(db: Connection) -> list[str]:
    return sorted(Path(uri).name for uri in uris(db))


def insert(db: Connection, *some: str) -> None:
    for uri in some:
        db.execute("INSERT INTO documents (source_uri, content) VALUES (%s, 'text')", [uri])


@pytest.fixture
def ten(tree: Tree) -> Path:
    return tree({f"{n}.md": f"# {n}\n\ntext\n" for n in range(10)})


def test_without_prune_nothing_is_deleted(pgchunk: Command, ten: Path, db: Connection) -> None:
    pgchunk("load", ten)
    (ten / "3.md").unlink()
    assert pgchunk("load", ten).status == 0
    assert len(uris(db)) == 10


def test_a_document_goes_with_its_file_and_its_chunks(pgchunk: Command, ten: Path, db: Connection) -> None:
    pgchunk("load", ten)
    (ten / "3.md").unlink()
    (ten / "7.md").rename(ten / "seven.md")
    found = json.loads(pgchunk("load", ten, "--prune", "-f", "json").out)
    assert (found["added"], found["unchanged"], found["pruned"]) == (1, 8, 2)
    assert names(db) == ["0.md", "1.md", "2.md", "4.md", "5.md", "6.md", "8.md", "9.md", "seven.md"]
    orphans = "SELECT count(*) FROM chunks c LEFT JOIN documents d ON d.id = c.document_id WHERE d.id IS NULL"
    assert db.execute(orphans).fetchone() == (0,)


def test_other_roots_are_never_touched(pgchunk: Command, tmp_path: Path, db: Connection) -> None:
    others = ["tree2/a.md", "tree.md", "trXe/a.md", "TREE/a.md", "tree%/a.md"]
    root = tmp_path / "tre_"
    root.mkdir()
    (root / "kept.md").write_text("text")
    strangers = [f"{tmp_path}/{other}" for other in others]
    strangers += ["https://example.org/a.md", "tre_/a.md", str(root), f"x{root}/a.md", f"{root}/../a.md"]
    strangers += [f"{root}//a.md", f"{root}/./a.md", f"{root}/"]
    insert(db, *strangers)
    insert(db, f"{root}/gone.md")
    assert pgchunk("load", root, "--prune", "--yes").status == 0
    assert uris(db) == {*strangers, f"{root}/kept.md"}


def test_a_root_below_another_is_part_of_it(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": "a", "sub/b.md": "b", "sub/c.md": "c"})
    pgchunk("load", root)
    (root / "sub/c.md").unlink()
    (root / "a.md").unlink()
    pgchunk("load", root / "sub", "--prune", "--yes")
    assert names(db) == ["a.md", "b.md"]


def test_a_base_url_below_another_is_another_root(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"outer/a.md": "a", "outer/b.md": "b", "inner/c.md": "c"})
    outer, inner = ["--base-url", "https://x.org/%7Ea"], ["--base-url", "https://x.org/%7Ea/inner/"]
    pgchunk("load", root / "outer", *outer)
    pgchunk("load", root / "inner", *inner)
    insert(db, "https://x.org/%7Ea/by-hand.md")
    (root / "outer/b.md").unlink()
    assert pgchunk("load", root / "outer", *outer, "--prune", "--yes").status == 0
    assert uris(db) == {f"https://x.org/%7Ea/{name}" for name in ("a.md", "inner/c.md", "by-hand.md")}


def test_what_is_left_out_or_skipped_is_not_gone(
    pgchunk: Command, tree: Tree, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree({f"{name}.md": name for name in ("kept", "excluded", "large", "binary", "ignored", "locked")})
    pgchunk("load", root)
    insert(db, f"{root}/.hidden.md", f"{root}/notes.rst")
    tree(
        {
            "large.md": "x" * 2000,
            "binary.md": b"\0",
            ".gitignore": "ignored.md\n",
            ".hidden.md": "",
            "notes.rst": "",
        }
    )
    before = uris(db)
    rules = ["--exclude", "excluded.md", "--gitignore", "--max-bytes", "1000"]
    assert pgchunk("load", root, "--prune", "--yes", *rules).status == 1
    assert uris(db) == before
    real = Path.lstat

    def refuse(path: Path) -> os.stat_result:
        if path.name == "locked.md":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "lstat", refuse)
    (root / "locked.md").unlink()
    pgchunk("load", root, "--prune", "--yes", *rules)
    assert uris(db) == before


def test_a_link_in_the_place_of_a_file_is_no_file(pgchunk: Command, ten: Path, db: Connection) -> None:
    pgchunk("load", ten)
    (ten / "3.md").unlink()
    (ten / "3.md").symlink_to("4.md")
    pgchunk("load", ten, "--prune")
    assert "3.md" not in names(db)


@pytest.mark.parametrize(("gone", "asks"), [(2, False), (3, True), (10, True)])
def test_more_than_a_fifth_is_not_deleted_unasked(
    pgchunk: Command, ten: Path, db: Connection, gone: int, asks: bool
) -> None:
    pgchunk("load", ten)
    for n in range(gone):
        (ten / f"{n}.md").unlink()
    ran = pgchunk("load", ten, "--prune")
    assert ran.status == (2 if asks else 0)
    assert len(uris(db)) == (10 if asks else 10 - gone)
    if asks:
        assert f"{gone} of 10 documents" in ran.err
        assert "--yes" in ran.err
        assert pgchunk("load", ten, "--prune", "--yes").status == 0
        assert len(uris(db)) == 10 - gone


@pytest.mark.parametrize(("answer", "left"), [("y\n", 5), ("n\n", 10), ("\n", 10)])
def test_a_person_is_asked(
    pgchunk: Command, ten: Path, db: Connection, monkeypatch: pytest.MonkeyPatch, answer: str, left: int
) -> None:
    pgchunk("load", ten)
    for n in range(5):
        (ten / f"{n}.md").unlink()
    monkeypatch.setattr("pgchunk_loader.run.is_interactive", lambda: True)
    ran = pgchunk("load", ten, "--prune", stdin=answer)
    assert ran.status == 0
    assert f"{ten}/0.md" in ran.err
    assert len(uris(db)) == left


def test_more_documents_than_one_statement_deletes(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": "a"})
    db.execute(
        "INSERT INTO documents (source_uri, content)"
        " SELECT %s || '/' || n || '.md', '' FROM generate_series(1, 1100) n",
        [str(root)],
    )
    found = json.loads(pgchunk("load", root, "--prune", "--yes", "-f", "json").out)
    assert found["pruned"] == 1100
    assert names(db) == ["a.md"]


def test_one_file_cannot_be_pruned(pgchunk: Command, tree: Tree) -> None:
    assert pgchunk("load", tree({"a.md": "a"}) / "a.md", "--prune").status == 2


def test_a_directory_that_is_missing_prunes_nothing(pgchunk: Command, ten: Path, db: Connection) -> None:
    pgchunk("load", ten)
    ten.rename(ten.parent / "elsewhere")
    assert pgchunk("load", ten, "--prune", "--yes").status == 2
    assert len(uris(db)) == 10
