"""Short forms for what the tests of the SQL surface do all the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, LiteralString, cast

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row

Db = psycopg.Connection[Any]
Row = dict[str, Any]

GUIDE = """\
# Guide

{opening}

## Install

{install}

## Use

{use}

## Remove

{remove}
"""
PARTS = ("opening", "install", "use", "remove")
LONG = "This sentence is here to make the part long enough to stand on its own, number {}. "


@pytest.fixture
def rows(db: Db) -> Callable[..., list[Row]]:
    """rows(query, *values): the rows as dicts."""

    def run(query: str, *values: object) -> list[Row]:
        with db.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(cast(LiteralString, query), values or None).fetchall()

    return run


@pytest.fixture
def value(db: Db) -> Callable[..., Any]:
    """value(query, *values): the first column of the only row."""

    def run(query: str, *values: object) -> Any:
        found = db.execute(cast(LiteralString, query), values or None).fetchall()
        assert len(found) == 1, found
        return found[0][0]

    return run


@pytest.fixture
def insert(db: Db) -> Callable[..., int]:
    """insert(source_uri, content, **columns): the id of the new document."""

    def run(source_uri: str, content: str, **columns: object) -> int:
        given = {"source_uri": source_uri, "content": content, **columns}
        query = sql.SQL("INSERT INTO documents ({}) VALUES ({}) RETURNING id").format(
            sql.SQL(", ").join(map(sql.Identifier, given)), sql.SQL(", ").join(sql.Placeholder() * len(given))
        )
        row = db.execute(query, list(given.values())).fetchone()
        assert row is not None
        return int(row[0])

    return run


@pytest.fixture
def chunks_of(rows: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
    """chunks_of(document_id, strategy='default'): its chunks by ordinal, with xmin as version."""

    def run(document_id: int, strategy: str = "default") -> list[Row]:
        return rows(
            "SELECT xmin::text AS version, * FROM chunks WHERE document_id = %s AND strategy = %s ORDER BY ordinal",
            document_id,
            strategy,
        )

    return run


@pytest.fixture
def guide() -> Callable[..., str]:
    """guide(install=..., use=..., remove=...): a document whose four parts each make a chunk."""

    def make(**parts: str) -> str:
        texts = {name: "".join(LONG.format(f"{name} {n}") for n in range(8)) for name in PARTS}
        return GUIDE.format(**(texts | parts))

    return make


@pytest.fixture
def refused(db: Db) -> Callable[..., psycopg.errors.Diagnostic]:
    """refused(sqlstate, query, *values): runs a query that must fail with this SQLSTATE; its diagnostics."""

    def run(sqlstate: str, query: str, values: Sequence[object] = ()) -> psycopg.errors.Diagnostic:
        with pytest.raises(psycopg.Error) as caught:
            db.execute(cast(LiteralString, query), values or None)
        assert caught.value.sqlstate == sqlstate, caught.value
        return caught.value.diag

    return run


@pytest.fixture
def problems(rows: Callable[..., list[Row]]) -> Callable[..., list[str]]:
    """problems(): all that chunk_coverage has to say."""

    def run() -> list[str]:
        found = rows("SELECT source_uri, ok, problems FROM chunk_coverage")
        assert all(row["ok"] != bool(row["problems"]) for row in found)
        return [f"{row['source_uri']}: {problem}" for row in found for problem in row["problems"]]

    return run
