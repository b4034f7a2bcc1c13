"""Messages of the mistakes that newcomers make: the thing that is wrong is named, and what to do."""

from __future__ import annotations

import psycopg
import pytest


def test_missing_content_is_named_and_not_what_follows_from_it(db):
    with pytest.raises(psycopg.errors.NotNullViolation) as caught:
        db.execute("INSERT INTO documents (source_uri, content) VALUES ('a', NULL)")
    assert caught.value.diag.column_name == "content"


def test_a_schema_that_is_not_there(refused):
    diagnostics = refused("3F000", "SELECT pgchunk.create_tables('No Such')")
    assert diagnostics.message_primary.endswith('schema "No Such" does not exist')
    assert 'CREATE SCHEMA "No Such"' in diagnostics.message_hint


def test_a_schema_in_which_the_caller_may_make_nothing(db, make_role, connect):
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}")
    db.execute("CREATE SCHEMA closed")
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        connect(user=role).execute("SELECT pgchunk.create_tables('closed')")
    assert "GRANT CREATE ON SCHEMA closed" in caught.value.diag.message_hint


def test_an_unknown_collection_hint_shows_how_one_is_named(refused):
    diagnostics = refused("MD008", "SELECT pgchunk.preview_document('x', collection => 'nope')")
    assert "collection => 'default'" in diagnostics.message_hint


def test_a_second_default_is_refused_by_a_constraint(refused):
    refused("23P01", "UPDATE pgchunk.strategies SET is_default = true WHERE name = 'sections'")


def test_switching_the_last_strategy_off_is_not_silent(db):
    notices: list[str] = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    db.execute("UPDATE pgchunk.strategies SET is_active = false")
    assert any("no strategy is active" in notice for notice in notices)
    notices.clear()
    db.execute("UPDATE pgchunk.strategies SET is_active = (name = 'sections')")
    assert not any("no strategy is active" in notice for notice in notices)
