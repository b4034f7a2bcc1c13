"""Installing a version gives what updating to it gives. The next version is made up here, in a copy of the sources and
of the server's programs, so that nothing of the machine's own changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

import checkout
import conftest
import servers

NEW = "99.0.0"
OLD = checkout.version()

#: file in the copy: what is appended, or (old, new)
CHANGES: dict[str, str | tuple[str, str]] = {
    "extension/pgchunk.control": (f"default_version = '{OLD}'", f"default_version = '{NEW}'"),
    f"sql/state/{NEW}/001-synthetic.sql": """
        ALTER TABLE pgchunk.strategies ADD COLUMN synthetic text;
        COMMENT ON COLUMN pgchunk.strategies.synthetic IS 'made up';
        CREATE TABLE pgchunk.synthetic (n integer PRIMARY KEY);
        SELECT pg_catalog.pg_extension_config_dump('pgchunk.synthetic', '');
        DROP FUNCTION IF EXISTS pgchunk.outline(text);
    """,
    "sql/code/30-text.sql": ("OUT level integer, OUT title text,", "OUT title text, OUT level integer,"),
    "sql/code/94-synthetic.sql": """
        CREATE OR REPLACE FUNCTION pgchunk.synthetic() RETURNS integer LANGUAGE sql
        SET search_path = pg_catalog, pg_temp AS 'SELECT 1';
        COMMENT ON FUNCTION pgchunk.synthetic() IS 'made up';
        GRANT SELECT ON pgchunk.synthetic TO PUBLIC;
    """,
    f"extension/pgchunk/templates/upgrades/{NEW}.sql": "ALTER TABLE $chunks ADD COLUMN IF NOT EXISTS synthetic int;",
    "extension/pgchunk/templates/chunks.sql": (
        "    embedded_at timestamptz,\n    -- Looked",
        "    embedded_at timestamptz,\n    synthetic integer,\n    -- Looked",
    ),
    "extension/pgchunk/templates/functions.sql": ("if 'pgchunk' not in GD:", "# synthetic\nif 'pgchunk' not in GD:"),
    "extension/pgchunk/templates/triggers.sql": ("WHEN ($rechunk)", "WHEN (true AND ($rechunk))"),
    "extension/pgchunk/templates/views.sql": (
        "SELECT\n    c.strategy,\n    count(DISTINCT",
        "SELECT\n    1 AS synthetic,\n    c.strategy,\n    count(DISTINCT",
    ),
}

MEMBERS = (
    "SELECT pg_describe_object(classid, objid, 0) FROM pg_depend JOIN pg_extension AS x ON x.oid = refobjid"
    " WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND extname = 'pgchunk' ORDER BY 1"
)
IN_OURS = "IN ('pgchunk'::regnamespace, 'public'::regnamespace)"
NOT_VECTORS = (
    "NOT EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS x ON x.oid = d.refobjid"
    " WHERE d.objid = {}.oid AND d.deptype = 'e' AND x.extname <> 'pgchunk')"
)
SNAPSHOT = {
    "extension": "SELECT extversion, extconfig::regclass[]::text, extcondition FROM pg_extension"
    " WHERE extname = 'pgchunk'",
    "members": MEMBERS,
    "functions": "SELECT pronamespace::regnamespace::text, pg_get_functiondef(p.oid), proacl::text,"
    f" obj_description(p.oid) FROM pg_proc AS p WHERE prokind <> 'a' AND pronamespace {IN_OURS}"
    f" AND {NOT_VECTORS.format('p')} ORDER BY 1, 2",
    "relations": "SELECT c.oid::regclass::text, relkind, relacl::text, reloptions::text, relrowsecurity,"
    f" obj_description(c.oid) FROM pg_class AS c WHERE relnamespace {IN_OURS} ORDER BY 1",
    "columns": "SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, attidentity,"
    " pg_get_expr(adbin, adrelid), col_description(attrelid, attnum)"
    " FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid"
    " LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
    f" WHERE relnamespace {IN_OURS} AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v') ORDER BY 1, attnum",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    f" WHERE connamespace {IN_OURS} ORDER BY 1, 2",
    "views": f"SELECT c.oid::regclass::text, pg_get_viewdef(c.oid) FROM pg_class AS c WHERE relkind = 'v'"
    f" AND relnamespace {IN_OURS} ORDER BY 1",
    "triggers": "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(t.oid), tgenabled FROM pg_trigger AS t"
    " WHERE NOT tgisinternal ORDER BY 1, 2",
    "indexes": "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class AS c"
    f" ON c.oid = indexrelid WHERE relnamespace {IN_OURS} ORDER BY 1",
    "strategies": "SELECT * FROM pgchunk.strategies ORDER BY name",
    "collections": "SELECT name, documents::text, chunks::text FROM pgchunk.collections",
    "schema": "SELECT nspacl::text, obj_description(oid) FROM pg_namespace WHERE nspname = 'pgchunk'",
    "depends": "SELECT pg_describe_object(classid, objid, 0) FROM pg_depend WHERE deptype = 'x' ORDER BY 1",
}


def copy_server(server: servers.Server, folder: Path) -> servers.Server:
    """The server's programs and files below another folder: they find each other by their places."""
    share = server.extension_dir.parent
    for path in {server.bindir, server.pkglibdir, share}:
        target = folder / path.relative_to("/")
        if not target.exists():
            shutil.copytree(path, target, symlinks=True, ignore=shutil.ignore_patterns("pgchunk-*", "bitcode", "pgxs"))
    return servers.Server(folder / server.bindir.relative_to("/") / "pg_config")


