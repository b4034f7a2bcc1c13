"""The load: files are read in one thread, compared and written on several connections, batch by batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from rich.progress import Progress

from pgchunk.frontmatter import FrontMatterError
from pgchunk_loader import queries
from pgchunk_loader.db import Collection, Connection, Database, identifier, is_hopeless, is_lost, words
from pgchunk_loader.files import File, Source, batches
from pgchunk_loader.metadata import ROOT_KEY, STRATEGY_KEY, Json, metadata_of
from pgchunk_loader.problems import SkipError, UnusableError
from pgchunk_loader.report import Screen, printable

REFUSED: Final = "refused by the server"


@dataclass(slots=True)
class Batch:
    """Some files on their way into the database.

    Attributes:
        outcome: 'added' or 'changed' by source_uri, of what was written; when the connection is lost before
            the answer to COMMIT, the next attempt finds them unchanged, and they still count as written.
        refused: what the server said of a document, by source_uri.
        warnings: of front matter, by source_uri.
        keys: the primary keys of what was written, by source_uri.
        settled: whether all that is to be written is committed; then it counts, even if we are interrupted.
    """

    files: list[File]
    outcome: dict[str, str] = field(default_factory=dict)
    refused: dict[str, SkipError] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)
    settled: bool = False
    keys: dict[str, Any] = field(default_factory=dict)
    chunks: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Loading:
    """What a load needs everywhere.

    Attributes:
        strategy: a strategy's name for every document; None: what front matter or the database says.
        own_metadata: the metadata that every document of this load has beside its front matter.
        upsert: the statement that writes a document.
    """

    source: Source
    database: Database
    screen: Screen
    strategy: str | None = None
    own_metadata: dict[str, Json] = field(init=False)
    upsert: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own: dict[str, Json] = {STRATEGY_KEY: self.strategy, ROOT_KEY: self.source.root.base_url}
        object.__setattr__(self, "own_metadata", {key: value for key, value in own.items() if value is not None})
        object.__setattr__(self, "upsert", _upsert(self.database.collection))


async def load(loading: Loading, connections: int, bar: Progress | None) -> None:
    """Brings the database in step with the files; the report of the screen says what came of it.

    Raises:
        UnusableError: the server stays away, or no document can be stored at all.
    """
    screen = loading.screen
    if loading.strategy is not None:
        await loading.database.run(lambda connection: _check_strategy(connection, loading.strategy))
    if not loading.database.collection.may_select_chunks:
        screen.report.chunks = screen.report.tokens = None
    read = batches(loading.source.files(screen.leave_out, screen.skip))
    queue: asyncio.Queue[list[File] | None] = asyncio.Queue(maxsize=connections)
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(connections):
                group.create_task(_work(loading, queue, bar))
            await _feed(read, queue, connections)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _feed(read: Iterator[list[File]], queue: asyncio.Queue[list[File] | None], workers: int) -> None:
    while (files := await asyncio.to_thread(next, read, None)) is not None:
        await queue.put(files)
    for _ in range(workers):
        await queue.put(None)


async def _work(loading: Loading, queue: asyncio.Queue[list[File] | None], bar: Progress | None) -> None:
    while (files := await queue.get()) is not None:
        batch = Batch(files)
        try:
            await loading.database.run(partial(_write_batch, loading=loading, batch=batch))
        finally:
            if batch.settled:
                _count(loading.screen, batch)
                loading.screen.advance(bar)


def _count(screen: Screen, batch: Batch) -> None:
    report = screen.report
    for file in batch.files:
        if file.uri in batch.refused:
            screen.skip(file.relative, batch.refused[file.uri])
            continue
        outcome = batch.outcome.get(file.uri, "unchanged")
        setattr(report, outcome, getattr(report, outcome) + 1)
        if file.uri in batch.warnings:
            screen.warn(file.relative, batch.warnings[file.uri])
    if report.chunks is not None and report.tokens is not None:
        report.chunks += batch.chunks
        report.tokens += batch.tokens


async def _check_strategy(connection: Connection, strategy: str | None) -> None:
    rows = await (await connection.execute(queries.STRATEGY_NAMES)).fetchall()
    known = [name for (name,) in rows]
    if strategy not in known:
        raise UnusableError(f"there is no strategy {strategy!r}", f"The strategies are {', '.join(known)}.")


async def _write_batch(connection: Connection, loading: Loading, batch: Batch) -> None:
    """Writes what differs, and counts its chunks; one query finds out what does not differ."""
    stored = await _stored(connection, loading, [file.uri for file in batch.files])
    todo = [file for file in batch.files if not _is_equal(file, stored.get(file.uri), loading)]
    if todo:
        batch.refused.clear()
        batch.keys.clear()
        await _write_together(connection, loading, batch, todo, stored)
    batch.settled = True
    if batch.keys and loading.database.collection.may_select_chunks:
        batch.chunks, batch.tokens = await _chunk_totals(connection, loading, batch)


async def _write_together(
    connection: Connection,
    loading: Loading,
    batch: Batch,
    files: list[File],
    stored: dict[str, dict[str, Any]],
) -> None:
    """Writes files in one transaction, each in a savepoint.

    When it fails as late as COMMIT, by a deferred constraint, each file gets a transaction of its own to find
    whose fault it was.
    """
    try:
        async with connection.transaction():
            for file in files:
                await _write(connection, loading, batch, file, stored.get(file.uri))
    except psycopg.Error as error:
        if connection.broken or is_lost(error) or is_hopeless(error):
            raise
        if len(files) == 1:
            batch.keys.pop(files[0].uri, None)
            batch.refused[files[0].uri] = _refusal(error)
            return
        for file in files:
            await _write_together(connection, loading, batch, [file], stored)


async def _chunk_totals(connection: Connection, loading: Loading, batch: Batch) -> tuple[int, int]:
    """How many chunks the written documents have, and the tokens of their raw text."""
    query = loading.database.collection.compose(queries.CHUNK_TOTALS)
    row = await (await connection.execute(query, {"keys": list(batch.keys.values())})).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


async def _stored(connection: Connection, loading: Loading, uris: list[str]) -> dict[str, dict[str, Any]]:
    query = loading.database.collection.compose(queries.STORED)
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query, {"uris": uris})
        return {row["uri"]: row for row in await cursor.fetchall()}


def _is_equal(file: File, stored: dict[str, Any] | None, loading: Loading) -> bool:
    """Whether the database holds this file already, as this load would store it."""
    if stored is None or stored["content_hash"] != file.content_hash:
        return False
    if stored["format"] not in (None, file.format):
        return False
    metadata = stored["metadata"]
    if loading.database.collection.metadata_column is None:
        return True
    return isinstance(metadata, dict) and loading.own_metadata.items() <= metadata.items()


async def _write(
    connection: Connection, loading: Loading, batch: Batch, file: File, stored: dict[str, Any] | None
) -> None:
    try:
        metadata = metadata_of(file.text)
    except FrontMatterError as error:
        metadata = {}
        batch.warnings[file.uri] = f"front matter left out of the metadata: {error}"
    metadata |= loading.own_metadata
    gone = await _gone_keys(connection, loading, file, stored, metadata)
    values = {
        "uri": file.uri,
        "content": file.text,
        "format": file.format,
        "metadata": Jsonb(metadata),
        "gone": gone,
    }
    try:
        async with connection.transaction():
            row = await (await connection.execute(loading.upsert, values)).fetchone()
    except psycopg.Error as error:
        if connection.broken or is_lost(error) or is_hopeless(error):
            raise
        batch.refused[file.uri] = _refusal(error)
        return
    batch.outcome[file.uri] = batch.outcome.get(file.uri) or ("added" if stored is None else "changed")
    if row:
        batch.keys[file.uri] = row[0]


def _refusal(error: psycopg.Error) -> SkipError:
    message, hint = words(error)
    return SkipError(REFUSED, printable(message if hint is None else f"{message}; hint: {hint}"))


async def _gone_keys(
    connection: Connection,
    loading: Loading,
    file: File,
    stored: dict[str, Any] | None,
    metadata: dict[str, Json],
) -> list[str]:
    """Metadata keys that the stored text's front matter gave and the file's no longer gives.

    Only those are taken away: keys that were set in SQL stay.
    """
    if stored is None or not isinstance(stored["metadata"], dict):
        return []
    candidates = stored["metadata"].keys() - metadata.keys()
    if not candidates:
        return []
    query = loading.database.collection.compose(queries.STORED_CONTENT)
    row = await (await connection.execute(query, {"uri": file.uri})).fetchone()
    try:
        before = metadata_of(row[0]) if row else {}
    except FrontMatterError:
        return []
    return sorted(candidates & before.keys())


def _upsert(collection: Collection) -> bytes:
    columns = {"uri": collection.names["uri"], "content": collection.names["content"]}
    updates: list[sql.Composable] = [sql.SQL("{0} = EXCLUDED.{0}").format(columns["content"])]
    if collection.format_column:
        columns["format"] = identifier(collection.format_column)
        updates.append(sql.SQL("{0} = EXCLUDED.{0}").format(columns["format"]))
    if collection.metadata_column:
        columns["metadata"] = identifier(collection.metadata_column)
        updates.append(
            sql.SQL(
                "{0} = CASE jsonb_typeof(d.{0}) WHEN 'object'"
                " THEN (d.{0} - %(gone)s::text[]) || EXCLUDED.{0} ELSE EXCLUDED.{0} END"
            ).format(columns["metadata"])
        )
    return collection.compose(
        "INSERT INTO {documents} AS d ({columns}) VALUES ({values})"
        " ON CONFLICT ({uri}) DO UPDATE SET {updates} RETURNING d.{key}",
        columns=sql.SQL(", ").join(columns.values()),
        values=sql.SQL(", ").join(sql.Placeholder(name) for name in columns),
        updates=sql.SQL(", ").join(updates),
    )
