"""Dumps of data only, other schemas, dropped extensions, partitions and replicas: every row is there once."""

from __future__ import annotations

import os
import subprocess
import time

import psycopg
import pytest

import conftest
import lifecycle.traffic as traffic
import servers
from conftest import scratch_database

STATE = (
    "SELECT * FROM {}documents ORDER BY id",
    "SELECT * FROM {}chunks ORDER BY id",
    "SELECT * FROM pgchunk.strategies ORDER BY name",
    "SELECT name, documents::text, chunks::text FROM pgchunk.collections",
)


def state(connection, schema=""):
    return [connection.execute(query.format(schema)).fetchall() for query in STATE]


def run(program, *arguments):
    server = servers.complete()
    command = [server.bindir / program if server else program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PGCLIENTENCODING": "UTF8"})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def filled(db):
    """Documents with embedded chunks, one of them edited, a customised strategy and one of the user's own."""
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 300 WHERE name = 'default'")
    db.execute("INSERT INTO pgchunk.strategies (name, max_tokens, is_active) VALUES ('mine', 100, true)")
    db.execute(
        "INSERT INTO documents (source_uri, content)"
        " SELECT 'doc ' || n, repeat('Some words. ', n * 60) FROM generate_series(5, 1, -1) AS n"
    )
    db.execute("UPDATE documents SET content = 'short' WHERE source_uri = 'doc 5'")
    db.execute("UPDATE chunks SET embedding = array_fill(0.5::real, ARRAY[1024])::vector WHERE id % 3 > 0")
    return db


def go_on(connection, schema=""):
    """The triggers work: an edit and a new document get the chunks of their content."""
    connection.execute(f"UPDATE {schema}documents SET content = content || ' more' WHERE source_uri = 'doc 2'")
    connection.execute(f"INSERT INTO {schema}documents (source_uri, content) VALUES ('new', 'x')")
    assert connection.execute(f"SELECT bool_and(ok) FROM {schema}chunk_coverage").fetchone() == (True,)


@pytest.mark.parametrize("kind", ["plain", "custom"])
def test_schema_and_data_apart(filled, dsn, session_server, tmp_path, kind):
    """The rows of the extension's own tables come with triggers, those of the user's tables without."""
    before = state(filled)
    with scratch_database(session_server, "template0") as target:
        if kind == "plain":
            for name, options in {
                "schema": ["--schema-only"],
                "ours": ["--data-only", "--schema=pgchunk"],
                "data": ["--data-only", "--disable-triggers", "--exclude-schema=pgchunk"],
            }.items():
                run("pg_dump", *options, "-d", dsn, "-f", tmp_path / name)
                run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", tmp_path / name)
        else:
            run("pg_dump", "--format=custom", "-d", dsn, "-f", tmp_path / "dump")
            for options in (
                ["--schema-only"],
                ["--data-only", "--schema=pgchunk"],
                ["--data-only", "--disable-triggers", "--exclude-schema=pgchunk"],
            ):
                run("pg_restore", "--exit-on-error", *options, "-d", target, tmp_path / "dump")
        with psycopg.connect(target, autocommit=True) as restored:
            assert state(restored) == before
            go_on(restored)


def test_data_with_triggers_on_is_told_of(filled, dsn, session_server, tmp_path):
    """Chunks made by the triggers are in the way of those in the dump: the restore says what to do."""
    run("pg_dump", "--schema-only", "-d", dsn, "-f", tmp_path / "schema")
    run("pg_dump", "--data-only", "--schema=pgchunk", "-d", dsn, "-f", tmp_path / "ours")
    run("pg_dump", "--data-only", "--exclude-schema=pgchunk", "-d", dsn, "-f", tmp_path / "data")
    with scratch_database(session_server, "template0") as target:
        for name in ("schema", "ours"):
            run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", tmp_path / name)
        server = servers.complete()
        command = [server.bindir / "psql" if server else "psql", "-X", "-d", target, "-f", tmp_path / "data"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.stderr.count("--disable-triggers") == 1
        with psycopg.connect(target, autocommit=True) as restored:
            assert restored.execute("SELECT bool_and(ok), count(*) FROM chunk_coverage").fetchone() == (True, 10)


def test_documents_alone_get_new_chunks(filled, dsn, session_server, tmp_path):
    run("pg_dump", "--data-only", "--table=public.documents", "-d", dsn, "-f", tmp_path / "data")
    with scratch_database(session_server, session_server["template"]) as target:
        run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", target, "-f", tmp_path / "data")
        with psycopg.connect(target, autocommit=True) as restored:
            assert restored.execute("SELECT bool_and(ok), count(*) FROM chunk_coverage").fetchone() == (True, 5)


def test_another_schema(filled, dsn, session_server, tmp_path):
    """Tables that were moved to another schema are dumped and restored as they are, and go on."""
    filled.execute(
        "CREATE SCHEMA papers; ALTER TABLE documents SET SCHEMA papers; ALTER TABLE chunks SET SCHEMA papers"
    )
    filled.execute("ALTER SCHEMA papers RENAME TO library")
    filled.execute("SELECT pgchunk.upgrade_tables()")
    before = state(filled, "library.")
    run("pg_dump", "--format=custom", "-d", dsn, "-f", tmp_path / "dump")
    with scratch_database(session_server, "template0") as target:
        run("pg_restore", "--exit-on-error", "-d", target, tmp_path / "dump")
        with psycopg.connect(target, autocommit=True) as restored:
            assert state(restored, "library.") == before
            go_on(restored, "library.")


# DROP EXTENSION, TRUNCATE


def test_drop_extension(filled):
    before = [filled.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in ("documents", "chunks")]
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        filled.execute("DROP EXTENSION pgchunk")
    filled.execute("DROP EXTENSION pgchunk CASCADE")
    after = [filled.execute(f"SELECT * FROM {table} ORDER BY id").fetchall() for table in ("documents", "chunks")]
    assert after == before
    left = "SELECT count(*) FROM pg_proc WHERE proname LIKE '%pgchunk%'"
    assert filled.execute(left).fetchone() == (0,)
    filled.execute("UPDATE documents SET title = 'can be written to'")
    filled.execute("CREATE EXTENSION pgchunk; SELECT pgchunk.create_tables()")
    assert filled.execute("SELECT count(*) FROM chunks").fetchone() == (len(before[1]),)
    filled.execute("INSERT INTO documents (source_uri, content) VALUES ('new', 'x')")
    assert filled.execute("SELECT raw_content FROM chunks ORDER BY id DESC LIMIT 1").fetchone() == ("x",)


def test_truncate_needs_both_tables(filled):
    """As for every table that others refer to; PostgreSQL says so itself."""
    with pytest.raises(psycopg.errors.FeatureNotSupported) as caught:
        filled.execute("TRUNCATE documents")
    assert "CASCADE" in caught.value.diag.message_hint
    filled.execute("TRUNCATE documents, chunks RESTART IDENTITY")
    filled.execute("INSERT INTO documents (source_uri, content) VALUES ('new', 'x')")
    assert filled.execute("SELECT d.id, min(c.id) FROM documents AS d, chunks AS c GROUP BY 1").fetchall() == [(1, 1)]


# Partitions


@pytest.fixture
def partitioned(db):
    """Documents in two partitions by range of the key."""
    db.execute(
        """
        CREATE SCHEMA parts;
        CREATE TABLE parts.documents (
            id bigint PRIMARY KEY, source_uri text NOT NULL, title text NOT NULL, content text NOT NULL,
            metadata jsonb NOT NULL DEFAULT '{}', content_hash text NOT NULL, format text NOT NULL DEFAULT 'markdown',
            updated_at timestamptz NOT NULL DEFAULT now()
        ) PARTITION BY RANGE (id);
        CREATE TABLE parts.low PARTITION OF parts.documents FOR VALUES FROM (0) TO (100);
        SELECT pgchunk.create_tables('parts', 3);
        CREATE TABLE parts.high PARTITION OF parts.documents FOR VALUES FROM (100) TO (200);
        """
    )
    return db


def test_partitioned_documents(partitioned):
    partitioned.execute("INSERT INTO parts.documents (id, source_uri, content) VALUES (1, 'a', 'x'), (150, 'b', 'y')")
    partitioned.execute("INSERT INTO parts.high (id, source_uri, content) VALUES (151, 'c', 'z')")
    query = "SELECT document_id, raw_content FROM parts.chunks ORDER BY 1, ordinal"
    assert partitioned.execute(query).fetchall() == [(1, "x"), (150, "y"), (151, "z")]
    partitioned.execute("UPDATE parts.documents SET content = content || content")
    assert partitioned.execute(query).fetchall() == [(1, "xx"), (150, "yy"), (151, "zz")]
    partitioned.execute("DELETE FROM parts.documents WHERE id = 150")
    partitioned.execute("SELECT pgchunk.create_tables('parts', 3)")
    assert partitioned.execute("SELECT pgchunk.upgrade_tables('parts')").fetchone() == ("parts",)
    assert partitioned.execute("SELECT document_id, ok FROM parts.chunk_coverage ORDER BY 1").fetchall() == [
        (1, True),
        (151, True),
    ]


def test_a_key_that_is_referred_to_stays_where_it_is(partitioned):
    """The foreign key of chunks has no ON UPDATE: a document that has chunks cannot get another key."""
    partitioned.execute("INSERT INTO parts.documents (id, source_uri, content) VALUES (1, 'a', 'x')")
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        partitioned.execute("UPDATE parts.documents SET id = 150")
    assert partitioned.execute("SELECT document_id, raw_content FROM parts.chunks").fetchall() == [(1, "x")]


# Replicas


@pytest.mark.slow
def test_a_logical_replica_holds_equal_chunks(make_cluster):
    """Publisher and subscriber are two databases of one server; rows come as they are, nothing is chunked again."""
    cluster = make_cluster(wal_level="logical")
    for name in ("source", "replica"):
        cluster.sql(f"CREATE DATABASE {name}")
        for script in (conftest.TEMPLATE_SQL, "CREATE VIEW life AS SELECT 1"):
            cluster.sql(script, name)
    with (
        psycopg.connect(cluster.dsn("source"), autocommit=True) as source,
        psycopg.connect(cluster.dsn("replica"), autocommit=True) as replica,
    ):
        source.execute("INSERT INTO documents (source_uri, content) VALUES ('early', '# A' || repeat(' words', 900))")
        source.execute("CREATE PUBLICATION life FOR TABLE documents, chunks")
        source.execute("SELECT pg_create_logical_replication_slot('life', 'pgoutput')")
        dsn = cluster.dsn("source").replace("'", "''")
        replica.execute(f"CREATE SUBSCRIPTION life CONNECTION '{dsn}' PUBLICATION life WITH (create_slot = false)")
        try:
            source.execute("INSERT INTO documents (source_uri, content) VALUES ('late', repeat('word ', 2000))")
            source.execute("UPDATE chunks SET embedding = array_fill(1, ARRAY[1024])::vector")
            source.execute("UPDATE documents SET content = content || ' more' WHERE source_uri = 'late'")
            source.execute("INSERT INTO documents (source_uri, content) VALUES ('gone', 'x')")
            source.execute("DELETE FROM documents WHERE source_uri = 'gone'")
            tables = "SELECT * FROM documents ORDER BY id", "SELECT * FROM chunks ORDER BY id"
            wanted = [source.execute(query).fetchall() for query in tables]
            assert len(wanted[1]) > 5
            for _ in range(200):
                found = [replica.execute(query).fetchall() for query in tables]
                if found == wanted:
                    break
                time.sleep(0.1)
            assert found == wanted
            assert traffic.problems(replica) == []
        finally:
            replica.execute("ALTER SUBSCRIPTION life DISABLE")
            replica.execute("ALTER SUBSCRIPTION life SET (slot_name = NONE)")
            replica.execute("DROP SUBSCRIPTION life")


def test_session_replication_role_replica_leaves_chunks_alone(filled):
    before = filled.execute("SELECT xmin::text, * FROM chunks ORDER BY id").fetchall()
    filled.execute("SET session_replication_role = replica")
    filled.execute("UPDATE documents SET content = 'other', content_hash = 'as sent'")
    filled.execute("RESET session_replication_role")
    assert filled.execute("SELECT xmin::text, * FROM chunks ORDER BY id").fetchall() == before
