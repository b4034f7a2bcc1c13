"""One who owns a schema and tables, but has no rights on ours, gets no byte written or read through pgchunk."""

from __future__ import annotations

import json

import psycopg
import pytest

COLUMNS = json.dumps(
    {
        "key_column": "id",
        "content_column": "content",
        "title_column": "title",
        "uri_column": "source_uri",
        "format_column": "format",
        "metadata_column": "metadata",
        "hash_column": "content_hash",
        "updated_column": "updated_at",
    }
)


@pytest.fixture
def attacker(db, role):
    """A role with a schema and a pair of tables of its own, and USAGE on pgchunk."""
    name, connection = role("GRANT USAGE ON SCHEMA pgchunk TO {}", "CREATE SCHEMA evil AUTHORIZATION {}")
    connection.execute("SELECT pgchunk.create_tables('evil', 3)")
    db.execute("INSERT INTO public.documents (source_uri, content) VALUES ('secret', 'the secret text')")
    return name, connection


def state(db):
    """Everything of ours that the attacker might change."""
    return [
        db.execute(query).fetchall()
        for query in (
            "SELECT * FROM public.documents ORDER BY id",
            "SELECT * FROM public.chunks ORDER BY id",
            "SELECT * FROM pgchunk.strategies ORDER BY name",
            "SELECT * FROM pgchunk.collections WHERE documents::text NOT LIKE 'evil.%' ORDER BY name",
            "SELECT oid, proname, proowner, prosrc, proacl::text FROM pg_proc"
            " WHERE pronamespace IN ('public'::regnamespace, 'pgchunk'::regnamespace) ORDER BY 1",
            "SELECT tgname, tgrelid, tgfoid FROM pg_trigger WHERE tgrelid::regclass::text !~ '^evil' ORDER BY 1, 2",
        )
    ]


def refused(connection, statement, *sqlstates):
    with pytest.raises(psycopg.Error) as caught:
        connection.execute(statement)
    assert caught.value.sqlstate in sqlstates, caught.value


# Registering what one does not own


@pytest.mark.parametrize(
    "pair",
    [
        "'public.documents', 'public.chunks'",
        "'evil.documents', 'public.chunks'",
        "'public.documents', 'evil.chunks'",
        "'evil.other', 'public.chunks'",
        "'pgchunk.strategies', 'pgchunk.collections'",
    ],
)
def test_a_pair_of_others_is_not_registered(db, attacker, pair):
    _, connection = attacker
    connection.execute("CREATE TABLE evil.other (LIKE evil.documents)")
    before = state(db)
    refused(connection, f"SELECT pgchunk._adopt({pair}, 'stolen', '{COLUMNS}')", "42501")
    assert state(db) == before


@pytest.mark.parametrize(
    "command", ["REINDEX INDEX evil.trap", "ANALYZE evil.bait", "REFRESH MATERIALIZED VIEW evil.view"]
)
def test_a_superusers_maintenance_lends_no_rights(db, attacker, command):
    """An expression that a superuser's command evaluates runs as the tables' owner, in a superuser's session."""
    name, connection = attacker
    connection.execute(
        f"""
        CREATE TABLE evil.tries (what text);
        CREATE FUNCTION evil.try() RETURNS void LANGUAGE plpgsql AS $f$ BEGIN
            PERFORM pgchunk._adopt('public.documents', 'public.chunks', 'stolen', '{COLUMNS}');
            INSERT INTO evil.tries VALUES ('adopted');
        EXCEPTION WHEN OTHERS THEN INSERT INTO evil.tries VALUES (SQLSTATE);
        END $f$;
        CREATE FUNCTION evil.f(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $f$ BEGIN
            IF session_user <> '{name}' THEN PERFORM evil.try(); END IF;
            RETURN n;
        END $f$;
        CREATE TABLE evil.bait AS SELECT n FROM generate_series(1, 3) AS n;
        CREATE INDEX trap ON evil.bait (evil.f(n));
        CREATE MATERIALIZED VIEW evil.view AS SELECT evil.f(n) FROM evil.bait
        """
    )
    db.execute("DELETE FROM pgchunk.collections WHERE name = 'default'")  # so that the pair is free to be taken
    before = state(db)
    db.execute(command)
    assert {row[0] for row in db.execute("SELECT * FROM evil.tries")} == {"42501"}
    assert state(db) == before


def test_a_consent_holds_for_what_it_says_only(db, attacker):
    """What the owner consents to, another may ask for, but nothing else; and it holds once."""
    _, connection = attacker
    connection.execute("SELECT pgchunk.upgrade_tables('evil')")
    assert connection.execute("SELECT to_regproc('evil.documents_pgchunk_consent')").fetchone() == (None,)
    connection.execute(
        "CREATE FUNCTION evil.documents_pgchunk_consent() RETURNS text LANGUAGE sql AS $$SELECT 'anything'$$"
    )
    refused(connection, f"SELECT pgchunk._adopt('evil.documents', 'evil.chunks', 'x', '{COLUMNS}')", "42501")


