"""What is inspected, from a database: a document with the chunks that are stored, or that it would get."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from pgchunk import Chunk, Strategy
from pgchunk.errors import PgchunkError
from pgchunk.strategy import OPTION_NAMES
from pgchunk_loader import queries
from pgchunk_loader.db import Connection, Database
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.sources import checked
from pgchunk_loader.inspect.wanted import Wanted
from pgchunk_loader.plan import unusable
from pgchunk_loader.problems import UnusableError
from pgchunk_loader.status import literal

Row = dict[str, Any]
_COLUMNS: Final = tuple(field.name for field in fields(Chunk))


async def from_database(database: Database, name: str, wanted: Sequence[Wanted]) -> tuple[Document, list[Cut]]:
    """A document of the database and its chunks by each strategy, all of one moment.

    Args:
        name: its source_uri or, where no document has that, its key.

    Raises:
        UnusableError: there is no such document or strategy, an option is wrong, or the server refuses.
    """
    return await database.run(lambda connection: _Reader(connection, database).read(name, wanted))


class _Reader:
    """Reads on one connection, in one transaction."""

    def __init__(self, connection: Connection, database: Database) -> None:
        self._connection = connection
        self._collection = database.collection

    async def read(self, name: str, wanted: Sequence[Wanted]) -> tuple[Document, list[Cut]]:
        async with self._connection.transaction():
            await self._rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            row = await self._document(name)
            document = Document(row["content"] or "", row["title"] or "", row["uri"], row["format"] or "markdown")
            return document, [await self._cut(document, row, each) for each in wanted]

    async def _rows(self, query: str | bytes, **parameters: Any) -> list[Row]:
        async with self._connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(query.encode() if isinstance(query, str) else query, parameters)
            return await cursor.fetchall() if cursor.description else []

    async def _document(self, name: str) -> Row:
        compose = self._collection.compose
        by_uri = compose(queries.DOCUMENT, by=self._collection.names["uri"])
        found = await self._rows(by_uri, document=name)
        if not found:
            try:
                async with self._connection.transaction():
                    by_key = compose(queries.DOCUMENT, by=self._collection.names["key"])
                    found = await self._rows(by_key, document=name)
            except psycopg.DataError:  # it does not look like a key
                pass
        if not found:
            raise UnusableError(
                f"there is no document {name!r} in collection {self._collection.name!r}",
                "Give the source_uri or the key of a document that your role may read.",
            )
        return found[0]

    async def _cut(self, document: Document, row: Row, wanted: Wanted) -> Cut:
        strategy, settings = await self._strategy(row, wanted)
        stored = [] if wanted.overrides else await self._stored(row["key"], strategy.name)
        if not stored:
            return await self._previewed(document, strategy, wanted, changed=bool(wanted.overrides))
        chunks = [_chunk(each) for each in stored]
        now = settings["recipe_hash"] if settings else None
        made_with, notes = await self._recipe(strategy, chunks, now)
        return Cut(
            made_with,
            chunks,
            "stored chunks",
            facts={each["ordinal"]: _facts(each, now) for each in stored},
            notes=notes,
            problems=checked(document, made_with, chunks),
        )

    async def _strategy(self, row: Row, wanted: Wanted) -> tuple[Strategy, Row | None]:
        """The strategy with its options changed, and its row; no row when it is gone and only its chunks are left."""
        known = {each["name"]: each for each in await self._rows(queries.STRATEGIES)}
        name = wanted.name or row["choice"] or next((each for each in known if known[each]["is_default"]), "default")
        if name not in known:
            if await self._stored(row["key"], name) and not wanted.overrides:
                return Strategy(name=name), None
            raise UnusableError(f"there is no strategy {name!r}", f"The strategies are {', '.join(map(repr, known))}.")
        options = {key: value for key, value in known[name].items() if key in OPTION_NAMES}
        try:
            return Strategy.from_mapping(name, options).with_overrides(**wanted.overrides), known[name]
        except PgchunkError as error:
            raise unusable(error) from error

    async def _stored(self, key: Any, strategy: str) -> list[Row]:
        query = self._collection.compose(queries.STORED_CHUNKS)
        return await self._rows(query, key=str(key), strategy=strategy)

    async def _recipe(self, strategy: Strategy, chunks: Sequence[Chunk], now: str | None) -> tuple[Strategy, list[str]]:
        """What stored chunks were made with, and what to say about it: not always what the strategy is now."""
        hashes = {each.recipe_hash for each in chunks}
        if hashes == {now}:
            return strategy, []
        stale = sum(each.recipe_hash != now for each in chunks)
        remedy = f"CALL pgchunk.rechunk({literal(strategy.name)}, collection => {literal(self._collection.name)})"
        if now is None:
            remedy = f"SELECT pgchunk.remove_chunks({literal(strategy.name)}, {literal(self._collection.name)})"
        why = "its strategy is gone" if now is None else "the strategy has other options now"
        notes = [f"stale: {stale:,} of {len(chunks):,} chunks; {why}. {remedy} mends that."]
        found = await self._rows(queries.RECIPE, recipe_hash=min(hashes)) if len(hashes) == 1 else []
        try:
            made_with = Strategy.from_mapping(strategy.name, found[0]["options"]) if found else strategy
        except PgchunkError:  # written by a later version
            made_with = strategy
        if made_with is not strategy:
            notes.append("The settings shown are those that the chunks were made with.")
        return made_with, notes

    async def _previewed(self, document: Document, strategy: Strategy, wanted: Wanted, *, changed: bool) -> Cut:
        rows = await self._rows(
            queries.PREVIEW,
            document=document.source,
            strategy=strategy.name,
            overrides=json.dumps(wanted.overrides),
            collection=self._collection.name,
        )
        chunks = [_chunk(each) for each in rows]
        origin = "preview with options changed, not stored" if changed else "preview: no chunks of it are stored"
        return Cut(
            strategy,
            chunks,
            origin,
            frozenset(wanted.overrides),
            problems=checked(document, strategy, chunks),
        )


def _chunk(row: Mapping[str, Any]) -> Chunk:
    values: Row = {name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in _COLUMNS}
    return Chunk(**values)


def _facts(row: Mapping[str, Any], now: str | None) -> dict[str, str]:
    facts = {"id": str(row["id"])}
    if row["is_embedded"]:
        when = f", {row['embedded_at']:%Y-%m-%d %H:%M}" if row["embedded_at"] else ""
        facts["embedding"] = f"{row['embedding_model'] or 'of an unnamed model'}{when}"
    else:
        facts["embedding"] = "none yet"
    if row["recipe_hash"] != now:
        facts["stale"] = "made by another recipe than the strategy's current one"
    return facts
