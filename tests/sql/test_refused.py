"""What is refused: SQLSTATE, DETAIL and HINT, and nothing stored."""

from __future__ import annotations

import psycopg
import pytest

from conftest import scratch_database

INSERT = "INSERT INTO documents (source_uri, content, format, metadata) VALUES ('u', %s, %s, %s)"
UNKNOWN_CHOICE = '{"pgchunk.strategy": "nope"}'


@pytest.fixture(scope="module")
def db(session_server):
    """One database for all tests of this module, none of which changes it."""
    with (
        scratch_database(session_server, session_server["template"]) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        yield connection


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


WRONG = [
    ("max_tokens", "15"),
    ("max_tokens", "-1"),
    ("max_tokens", "NULL"),
    ("target_tokens", "513"),
    ("target_tokens", "0"),
    ("min_tokens", "513"),
    ("min_tokens", "-1"),
    ("overlap_tokens", "257"),
    ("overlap_tokens", "-1"),
    ("heading_path_tokens", "257"),
    ("overlap", "'word'"),
    ("overlap", "NULL"),
    ("split_levels", "'{0}'"),
    ("split_levels", "'{7}'"),
    ("split_levels", "NULL"),
    ("split_levels", "'{1,NULL}'"),
    ("heading_line", "'maybe'"),
    ("include_preamble", "NULL"),
    ("merge", "'both'"),
    ("repeat_table_header", "NULL"),
    ("include_title", "NULL"),
    ("separator", "''"),
    ("separator", "NULL"),
    ("tokenizer", "'gpt'"),
    ("tokenizer", "'hf:../../x'"),
    ("tokenizer", "NULL"),
    ("parser", "'regex'"),
    ("max_document_bytes", "0"),
]


@pytest.mark.parametrize(("option", "value"), WRONG)
@pytest.mark.parametrize("write", ["INSERT", "UPDATE"])
def test_wrong_option_is_refused_by_name(refused, option, value, write):
    statements = {
        "INSERT": f"INSERT INTO pgchunk.strategies (name, {option}) VALUES ('new', {value})",
        "UPDATE": f"UPDATE pgchunk.strategies SET {option} = {value} WHERE name = 'default'",
    }
    diagnostics = refused("MD001", statements[write])
    assert f"option {option}:" in diagnostics.message_primary
    assert diagnostics.message_detail
    assert diagnostics.message_hint