# Our functions on their tables


@pytest.mark.parametrize("handler", ["before", "after"])
def test_our_trigger_functions_do_not_fire_for_others(attacker, handler):
    _, connection = attacker
    function = f"public.documents_pgchunk_{handler}()"
    for time in ("BEFORE", "AFTER"):
        trigger = f"CREATE TRIGGER steal {time} INSERT ON evil.documents FOR EACH ROW EXECUTE FUNCTION {function}"
        refused(connection, trigger, "42501")
    refused(connection, f"SELECT {function}", "42501", "0A000")


def test_a_partition_or_child_of_ours_cannot_be_made(db, attacker):
    _, connection = attacker
    refused(connection, "CREATE TABLE evil.child () INHERITS (public.documents)", "42501")
    refused(connection, "ALTER TABLE evil.documents INHERIT public.documents", "42501")


def test_views_and_previews_read_nothing(attacker):
    _, connection = attacker
    for statement in (
        "SELECT * FROM pgchunk.preview_document('secret', collection => 'default')",
        "SELECT * FROM pgchunk.preview_document(1, collection => 'default')",
        "SELECT * FROM public.chunk_coverage",
        "CREATE VIEW evil.peep AS SELECT * FROM public.chunks; SELECT * FROM evil.peep",
    ):
        refused(connection, statement, "42501")


def test_columns_that_are_queries_stay_names(db, attacker):
    """A registered column name is quoted wherever it is used."""
    _, connection = attacker
    hostile = 'content" FROM public.documents; SELECT $$x$$ AS "'
    connection.execute(
        f"CREATE TABLE evil.papers (id bigint PRIMARY KEY, content text, "
        f'"{hostile.replace(chr(34), chr(34) * 2)}" text); CREATE TABLE evil.bits (LIKE evil.chunks)'
    )
    columns = json.dumps({"key_column": "id", "content_column": hostile}).replace("'", "''")
    refused(connection, f"SELECT pgchunk._adopt('evil.papers', 'evil.bits', 'x', '{columns}')", "42501")


def test_a_trigger_on_chunks_has_the_rights_of_their_owner(db, attacker):
    """Also when it is a superuser's write that fires it."""
    _, connection = attacker
    connection.execute(
        "CREATE FUNCTION evil.grab() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " NEW.raw_content := (SELECT string_agg(content, '') FROM public.documents); RETURN NEW; END $$;"
        "CREATE TRIGGER grab BEFORE INSERT ON evil.chunks FOR EACH ROW EXECUTE FUNCTION evil.grab()"
    )
    refused(db, "INSERT INTO evil.documents (source_uri, content) VALUES ('a', 'x')", "42501")


# Disturbing others


def test_a_second_collection_does_not_disturb_calls_without_a_name(db, attacker):
    assert db.execute("SELECT count(*) FROM pgchunk.preview_document('secret')").fetchone() == (1,)


def test_a_name_that_is_taken_keeps_nobody_from_having_tables(db, attacker, role):
    """The attacker registers a pair under the name that another's schema would give."""
    _, connection = attacker
    connection.execute(
        "CREATE TABLE evil.squat (LIKE evil.documents INCLUDING ALL);"
        "CREATE TABLE evil.squats (LIKE evil.chunks INCLUDING ALL)"
    )
    db.execute("UPDATE pgchunk.collections SET name = 'app' WHERE name = 'evil'")
    _, other = role("GRANT USAGE ON SCHEMA pgchunk TO {}", "CREATE SCHEMA app AUTHORIZATION {}")
    assert other.execute("SELECT pgchunk.create_tables('app', 3)").fetchone() == ("app_2",)
    assert other.execute("SELECT pgchunk.create_tables('app', 3)").fetchone() == ("app_2",)
    other.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', 'x')")
    assert other.execute("SELECT ok FROM app.chunk_coverage").fetchone() == (True,)


def test_what_is_the_extensions_cannot_be_changed(attacker):
    _, connection = attacker
    for statement in (
        "INSERT INTO pgchunk.strategies (name) VALUES ('evil')",
        "UPDATE pgchunk.strategies SET is_active = true",
        "DELETE FROM pgchunk.collections",
        "SELECT pgchunk._ship_strategies()",
        "CREATE TABLE pgchunk.evil ()",
        "CREATE OR REPLACE FUNCTION pgchunk.outline(content text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER EXTENSION pgchunk UPDATE",
        "DROP EXTENSION pgchunk CASCADE",
    ):
        refused(connection, statement, "42501")
