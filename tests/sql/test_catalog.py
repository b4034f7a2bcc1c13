"""What the catalog says about the objects of the extension, and of the tables it makes."""

from __future__ import annotations

import re

import psycopg
import pytest

from conftest import scratch_database

PUBLIC_FUNCTIONS = {
    # name and arguments: volatility, strict, parallel safety
    "count_tokens(content text, tokenizer text)": ("i", True, "s"),
    "outline(content text)": ("i", True, "s"),
    "preview(content text, title text, strategy text, overrides jsonb, format text)": ("s", False, "u"),
    "preview_document(document bigint, strategy text, overrides jsonb, collection text)": ("s", False, "u"),
    "preview_document(document text, strategy text, overrides jsonb, collection text)": ("s", False, "u"),
    "create_tables(schema text, dimensions integer, vector_type text, index text)": ("v", False, "u"),
    "what_if(strategy text, overrides jsonb, collection text)": ("s", False, "u"),
    "what_if_total(strategy text, overrides jsonb, collection text)": ("s", False, "u"),
    "rechunk(IN strategy text, IN batch_size integer, IN collection text)": ("v", False, "u"),
    "remove_chunks(strategy text, collection text)": ("v", False, "u"),
    "compare(document bigint, strategy_a text, strategy_b text, collection text)": ("s", False, "u"),
    "compare(document text, strategy_a text, strategy_b text, collection text)": ("s", False, "u"),
    "compare_total(document bigint, strategy_a text, strategy_b text, collection text)": ("s", False, "u"),
    "compare_total(document text, strategy_a text, strategy_b text, collection text)": ("s", False, "u"),
    "carry_row_security(collection text)": ("v", False, "u"),
    "drop_row_security(collection text)": ("v", False, "u"),
    "upgrade_tables(collection text)": ("v", False, "u"),
}
MEMBERS = """
    SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension x ON x.oid = d.refobjid
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND x.extname = 'pgchunk'
"""