def next_sources(folder: Path) -> Path:
    """A copy of the sources with the changes of a version that does not exist."""
    for part in ("extension", "sql", "tools"):
        shutil.copytree(checkout.ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "build").mkdir()
    (folder / "build" / "server-dependencies").symlink_to(checkout.BUILD / "server-dependencies")
    for name, change in CHANGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(change, str):
            path.write_text(change)
        else:
            text = path.read_text()
            assert text.count(change[0]) == 1, (name, change[0])
            path.write_text(text.replace(*change))
    return folder


def install(root: Path, server: servers.Server) -> None:
    done = subprocess.run(
        [sys.executable, root / "tools" / "install.py"],
        env=os.environ | {"PG_CONFIG": str(server.pg_config)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def two_versions():
    """A copy of the server in which this version and the next are installed."""
    server = servers.complete()
    if server is None:
        pytest.skip("no server is installed here")
    folder = Path(tempfile.mkdtemp(prefix="pgchunk-next-"))
    try:
        folder.chmod(0o755)
        copy = copy_server(server, folder / "server")
        install(checkout.ROOT, copy)
        install(next_sources(folder / "sources"), copy)
        yield copy
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


TABLES = "SELECT pgchunk.create_tables()"
INSTALL_OLD = f"CREATE EXTENSION pgchunk VERSION '{OLD}' CASCADE; {TABLES}"
UPGRADE = [INSTALL_OLD, "ALTER EXTENSION pgchunk UPDATE", "SELECT pgchunk.upgrade_tables()"]


@pytest.fixture
def session(two_versions, make_cluster):
    """session(database): a connection, in autocommit, on a server with both versions; makes the database."""
    cluster = make_cluster(two_versions)
    opened = []

    def connect(database):
        if not cluster.sql(f"SELECT 1 FROM pg_database WHERE datname = '{database}'"):
            cluster.sql(f"CREATE DATABASE {database}")
        opened.append(psycopg.connect(cluster.dsn(database), autocommit=True))
        return opened[-1]

    connect.dsn = cluster.dsn()
    yield connect
    for connection in opened:
        connection.close()


def run(session, database, scripts):
    """Run scripts, each in a session of its own; the last one's connection."""
    for script in scripts:
        connection = session(database)
        connection.execute(script)
    return connection


def snapshot(connection):
    return {name: connection.execute(query).fetchall() for name, query in SNAPSHOT.items()}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_installing_and_updating_give_the_same(session):
    installed = snapshot(run(session, "installed", [f"CREATE EXTENSION pgchunk CASCADE; {TABLES}"]))
    upgraded = snapshot(run(session, "upgraded", UPGRADE))
    assert installed["extension"][0][0] == NEW
    assert any("synthetic" in row[1] for row in installed["columns"])
    for name, rows in installed.items():
        assert upgraded[name] == rows, name


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_was_there_stays(session):
    """Rows, ids, embeddings, customised strategies, grants and views that somebody's view stands on."""
    before = run(session, "life", [INSTALL_OLD])
    before.execute(
        "CREATE ROLE reader; GRANT SELECT ON chunk_quality, documents TO reader; GRANT SELECT ON chunks TO PUBLIC;"
        "UPDATE pgchunk.strategies SET max_tokens = 100 WHERE name = 'default';"
        "INSERT INTO documents (source_uri, content)"
        " SELECT 'doc ' || n, repeat('word ', 300) FROM generate_series(1, 5) AS n;"
        "UPDATE chunks SET embedding = array_fill(1, ARRAY[1024])::vector"
    )
    rows = before.execute(
        "SELECT id, document_id, content, embedding::text, xmin::text FROM chunks ORDER BY id"
    ).fetchall()
    with pytest.raises(psycopg.Error) as caught:  # this session holds the package of the old version
        before.execute("ALTER EXTENSION pgchunk UPDATE")
    assert caught.value.sqlstate == "MD007"
    assert "new session" in caught.value.diag.message_hint

    after = run(session, "life", ["ALTER EXTENSION pgchunk UPDATE"])
    for statement in (
        "INSERT INTO documents (source_uri, content) VALUES ('x', 'y')",
        "SELECT pgchunk.count_tokens('x')",
    ):
        with pytest.raises(psycopg.Error) as caught:
            before.execute(statement)
        assert caught.value.sqlstate == "MD007", "the old session is told"
    # The tables work before they are upgraded, and after it.
    after.execute("UPDATE documents SET metadata = '{\"a\": 1}' WHERE source_uri = 'doc 2'")
    after.execute("INSERT INTO documents (source_uri, content) VALUES ('new', 'x')")
    assert after.execute("SELECT pgchunk.upgrade_tables()").fetchone() == ("default",)
    assert after.execute("SELECT pgchunk.upgrade_tables('default')").fetchone() == ("default",)
    found = after.execute(
        "SELECT id, document_id, content, embedding::text, xmin::text FROM chunks WHERE document_id <= 5 ORDER BY id"
    ).fetchall()
    assert found == rows
    assert after.execute("SELECT max_tokens, customized FROM pgchunk.strategies WHERE name = 'default'").fetchone() == (
        100,
        True,
    )
    rights = "SELECT has_table_privilege('reader', %s, 'SELECT')"
    assert after.execute(rights, ["chunk_quality"]).fetchone() == (True,)
    assert after.execute(rights, ["chunk_coverage"]).fetchone() == (False,)
    after.execute("UPDATE documents SET content = content || 'more'")
    assert after.execute("SELECT bool_and(ok) FROM chunk_coverage").fetchone() == (True,)
    assert after.execute("SELECT DISTINCT synthetic FROM chunk_quality").fetchone() == (1,)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_suite_passes_on_an_upgraded_database(session):
    environment = {"PGCHUNK_TEST_DSN": session.dsn, "PGCHUNK_TEST_TEMPLATE": json.dumps(UPGRADE)}
    which = ["tests/sql/test_write.py", "-k", "insert or edit or title or delete or failing"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *which],
        cwd=checkout.ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert conftest.TEMPLATE_SQL not in environment["PGCHUNK_TEST_TEMPLATE"]
