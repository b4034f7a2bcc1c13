"""What tests/conftest.py promises to every other test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

Database = psycopg.Connection[Any]


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_has_a_database_of_its_own(db: Database, turn: int) -> None:
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('same', 'text')")
    assert db.execute("SELECT count(*) FROM documents").fetchone() == (1,)
    assert db.execute("SELECT count(*) FROM pg_extension WHERE extname = 'pgchunk'").fetchone() == (1,)


def test_the_empty_database_has_no_extension(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as db:
        assert db.execute("SELECT count(*) FROM pg_extension WHERE extname = 'pgchunk'").fetchone() == (0,)


def test_a_role_may_log_in_and_own_things_and_is_dropped(
    make_role: Callable[..., str], connect: Callable[..., Database], db: Database
) -> None:
    name = make_role()
    db.execute(f"CREATE SCHEMA theirs AUTHORIZATION {name}")
    theirs = connect(user=name, password=name)
    theirs.execute("CREATE TABLE theirs.t ()")
    assert theirs.execute("SELECT current_user, usesuper FROM pg_user WHERE usename = current_user").fetchone() == (
        name,
        False,
    )


def test_connections_of_a_test_see_the_same_database(connect: Callable[..., Database], db: Database) -> None:
    other = connect(autocommit=False)
    assert other.info.dbname == db.info.dbname
    assert (other.autocommit, db.autocommit) == (False, True)


def test_psql_runs_on_the_tests_database(psql: Callable[..., str], db: Database) -> None:
    assert psql("-Atc", "SELECT current_database()").strip() == db.info.dbname
    with pytest.raises(AssertionError, match="division by zero"):
        psql("-c", "SELECT 1/0")
