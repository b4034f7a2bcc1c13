"""Pruning: documents of a root whose file is gone leave the database; nothing of another root does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from psycopg import sql

from pgchunk_loader import queries
from pgchunk_loader.db import Connection, Database
from pgchunk_loader.metadata import ROOT_KEY
from pgchunk_loader.problems import UnusableError
from pgchunk_loader.roots import Root

#: Above this share of the root's documents a person is asked first.
ASK_ABOVE: Final = 0.2
DELETE_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class Prunable:
    """What a prune would delete.

    Attributes:
        uris: documents whose file is gone.
        of: how many documents the root has in the database.
    """

    uris: list[str]
    of: int

    @property
    def needs_consent(self) -> bool:
        """Whether so much would go that the directory may be the wrong one, or not mounted."""
        return len(self.uris) > ASK_ABOVE * self.of


def check_can_prune(database: Database, root: Root) -> None:
    """Refuses before anything is written.

    Raises:
        UnusableError: the documents do not say which base URL they came from.
    """
    if root.base_url is not None and database.collection.metadata_column is None:
        raise UnusableError(
            "with --base-url, --prune needs the documents' metadata column, which records the root",
            "Load by path, or without --prune.",
        )


async def find_gone(database: Database, root: Root) -> Prunable:
    """The documents of a root whose file is gone; their names are streamed, not held."""
    return await database.run(lambda connection: _find_gone(connection, database, root))


async def _find_gone(connection: Connection, database: Database, root: Root) -> Prunable:
    of_root: sql.Composable = sql.SQL("true")
    if root.base_url is not None:
        # Another directory may have been loaded below this base URL: only what came from here is ours.
        of_root = sql.SQL("{} ->> %(key)s = %(root)s").format(database.collection.names["metadata"])
    query = database.collection.compose(queries.BELOW_ROOT, of_root=of_root)
    gone, total = [], 0
    async with connection.transaction(), connection.cursor(name="pgchunk_below_root") as cursor:
        await cursor.execute(query, {"prefix": root.prefix, "key": ROOT_KEY, "root": root.base_url})
        async for (uri,) in cursor:
            total += 1
            if root.is_gone(uri):
                gone.append(uri)
    return Prunable(gone, total)


async def delete_gone(database: Database, root: Root, uris: list[str]) -> int:
    """Deletes documents; their chunks go with them. A file that has come back in between keeps its document.

    Returns:
        How many documents were deleted.
    """
    query = database.collection.compose(queries.DELETE)
    deleted = 0
    for start in range(0, len(uris), DELETE_AT_ONCE):
        some = [uri for uri in uris[start : start + DELETE_AT_ONCE] if root.is_gone(uri)]

        async def work(connection: Connection, some: list[str] = some) -> int:
            return (await connection.execute(query, {"uris": some})).rowcount

        deleted += await database.run(work)
    return deleted
