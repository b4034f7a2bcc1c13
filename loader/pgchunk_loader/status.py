"""What the database holds: documents, chunks, what is stale and what waits for an embedding, by strategy."""

from __future__ import annotations

import json
from typing import Any

from psycopg.rows import dict_row

from pgchunk_loader import queries
from pgchunk_loader.db import Connection, Database
from pgchunk_loader.problems import UnusableError
from pgchunk_loader.report import Screen, plural, table


async def status(database: Database) -> dict[str, Any]:
    """The counts of a collection.

    Raises:
        UnusableError: this role may not read the chunks.
    """
    if not database.collection.may_select_chunks:
        raise UnusableError("this role may not read the chunk table", "Grant it SELECT on that table.")
    return await database.run(lambda connection: _status(connection, database))


async def _status(connection: Connection, database: Database) -> dict[str, Any]:
    compose = database.collection.compose
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(compose(queries.TOTALS), {})
        totals = await cursor.fetchone() or {}
        await cursor.execute(compose(queries.BY_STRATEGY), {})
        strategies = await cursor.fetchall()
    sums = {name: sum(row[name] for row in strategies) for name in ("stale", "not_embedded")}
    return {"collection": database.collection.name, **totals, **sums, "strategies": strategies}


def show_status(found: dict[str, Any], screen: Screen) -> None:
    """Writes the counts for a person or a program."""
    if screen.as_json:
        print(json.dumps(found, ensure_ascii=False, indent=2))
        return
    documents, chunks = plural(found["documents"], "document"), plural(found["chunks"], "chunk")
    print(f"collection {found['collection']}: {documents}, {chunks}")
    print(f"{found['stale']:,} stale, {found['not_embedded']:,} waiting for an embedding\n")
    table(found["strategies"])
