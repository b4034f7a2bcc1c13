"""pg_dump and pg_restore: every row comes back once, and writing goes on."""

from __future__ import annotations

import os
import subprocess

import psycopg
import pytest

import servers
from conftest import scratch_database

ALL = {
    "documents": "SELECT * FROM documents ORDER BY id",
    "chunks": "SELECT * FROM chunks ORDER BY id",
    "strategies": "SELECT * FROM pgchunk.strategies ORDER BY name",
    "collections": "SELECT name, documents::text, chunks::text, key_type::text FROM pgchunk.collections",
    "functions": "SELECT proname, prosrc, proacl::text FROM pg_proc WHERE proname ~ '_pgchunk_' ORDER BY 1",
    "depends": "SELECT count(*) FROM pg_depend WHERE deptype = 'x'",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2",
    "coverage": "SELECT * FROM chunk_coverage ORDER BY 1, 3",
}


def snapshot(connection):
    return {name: connection.execute(query).fetchall() for name, query in ALL.items()}


def run(program, *arguments, **options):
    bindir = servers.chosen().bindir if servers.complete() else None
    command = [bindir / program if bindir else program, *arguments]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PGCLIENTENCODING": "UTF8"}, **options)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture
def filled(db, insert, guide):
    """A database with documents, an edit, customised strategies and another default."""
    db.execute("UPDATE pgchunk.strategies SET is_active = true, max_tokens = 400 WHERE name = 'sections'")
    db.execute("INSERT INTO pgchunk.strategies (name, max_tokens) VALUES ('mine', 100)")
    db.execute("UPDATE pgchunk.strategies SET is_default = (name = 'mine')")
    insert("guide.md", guide())
    insert("b.md", "# B\n\nx", metadata='{"pgchunk.strategy": "mine"}')
    db.execute("UPDATE documents SET content = content || ' more'")
    db.execute("UPDATE chunks SET embedding = array_fill(0.5::real, ARRAY[1024])::vector WHERE id % 2 = 0")
    return db


@pytest.mark.parametrize("kind", ["plain", "custom"])
def test_dump_and_restore(filled, dsn, session_server, tmp_path, kind):
    before = snapshot(filled)
    dump = tmp_path / "dump"
    dump.write_bytes(run("pg_dump", f"--format={kind}", "-d", dsn))
    with scratch_database(session_server, "template0") as target:
        if kind == "plain":
            run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", dump)
        else:
            run("pg_restore", "--exit-on-error", "-d", target, dump)
        with psycopg.connect(target, autocommit=True) as restored:
            assert snapshot(restored) == before
            restored.execute("UPDATE documents SET content = content || ' again' WHERE source_uri = 'b.md'")
            restored.execute("INSERT INTO documents (source_uri, content) VALUES ('c.md', 'new')")
            after = snapshot(restored)
            assert all(row[3] for row in after["coverage"])
            assert len(after["chunks"]) > len(before["chunks"])


def test_untouched_strategies_are_not_dumped(dsn):
    dump = run("pg_dump", "-d", dsn, "--table", "pgchunk.strategies", "--data-only").decode()
    assert "sections" not in dump
