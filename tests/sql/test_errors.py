"""Every error: SQLSTATE, DETAIL, HINT, and nothing stored. docs/errors.md lists what is raised here."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

DOCS = Path(__file__).parents[2] / "docs" / "errors.md"
INSERT = "INSERT INTO documents (source_uri, content, format, metadata) VALUES ('u', %s, %s, %s)"
UNKNOWN_CHOICE = '{"pgchunk.strategy": "nope"}'

REFUSED = [
    # SQLSTATE, statement, values
    ("MD001", "SELECT pgchunk.preview('x', overrides => '{\"max_tokens\": 15}')", ()),
    ("MD001", "SELECT pgchunk.preview('x', overrides => '{\"no_such\": 1}')", ()),
    ("MD001", "SELECT pgchunk.preview('x', overrides => '{\"max_tokens\": null}')", ()),
    ("MD001", "SELECT pgchunk.preview('x', overrides => '[1]')", ()),
    ("MD001", "SELECT pgchunk.preview('x', overrides => '\"max_tokens\"')", ()),
    ("MD001", "SELECT pgchunk.preview('x', overrides => '{\"name\": \"other\"}')", ()),
    ("MD001", "UPDATE pgchunk.strategies SET max_tokens = 0", ()),
    ("MD001", "DELETE FROM pgchunk.strategies WHERE is_default", ()),
    ("MD002", "SELECT pgchunk.preview('x', strategy => 'nope')", ()),
    ("MD002", INSERT, ("x", "markdown", UNKNOWN_CHOICE)),
    ("MD002", INSERT, ("x", "markdown", '{"pgchunk.strategy": ""}')),
    ("MD002", INSERT, ("x", "markdown", '{"pgchunk.strategy": 7}')),
    ("MD003", "SELECT pgchunk.preview('xxxx', overrides => '{\"max_document_bytes\": 3}')", ()),
    ("MD004", INSERT, ("x", "html", "{}")),
    ("MD004", INSERT, ("x", "", "{}")),
    ("MD004", "SELECT pgchunk.preview('x', format => 'html')", ()),
    ("MD005", "SELECT pgchunk.count_tokens('x', 'hf:not-installed')", ()),
    ("MD006", "SELECT pgchunk.count_tokens('x', 'nope')", ()),
    ("MD006", "SELECT pgchunk.count_tokens('x', '../../etc/passwd')", ()),
    ("MD008", "SELECT pgchunk.preview_document(1, collection => 'nope')", ()),
    ("MD009", "SELECT pgchunk.preview_document(1)", ()),
    ("MD009", "SELECT pgchunk.preview_document('nope.md')", ()),
    ("22023", "SELECT pgchunk.create_tables(NULL)", ()),
    ("22023", "SELECT pgchunk.create_tables(dimensions => NULL)", ()),
    ("22023", "SELECT pgchunk.create_tables(dimensions => 0)", ()),
    ("22023", "SELECT pgchunk.create_tables(dimensions => 2001)", ()),
    ("22023", "SELECT pgchunk.create_tables(dimensions => 4001, vector_type => 'halfvec')", ()),
    ("22023", "SELECT pgchunk.create_tables(vector_type => 'text')", ()),
    ("22023", "SELECT pgchunk.create_tables(index => 'btree')", ()),
    ("3F000", "SELECT pgchunk.create_tables('no_such_schema')", ()),
]


@pytest.mark.parametrize(("sqlstate", "statement", "values"), REFUSED)
def test_refused(refused, value, sqlstate, statement, values):
    diagnostics = refused(sqlstate, statement, values)
    if sqlstate != "3F000":
        assert diagnostics.message_primary.startswith("plpy.Error: ")
        assert diagnostics.message_detail
        assert diagnostics.message_hint
    assert value("SELECT count(*) FROM documents") == 0
    assert value("SELECT count(*) FROM chunks") == 0
    assert value("SELECT count(*) FROM pgchunk.strategies WHERE customized") == 0


def test_content_over_max_document_bytes(db, refused, value):
    db.execute("UPDATE pgchunk.strategies SET max_document_bytes = 10")
    diagnostics = refused("MD003", INSERT, ("ääääää", "markdown", "{}"))
    assert "12 bytes" in diagnostics.message_primary
    assert value("SELECT count(*) FROM documents") == 0
    db.execute(INSERT, ("äääää", "markdown", "{}"))


def test_several_collections_want_a_name(db, refused):
    db.execute("CREATE SCHEMA other; SELECT pgchunk.create_tables('other')")
    diagnostics = refused("MD008", "SELECT pgchunk.preview_document(1)")
    assert diagnostics.message_detail == "The collections are default, other."


def test_no_collection(db, refused):
    db.execute("DROP TABLE documents, chunks CASCADE")
    assert "create_tables" in refused("MD008", "SELECT pgchunk.preview_document(1)").message_hint


def test_table_with_triggers_and_no_collection(db, refused):
    db.execute("DELETE FROM pgchunk.collections")
    assert "create_tables" in refused("MD008", INSERT, ("x", "markdown", "{}")).message_hint


def test_missing_values_are_the_tables_own_errors(db):
    for column in ("content", "source_uri", "format", "metadata"):
        values = {"source_uri": "u", "content": "x", "format": "markdown", "metadata": "{}"} | {column: None}
        with pytest.raises(psycopg.errors.NotNullViolation):
            db.execute(
                "INSERT INTO documents (source_uri, content, format, metadata) VALUES"
                " (%(source_uri)s, %(content)s, %(format)s, %(metadata)s)",
                values,
            )


# Versions


def test_session_that_lived_through_an_update_is_told(db, insert, refused):
    insert("u", "x")
    db.execute("UPDATE pg_extension SET extversion = '99.0' WHERE extname = 'pgchunk'")
    diagnostics = refused("MD007", INSERT, ("x", "markdown", "{}"))
    assert "99.0" in diagnostics.message_primary
    assert diagnostics.message_hint == "Open a new session."


def test_function_of_another_version(db, refused):
    """As after ALTER EXTENSION UPDATE with an old package installed."""
    (source,) = db.execute("SELECT pg_get_functiondef('pgchunk.count_tokens'::regproc)").fetchone()
    version = re.search(r"pgchunk_version'\) != '([^']+)'", source)[1]
    db.execute(source.replace(f"'{version}'", "'99.0'").encode())
    diagnostics = refused("MD007", "SELECT pgchunk.count_tokens('x')")
    assert version in diagnostics.message_primary
    assert "99.0" in diagnostics.message_primary
    assert "make install" in diagnostics.message_hint


def test_package_that_is_not_there(connect, db):
    (source,) = db.execute("SELECT pg_get_functiondef('pgchunk.count_tokens'::regproc)").fetchone()
    directory = re.search(r"sys\.path\.insert\(0, '([^']+)'\)", source)[1]
    db.execute(source.replace(directory, "/no/such/place").encode())
    with pytest.raises(psycopg.Error) as caught:
        connect().execute("SELECT pgchunk.count_tokens('x')")
    assert caught.value.sqlstate == "MD007"
    assert "/no/such/place" in caught.value.diag.message_detail
    assert "make install" in caught.value.diag.message_hint


def test_other_encodings_are_refused(session_server):
    with psycopg.connect(session_server["dsn"], autocommit=True) as admin:
        admin.execute("CREATE DATABASE pgchunk_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        try:
            with (
                psycopg.connect(session_server["dsn"], dbname="pgchunk_latin1", autocommit=True) as latin,
                pytest.raises(psycopg.errors.FeatureNotSupported),
            ):
                latin.execute("CREATE EXTENSION pgchunk CASCADE")
        finally:
            admin.execute("DROP DATABASE pgchunk_latin1 WITH (FORCE)")


# The table of errors


def test_docs_list_what_is_raised():
    from pgchunk import errors
    from pgchunk.server import errors as server_errors

    raised = {
        kind.sqlstate
        for module in (errors, server_errors)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, errors.PgchunkError) and kind is not errors.PgchunkError
    }
    listed = set(re.findall(r"^\| `([0-9A-Z]{5})`", DOCS.read_text(), re.MULTILINE))
    assert listed == raised
