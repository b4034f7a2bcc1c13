"""Loading into a real database: what is stored, what is left alone, what is said."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgchunk import chunk

Command = Callable[..., Any]
OddTree = Any
Tree = Callable[[dict[str, str | bytes]], Path]
Connection = psycopg.Connection[Any]

GUIDE = "# Guide\n\nBefore.\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"


def pairs(db: Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT source_uri, content_hash FROM documents ORDER BY source_uri").fetchall()


def contents(db: Connection) -> dict[str, str]:
    return dict(db.execute("SELECT source_uri, content FROM documents").fetchall())


def metadata(db: Connection, name: str) -> Any:
    row = db.execute("SELECT metadata FROM documents WHERE source_uri LIKE '%%' || %s", [name]).fetchone()
    assert row is not None, f"no document {name}"
    return row[0]


def rows_written(db: Connection) -> list[tuple[Any, ...]]:
    """Every row version ever written in the database, once the loader's sessions have ended and told."""
    deadline = time.monotonic() + 10
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    while db.execute(others).fetchone() != (0,):
        assert time.monotonic() < deadline, "the loader left sessions behind"
        time.sleep(0.01)
    db.execute("SELECT pg_stat_clear_snapshot()")
    return db.execute(
        "SELECT relid::regclass::text, n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables ORDER BY 1"
    ).fetchall()


def summary(pgchunk: Command, *arguments: str | Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pgchunk("load", "--format", "json", *arguments).out)
    return found


def counts(found: dict[str, Any]) -> tuple[int, int, int, int]:
    return found["added"], found["changed"], found["unchanged"], len(found["skipped"])


def test_every_odd_file_is_stored_or_named(pgchunk: Command, odd_tree: OddTree, db: Connection) -> None:
    ran = pgchunk("load", "-v", odd_tree.directory)
    assert ran.status == 1
    assert contents(db) == odd_tree.uris
    hashes = {uri: hashlib.sha256(text.encode()).hexdigest() for uri, text in odd_tree.uris.items()}
    assert dict(pairs(db)) == hashes
    for path, word in odd_tree.bad.items():
        assert any(path in line and word in line for line in ran.err.splitlines()), f"{path} is not named"
    for path in ("loop", "self.md", "link.md"):
        assert f"left out: {path}: symbolic link" in ran.err.splitlines()
    formats = dict(db.execute("SELECT source_uri, format FROM documents").fetchall())
    assert {uri for uri, name in formats.items() if name == "text"} == {f"{odd_tree.directory}/plain.txt"}


def test_the_second_time_nothing_is_written(pgchunk: Command, odd_tree: OddTree, db: Connection) -> None:
    pgchunk("load", odd_tree.directory)
    before, written = pairs(db), rows_written(db)
    found = summary(pgchunk, odd_tree.directory)
    assert counts(found) == (0, 0, len(odd_tree.documents), len(odd_tree.bad))
    assert (found["chunks"], found["tokens"]) == (0, 0)
    assert pairs(db) == before
    assert rows_written(db) == written