@pytest.fixture(scope="module")
def db(session_server):
    """One database for all tests of this module, none of which changes it."""
    with (
        scratch_database(session_server, session_server["template"]) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        yield connection


@pytest.fixture
def functions(rows):
    return rows(
        "SELECT p.*, proname || '(' ||"
        " regexp_replace(pg_get_function_identity_arguments(p.oid), ', OUT.*', '') || ')' AS signature,"
        " l.lanname, obj_description(p.oid, 'pg_proc') AS comment"
        " FROM pg_proc p JOIN pg_language l ON l.oid = prolang"
        " WHERE pronamespace = 'pgchunk'::regnamespace OR proname LIKE '%pgchunk%'"
    )


def test_public_functions(functions):
    found = {
        row["signature"]: (row["provolatile"], row["proisstrict"], row["proparallel"])
        for row in functions
        if not row["proname"].startswith("_") and "_pgchunk_" not in row["proname"]
    }
    assert found == PUBLIC_FUNCTIONS


def test_every_function_pins_its_search_path(functions):
    assert len(functions) > len(PUBLIC_FUNCTIONS)
    for row in functions:
        if row["prokind"] == "f":
            assert "search_path=pg_catalog, pg_temp" in (row["proconfig"] or []), row["signature"]


def test_procedures_can_commit(functions):
    """With a SET clause or other rights they could not; test_rechunk.py shows that they pin their search_path."""
    procedures = {row["proname"]: row for row in functions if row["prokind"] == "p"}
    assert set(procedures) == {"rechunk"}
    assert all(row["proconfig"] is None and not row["prosecdef"] for row in procedures.values())


def test_every_function_has_a_comment(functions):
    assert [row["signature"] for row in functions if not row["comment"]] == []


def test_only_these_run_with_other_rights(functions):
    definer = {row["proname"] for row in functions if row["prosecdef"]}
    assert definer == {
        "_adopt",
        "_strategies_written",
        "documents_pgchunk_before",
        "documents_pgchunk_after",
        "documents_pgchunk_work",
    }


def test_only_these_are_closed_to_public(rows):
    closed = rows(
        "SELECT proname FROM pg_proc"
        " WHERE (pronamespace = 'pgchunk'::regnamespace OR proname LIKE '%_pgchunk_%') AND NOT EXISTS"
        " (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)"
    )
    assert {row["proname"] for row in closed} == {
        "_ship_strategies",
        "_strategies_written",
        "documents_pgchunk_before",
        "documents_pgchunk_after",
        "documents_pgchunk_work",
    }


def test_bodies_are_one_call(functions):
    for row in functions:
        if row["lanname"] == "plpython3u":
            body = row["prosrc"].rstrip().splitlines()[-1]
            assert re.fullmatch(r"(return |)GD\['pgchunk'\]\.\w+\(plpy.*\)|    load\(.*\)", body), row["prosrc"]


def test_functions_beside_the_tables_carry_neither_path_nor_version(functions):
    bodies = {row["prosrc"] for row in functions if "_pgchunk_" in row["proname"]}
    assert len(bodies) == 3
    for body in bodies:
        assert not re.search(r"/|\d\.\d", body)


def test_public_has_no_usage_of_the_schema(value):
    assert not value(
        "SELECT EXISTS (SELECT FROM pg_namespace, aclexplode(nspacl) WHERE nspname = 'pgchunk' AND grantee = 0)"
    )


@pytest.mark.parametrize(
    "relations",
    ["relnamespace = 'pgchunk'::regnamespace", "relnamespace = 'public'::regnamespace"],
    ids=["extension", "user"],
)
def test_every_relation_has_a_comment(rows, relations):
    query = f"FROM pg_class c WHERE {relations} AND relkind IN ('r', 'v', 'p')"
    assert len(rows(f"SELECT relname {query}")) >= 2
    assert rows(f"SELECT relname {query} AND obj_description(c.oid, 'pg_class') IS NULL") == []


def test_columns_have_comments(rows):
    uncommented = rows(
        "SELECT attrelid::regclass::text AS relation, attname FROM pg_attribute"
        " WHERE attrelid = ANY ('{pgchunk.strategies,pgchunk.collections,documents,chunks}'::regclass[])"
        " AND attnum > 0 AND col_description(attrelid, attnum) IS NULL"
    )
    assert {(row["relation"], row["attname"]) for row in uncommented} == {
        ("pgchunk.strategies", "name"),
        ("pgchunk.collections", "name"),
        ("documents", "id"),
        ("chunks", "id"),
        ("chunks", "document_id"),
    }


def test_schema_and_extension_have_comments(value):
    assert value("SELECT obj_description('pgchunk'::regnamespace, 'pg_namespace')")
    assert value("SELECT obj_description(oid, 'pg_extension') FROM pg_extension WHERE extname = 'pgchunk'")


def test_views_run_with_the_callers_rights(rows):
    views = rows("SELECT relname, reloptions FROM pg_class WHERE relkind = 'v' AND relname LIKE 'chunk%'")
    assert {row["relname"] for row in views} == {
        "chunk_quality",
        "chunk_histogram",
        "chunk_outliers",
        "chunk_coverage",
        "chunk_stale",
    }
    assert all(row["reloptions"] == ["security_invoker=true"] for row in views)


def test_user_tables_are_no_members(rows):
    members = rows(f"SELECT objid::regclass::text AS name FROM ({MEMBERS}) m WHERE classid = 'pg_class'::regclass")
    assert {row["name"] for row in members} == {"pgchunk.strategies", "pgchunk.recipes", "pgchunk.collections"}


def test_tables_of_the_extension_are_dumped(value):
    assert value("SELECT extconfig::regclass[]::text[] FROM pg_extension WHERE extname = 'pgchunk'") == [
        "pgchunk.strategies",
        "pgchunk.collections",
        "pgchunk.recipes",
    ]
