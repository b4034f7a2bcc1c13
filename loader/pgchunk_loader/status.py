"""What the database holds: documents, chunks, what is stale, missing or waits for an embedding, by strategy."""

from __future__ import annotations

import json
from typing import Any

from psycopg.rows import dict_row

from pgchunk_loader import queries
from pgchunk_loader.db import Connection, Database
from pgchunk_loader.report import Screen, plural, printable, table


async def status(database: Database) -> dict[str, Any]:
    """The counts of a collection, and the statements that mend what is stale or missing."""
    return await database.run(lambda connection: _status(connection, database))


async def _status(connection: Connection, database: Database) -> dict[str, Any]:
    compose = database.collection.compose
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(compose(queries.TOTALS), {})
        totals = await cursor.fetchone() or {}
        await cursor.execute(compose(queries.BY_STRATEGY), {})
        strategies = await cursor.fetchall()
    name = database.collection.name
    remedies = [_remedy(row, name) for row in strategies if row["stale"] or row["missing"]]
    for row in strategies:
        del row["is_gone"]
    sums = {key: sum(row[key] for row in strategies) for key in ("stale", "missing", "not_embedded")}
    return {"collection": name, **totals, **sums, "strategies": strategies, "remedies": remedies}


def _remedy(row: dict[str, Any], collection: str) -> str:
    """The statement after which nothing of a strategy is stale or missing."""
    strategy = literal(row["strategy"])
    if row["is_gone"]:
        return f"SELECT pgchunk.remove_chunks({strategy}, {literal(collection)})"
    return f"CALL pgchunk.rechunk({strategy}, collection => {literal(collection)})"


def literal(text: str) -> str:
    """A text as SQL takes it, for statements that a person is asked to run."""
    return "'" + text.replace("'", "''") + "'"


def show_status(found: dict[str, Any], screen: Screen) -> None:
    """Writes the counts for a person or a program."""
    if screen.as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    documents, chunks = plural(found["documents"], "document"), plural(found["chunks"], "chunk")
    print(f"collection {printable(found['collection'])}: {documents}, {chunks}")
    print(f"{found['stale']:,} stale, {found['not_embedded']:,} waiting for an embedding\n")
    table(found["strategies"])
    if found["missing"]:
        print("\nmissing: documents that have no chunks of a strategy that is active, or that they ask for")
    if found["stale"]:
        print("\nstale: chunks that were made when the strategy had other options, or whose strategy is gone")
    if found["remedies"]:
        print("\nAs the owner of the tables run:")
        for statement in found["remedies"]:
            print(f"  {printable(statement)};")