def test_the_working_directory_does_not_matter(
    pgchunk: Command, tree: Tree, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree({"sub/a.md": GUIDE})
    pgchunk("load", root)
    for directory, name in [(root, "."), (root.parent, root.name), (root / "sub", "..")]:
        monkeypatch.chdir(directory)
        assert counts(summary(pgchunk, name)) == (0, 0, 1, 0)
    assert [uri for uri, _ in pairs(db)] == [f"{root}/sub/a.md"]


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_the_number_of_connections_changes_nothing(pgchunk: Command, tree: Tree, db: Connection, jobs: str) -> None:
    files = {f"{n:03}.md": f"# Page {n}\n\n" + "Some words. " * n for n in range(150)}
    found = summary(pgchunk, tree(dict(files)), "-j", jobs)
    assert counts(found) == (150, 0, 0, 0)
    assert {Path(uri).name: text for uri, text in contents(db).items()} == files
    assert db.execute("SELECT count(*), sum(token_count) FROM chunks").fetchone() == (
        found["chunks"],
        found["tokens"],
    )


def test_chunks_are_those_of_the_core(pgchunk: Command, tree: Tree, db: Connection) -> None:
    pgchunk("load", tree({"guide.md": GUIDE}))
    stored = db.execute("SELECT content FROM chunks ORDER BY ordinal").fetchall()
    assert [row[0] for row in stored] == [each.content for each in chunk(GUIDE, "Guide")]


def test_an_edit_changes_one_document(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": GUIDE, "b.md": GUIDE})
    pgchunk("load", root)
    versions = "SELECT source_uri, xmin::text FROM documents ORDER BY source_uri"
    before = db.execute(versions).fetchall()
    tree({"a.md": GUIDE + "\nmore\n"})
    assert counts(summary(pgchunk, root)) == (0, 1, 1, 0)
    after = db.execute(versions).fetchall()
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]
    assert contents(db)[f"{root}/a.md"] == GUIDE + "\nmore\n"


def test_front_matter_becomes_metadata_and_title(pgchunk: Command, tree: Tree, db: Connection) -> None:
    front = "---\ntitle: Own title\ndate: 2024-05-06\ntags: [a, b]\nweight: .inf\n---\n\n# Other\n\ntext\n"
    pgchunk("load", tree({"a.md": front, "b.md": '+++\ntitle = "Toml"\nd = 2024-05-06\n+++\n\ntext\n'}))
    assert metadata(db, "/a.md") == {
        "title": "Own title",
        "date": "2024-05-06",
        "tags": ["a", "b"],
        "weight": "inf",
    }
    assert metadata(db, "/b.md") == {"title": "Toml", "d": "2024-05-06"}
    titles = db.execute("SELECT title FROM documents ORDER BY source_uri").fetchall()
    assert titles == [("Own title",), ("Toml",)]


def test_keys_set_in_sql_stay_and_keys_gone_from_front_matter_go(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": "---\nkept: 1\ngone: 2\nchanged: 3\n---\n\ntext\n"})
    pgchunk("load", root)
    db.execute("""UPDATE documents SET metadata = metadata || '{"own": {"x": 1}, "pgchunk.strategy": "packed"}'""")
    tree({"a.md": "---\nkept: 1\nchanged: 4\nnew: 5\n---\n\ntext\n"})
    assert counts(summary(pgchunk, root)) == (0, 1, 0, 0)
    assert metadata(db, "/a.md") == {
        "kept": 1,
        "changed": 4,
        "new": 5,
        "own": {"x": 1},
        "pgchunk.strategy": "packed",
    }


@pytest.mark.parametrize("odd", ["null", "[1]", '"text"', "5"])
def test_metadata_that_is_no_object_is_replaced(pgchunk: Command, tree: Tree, db: Connection, odd: str) -> None:
    root = tree({"a.md": "---\na: 1\n---\n\ntext\n"})
    pgchunk("load", root)
    db.execute("UPDATE documents SET metadata = %s::jsonb", [odd])
    tree({"a.md": "---\na: 2\n---\n\ntext\n"})
    assert pgchunk("load", root).status == 0
    assert metadata(db, "/a.md") == {"a": 2}


def test_bad_front_matter_is_a_warning_and_the_document_goes_in(pgchunk: Command, tree: Tree, db: Connection) -> None:
    ran = pgchunk("load", tree({"a.md": "---\na: [1\nb: 2\n---\n\ntext\n"}))
    assert ran.status == 0
    assert "warning: a.md: front matter left out of the metadata" in ran.err
    assert metadata(db, "/a.md") == {}


def test_a_strategy_is_kept_with_the_document(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": GUIDE})
    strategies = "SELECT DISTINCT strategy FROM chunks"
    pgchunk("load", root)
    assert counts(summary(pgchunk, root, "--strategy", "sections")) == (0, 1, 0, 0)
    assert metadata(db, "/a.md") == {"pgchunk.strategy": "sections"}
    assert db.execute(strategies).fetchall() == [("sections",)]
    assert counts(summary(pgchunk, root, "--strategy", "sections")) == (0, 0, 1, 0)
    assert counts(summary(pgchunk, root)) == (0, 0, 1, 0)
    assert counts(summary(pgchunk, root, "--strategy", "packed")) == (0, 1, 0, 0)
    assert db.execute(strategies).fetchall() == [("packed",)]


def test_an_unknown_strategy_is_refused_before_anything_is_written(
    pgchunk: Command, tree: Tree, db: Connection
) -> None:
    ran = pgchunk("load", tree({"a.md": GUIDE}), "--strategy", "nope")
    assert ran.status == 2
    assert "'nope'" in ran.err
    assert "default, focused, packed, sections" in ran.err
    assert not contents(db)


def test_with_a_base_url_paths_are_percent_encoded(pgchunk: Command, odd_tree: OddTree, db: Connection) -> None:
    ran = pgchunk("load", odd_tree.directory, "--base-url", "https://example.org/docs/")
    assert ran.status == 1
    stored = contents(db)
    assert len(stored) == len(odd_tree.documents)
    assert all(uri.startswith("https://example.org/docs/") and uri.isascii() for uri in stored)
    assert stored["https://example.org/docs/100%25_sure%3F%23.md"] == odd_tree.documents["100%_sure?#.md"]
    again = summary(pgchunk, odd_tree.directory, "--base-url", "https://example.org/docs")
    assert counts(again)[:3] == (0, 0, len(odd_tree.documents))


def test_one_file_is_loaded_under_the_name_it_has_in_its_directory(
    pgchunk: Command, tree: Tree, db: Connection
) -> None:
    root = tree({"sub/a.md": GUIDE, "sub/b.md": GUIDE})
    assert counts(summary(pgchunk, root / "sub/a.md")) == (1, 0, 0, 0)
    assert counts(summary(pgchunk, root)) == (1, 0, 1, 0)


def test_a_refused_document_is_named_with_message_and_hint_and_the_others_go_on(
    pgchunk: Command, tree: Tree, db: Connection
) -> None:
    db.execute("UPDATE pgchunk.strategies SET max_document_bytes = 100 WHERE name = 'default'")
    root = tree({"a.md": "small", "b.md": "long " * 100, "c.md": "small too"})
    ran = pgchunk("load", root)
    assert ran.status == 1
    line = next(line for line in ran.err.splitlines() if line.startswith("skipped: b.md: refused by the server"))
    assert "MD003" in line
    assert "hint: " in line
    assert set(contents(db).values()) == {"small", "small too"}


def test_an_error_of_the_users_own_trigger_refuses_one_document(pgchunk: Command, tree: Tree, db: Connection) -> None:
    db.execute("""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
            IF NEW.content ~ 'secret' THEN RAISE 'not this one' USING HINT = 'ask Ann'; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER a_refuse BEFORE INSERT OR UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION refuse();
    """)
    ran = pgchunk("load", tree({"a.md": "open", "b.md": "secret", "c.md": "open too"}))
    assert ran.status == 1
    assert "skipped: b.md: refused by the server (not this one [P0001]; hint: ask Ann)" in ran.err
    assert set(contents(db).values()) == {"open", "open too"}


def test_what_fails_only_at_commit_refuses_one_document(pgchunk: Command, tree: Tree, db: Connection) -> None:
    db.execute("""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.content ~ 'secret' THEN RAISE 'not this one'; END IF; RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON documents DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION refuse();
    """)
    ran = pgchunk("load", tree({"a.md": "open", "b.md": "secret", "c.md": "open too"}), "--format", "json")
    assert ran.status == 1
    assert "skipped: b.md: refused by the server (not this one [P0001])" in ran.err
    assert set(contents(db).values()) == {"open", "open too"}
    assert (json.loads(ran.out)["added"], json.loads(ran.out)["chunks"]) == (2, 2)


def test_a_document_that_takes_too_long_is_refused_and_the_others_go_on(
    pgchunk: Command, tree: Tree, db: Connection, dsn: str
) -> None:
    db.execute("""
        CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.content ~ 'slow' THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END $$;
        CREATE TRIGGER a_dawdle BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION dawdle();
    """)
    root = tree({"a.md": "open", "b.md": "slow", "c.md": "open too"})
    ran = pgchunk("load", root, "--dsn", f"{dsn} options='-c statement_timeout=5s'")
    assert ran.status == 1
    assert "skipped: b.md: refused by the server" in ran.err
    assert "57014" in ran.err
    assert set(contents(db).values()) == {"open", "open too"}


def test_an_error_that_is_no_documents_fault_ends_the_load_in_words(
    pgchunk: Command, tree: Tree, db: Connection, make_role: Callable[..., str], dsn: str
) -> None:
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT SELECT, INSERT, UPDATE ON documents TO {role}")
    db.execute("ALTER TABLE documents ENABLE ROW LEVEL SECURITY")
    db.execute(f"CREATE POLICY p ON documents TO {role} USING (1 / 0 > 0)")
    ran = pgchunk("load", tree({"a.md": "open"}), "--dsn", f"{dsn} user={role} password={role}")
    assert ran.status == 2
    assert ran.err == "error: division by zero [22012]\n"
    assert ran.out == ""


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux takes such names")
def test_names_that_are_not_utf8_need_a_base_url(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": GUIDE})
    os.close(os.open(os.fsencode(root) + b"/\xff.md", os.O_CREAT, 0o600))
    ran = pgchunk("load", root)
    assert ran.status == 1
    assert "skipped: \\xff.md: name is not UTF-8" in ran.err
    assert pgchunk("load", root, "--base-url", "https://x.org").status == 0
    assert "https://x.org/%FF.md" in contents(db)
    os.mkdir(os.fsencode(root) + b"/\xfe")
    below = Path(os.fsdecode(os.fsencode(root) + b"/\xfe"))
    assert pgchunk("load", below).status == 2
    assert pgchunk("load", below, "--base-url", "https://x.org/below").status == 0


def test_a_role_needs_no_right_on_chunks(
    pgchunk: Command, tree: Tree, db: Connection, make_role: Callable[..., str], dsn: str
) -> None:
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT SELECT, INSERT, UPDATE ON documents TO {role}")
    arguments = ["--dsn", f"{dsn} user={role} password={role}"]
    found = summary(pgchunk, tree({"a.md": GUIDE}), *arguments)
    assert counts(found) == (1, 0, 0, 0)
    assert found["chunks"] is None
    assert db.execute("SELECT count(*) > 0 FROM chunks").fetchone() == (True,)
    refused = pgchunk("load", tree({}), "--prune", *arguments)
    assert refused.status == 2
    assert "DELETE" in refused.err
    status = pgchunk("status", *arguments)
    assert status.status == 2
    assert "lacks SELECT on table public.chunks" in status.err


def test_status_needs_only_to_read(
    pgchunk: Command, tree: Tree, db: Connection, make_role: Callable[..., str], dsn: str
) -> None:
    role = make_role()
    pgchunk("load", tree({"a.md": GUIDE}))
    arguments = ["status", "--dsn", f"{dsn} user={role} password={role}"]
    for _ in range(2):  # the schema first, then the tables
        refused = pgchunk(*arguments)
        assert refused.status == 2
        db.execute(refused.err.partition(" run: ")[2])
    assert "GRANT SELECT ON public.documents TO" in refused.err
    ran = pgchunk(*arguments)
    assert (ran.status, ran.err) == (0, "")
    assert "1 document, " in ran.out


def test_rights_on_a_schema_of_the_tables_are_asked_for_too(
    pgchunk: Command, tree: Tree, db: Connection, make_role: Callable[..., str], dsn: str
) -> None:
    role = make_role()
    db.execute('CREATE SCHEMA "My"; ALTER TABLE documents SET SCHEMA "My"; ALTER TABLE chunks SET SCHEMA "My"')
    arguments = ["load", tree({"a.md": GUIDE}), "--prune", "--dsn", f"{dsn} user={role} password={role}"]
    for _ in range(2):
        refused = pgchunk(*arguments)
        assert refused.status == 2
        db.execute(refused.err.partition(" run: ")[2])
    assert 'GRANT USAGE ON SCHEMA "My" TO' in refused.err
    assert 'GRANT SELECT, INSERT, UPDATE, DELETE ON "My".documents TO' in refused.err
    assert pgchunk(*arguments).status == 0


@pytest.mark.parametrize(
    ("grants", "said"),
    [
        ("", "GRANT USAGE ON SCHEMA pgchunk TO"),
        ("GRANT USAGE ON SCHEMA pgchunk TO {role}", "GRANT SELECT, INSERT, UPDATE ON public.documents TO"),
        (
            "GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT INSERT ON documents TO {role}",
            "lacks SELECT, UPDATE",
        ),
    ],
)
def test_missing_rights_are_said_with_the_statement_that_grants_them(
    pgchunk: Command,
    tree: Tree,
    db: Connection,
    make_role: Callable[..., str],
    dsn: str,
    grants: str,
    said: str,
) -> None:
    role = make_role()
    if grants:
        db.execute(grants.format(role=role))
    ran = pgchunk("load", tree({"a.md": GUIDE}), "--dsn", f"{dsn} user={role} password={role}")
    assert ran.status == 2
    assert said in ran.err


def test_a_row_that_a_policy_forbids_is_one_refused_document(
    pgchunk: Command, tree: Tree, db: Connection, make_role: Callable[..., str], dsn: str
) -> None:
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT SELECT, INSERT, UPDATE ON documents TO {role}")
    db.execute("ALTER TABLE documents ENABLE ROW LEVEL SECURITY")
    db.execute(f"CREATE POLICY p ON documents TO {role} USING (true) WITH CHECK (content !~ 'secret')")
    root = tree({"a.md": "open", "b.md": "secret", "c.md": "open too"})
    ran = pgchunk("load", root, "--dsn", f"{dsn} user={role} password={role}")
    assert ran.status == 1
    assert "skipped: b.md: refused by the server" in ran.err
    assert set(contents(db).values()) == {"open", "open too"}


def test_without_the_extension_the_command_says_what_to_run(offline: Command, tree: Tree, empty_dsn: str) -> None:
    for arguments in (["load", str(tree({"a.md": GUIDE}))], ["status"]):
        ran = offline(*arguments, "--dsn", empty_dsn)
        assert ran.status == 2
        assert "CREATE EXTENSION pgchunk CASCADE" in ran.err
        assert "pgchunk.create_tables()" in ran.err
        assert not ran.out


def test_without_tables_the_command_says_what_to_run(pgchunk: Command, tree: Tree, db: Connection) -> None:
    db.execute("DELETE FROM pgchunk.collections")
    ran = pgchunk("load", tree({"a.md": GUIDE}))
    assert ran.status == 2
    assert "SELECT pgchunk.create_tables()" in ran.err


def test_dropped_tables_are_missed_before_anything_is_read(pgchunk: Command, tree: Tree, db: Connection) -> None:
    db.execute("DROP TABLE documents CASCADE")
    ran = pgchunk("load", tree({"a.md": GUIDE}))
    assert ran.status == 2
    assert "pgchunk.create_tables()" in ran.err


def test_tables_are_found_wherever_they_are(pgchunk: Command, tree: Tree, db: Connection) -> None:
    db.execute("""
        CREATE SCHEMA "Odd place";
        ALTER TABLE documents SET SCHEMA "Odd place";
        ALTER TABLE "Odd place".documents RENAME TO "My %s docs";
        ALTER TABLE "Odd place"."My %s docs" ADD "100%" int;
        ALTER TABLE chunks RENAME TO "a.b";
    """)
    assert counts(summary(pgchunk, tree({"a.md": GUIDE}), "--prune")) == (1, 0, 0, 0)
    assert db.execute('SELECT count(*) FROM "Odd place"."My %s docs"').fetchone() == (1,)
    assert "1 document," in pgchunk("status").out


def test_an_unknown_collection_is_refused_with_the_known_ones(pgchunk: Command, tree: Tree) -> None:
    ran = pgchunk("load", tree({"a.md": GUIDE}), "--collection", "nope")
    assert ran.status == 2
    assert "'default'" in ran.err


def test_a_read_only_server_stops_the_load_at_once(pgchunk: Command, tree: Tree, db: Connection, dsn: str) -> None:
    options = "options='-c default_transaction_read_only=on'"
    ran = pgchunk("load", tree({"a.md": GUIDE, "b.md": GUIDE}), "--dsn", f"{dsn} {options}")
    assert ran.status == 2
    assert "25006" in ran.err
    assert "skipped" not in ran.err


@pytest.mark.parametrize("dsn", ["host=/nowhere dbname=x", "host=localhost port=1 dbname=x", "nonsense", "a=b"])
def test_without_a_server_the_status_is_2(offline: Command, tree: Tree, dsn: str) -> None:
    for arguments in (["load", str(tree({"a.md": GUIDE}))], ["status"]):
        ran = offline(*arguments, "--dsn", dsn)
        assert ran.status == 2
        assert ran.err.startswith("error: ")
        assert "PGCHUNK_DSN" in ran.err


def test_the_server_is_found_by_libpqs_variables(
    offline: Command, tree: Tree, dsn: str, monkeypatch: pytest.MonkeyPatch, db: Connection
) -> None:
    monkeypatch.delenv("PGCHUNK_DSN", raising=False)
    given = psycopg.conninfo.conninfo_to_dict(dsn)
    names = {
        "host": "PGHOST",
        "port": "PGPORT",
        "dbname": "PGDATABASE",
        "user": "PGUSER",
        "password": "PGPASSWORD",
    }
    for key, value in given.items():
        monkeypatch.setenv(names[key], str(value))
    assert offline("load", tree({"a.md": GUIDE})).status == 0
    assert len(contents(db)) == 1


def test_the_summary_says_it_at_a_glance(pgchunk: Command, tree: Tree) -> None:
    root = tree({"a.md": GUIDE, "b.md": b"\xff", "c.png": "", ".d.md": ""})
    ran = pgchunk("load", root)
    words = [line.split() for line in ran.out.splitlines()]
    assert [line[:2] for line in words[:4]] == [
        ["added", "1"],
        ["changed", "0"],
        ["unchanged", "0"],
        ["skipped", "1"],
    ]
    assert "not text: 1" in ran.out
    assert "other file type: 1" in ran.out
    assert "dotfile: 1" in ran.out
    assert {line[0] for line in words} >= {"chunks", "tokens", "time"}
    quiet = pgchunk("load", "--quiet", root)
    assert quiet.out == ""
    assert quiet.err.splitlines() == [
        "skipped: b.md: not text (byte 0 is not UTF-8; convert it first, for instance with iconv, or --exclude it)"
    ]


def test_a_file_that_vanishes_between_walk_and_read_is_named(
    pgchunk: Command, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree({"a.md": GUIDE, "b.md": GUIDE})
    real = os.open

    def vanish(path: Any, *arguments: Any, **more: Any) -> int:
        if Path(path).name == "b.md":
            Path(path).unlink(missing_ok=True)
        return real(path, *arguments, **more)

    monkeypatch.setattr("pgchunk_loader.text.os.open", vanish)
    ran = pgchunk("load", root)
    assert ran.status == 1
    assert "skipped: b.md: vanished while being read" in ran.err


def test_status_counts_by_strategy(pgchunk: Command, tree: Tree, db: Connection) -> None:
    root = tree({"a.md": GUIDE, "b.md": GUIDE + "\nother\n"})
    pgchunk("load", root)
    pgchunk("load", root / "b.md", "--strategy", "sections")
    found = json.loads(pgchunk("status", "-f", "json").out)
    total = db.execute("SELECT count(*) FROM chunks").fetchone()
    assert (found["documents"], found["chunks"], found["stale"]) == (2, *(total or ()), 0)
    assert {row["strategy"]: row["documents"] for row in found["strategies"]} == {"default": 1, "sections": 1}
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 100 WHERE name = 'sections'")
    found = json.loads(pgchunk("status", "-f", "json").out)
    sections = next(row for row in found["strategies"] if row["strategy"] == "sections")
    assert found["stale"] == sections["stale"] == sections["chunks"]
    table = pgchunk("status")
    assert table.status == 0
    assert "2 documents" in table.out
    assert "sections" in table.out


def test_status_says_which_statement_mends_what_is_stale_or_missing(
    pgchunk: Command, tree: Tree, db: Connection
) -> None:
    front = "---\npgchunk.strategy: packed\n---\n\n# Own\n\ntext\n"
    pgchunk("load", tree({"a.md": GUIDE, "b.md": GUIDE, "blank.md": "\n", "own.md": front}))
    assert "run" not in pgchunk("status").out
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 100 WHERE name = 'packed'")
    db.execute("INSERT INTO pgchunk.strategies (name, is_active) VALUES ('it''s mine', true)")
    found = json.loads(pgchunk("status", "-f", "json").out)
    assert (found["missing"], found["stale"]) == (4, 1)
    rows = {row["strategy"]: (row["missing"], row["stale"]) for row in found["strategies"]}
    assert rows == {"default": (0, 0), "packed": (0, 1), "sections": (2, 0), "it's mine": (2, 0)}
    assert sorted(found["remedies"]) == [
        "CALL pgchunk.rechunk('it''s mine', collection => 'default')",
        "CALL pgchunk.rechunk('packed', collection => 'default')",
        "CALL pgchunk.rechunk('sections', collection => 'default')",
    ]
    shown = pgchunk("status").out
    assert "As the owner of the tables run:" in shown
    for statement in found["remedies"]:
        assert f"  {statement};" in shown
        db.execute(statement)
    mended = json.loads(pgchunk("status", "-f", "json").out)
    assert (mended["missing"], mended["stale"], mended["remedies"]) == (0, 0, [])
    db.execute("SET session_replication_role = replica")  # as a restore may leave it: chunks without their strategy
    db.execute("DELETE FROM pgchunk.strategies WHERE name = 'it''s mine'")
    db.execute("RESET session_replication_role")
    gone = json.loads(pgchunk("status", "-f", "json").out)["remedies"]
    assert gone == ["SELECT pgchunk.remove_chunks('it''s mine', 'default')"]
    db.execute(gone[0])
    assert json.loads(pgchunk("status", "-f", "json").out)["remedies"] == []


def test_status_of_nothing_shows_the_active_strategy(pgchunk: Command) -> None:
    ran = pgchunk("status")
    assert ran.status == 0
    assert "0 documents, 0 chunks" in ran.out
    assert "default" in ran.out
