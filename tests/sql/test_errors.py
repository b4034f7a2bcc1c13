"""Every error: SQLSTATE, DETAIL, HINT, and nothing stored. docs/errors.md lists what is raised here."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

DOCS = Path(__file__).parents[2] / "docs" / "errors.md"
INSERT = "INSERT INTO documents (source_uri, content, format, metadata) VALUES ('u', %s, %s, %s)"


def test_content_over_max_document_bytes(db, refused, value):
    db.execute("UPDATE pgchunk.strategies SET max_document_bytes = 10")
    diagnostics = refused("MD003", INSERT, ("ääääää", "markdown", "{}"))
    assert "12 bytes" in diagnostics.message_primary
    assert value("SELECT count(*) FROM documents") == 0
    db.execute(INSERT, ("äääää", "markdown", "{}"))


def test_several_collections_want_a_name(db, refused):
    db.execute("CREATE SCHEMA other; SELECT pgchunk.create_tables('other')")
    refused("MD009", "SELECT pgchunk.preview_document(1)")  # the one called default is meant
    db.execute("UPDATE pgchunk.collections SET name = 'mine' WHERE name = 'default'")
    diagnostics = refused("MD008", "SELECT pgchunk.preview_document(1)")
    assert diagnostics.message_detail == "The collections are mine, other."


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
    directory = re.search(r"os\.path\.realpath\('([^']+)'\)", source)[1]
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
