"""Writing the chunks of a document, so that an edit costs only what it changes.

New chunks are matched to stored ones of the same strategy by content_hash, in order. A matched row keeps its
id and its embedding, and is written only where a column differs; what no new chunk matches is deleted. A row
that is new takes over the embedding of an equal content anywhere in the table, the latest one: also of a row
that goes in the same statement.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pgchunk.chunker import Chunk, chunk
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row, array_literal
from pgchunk.strategy import Strategy

#: Columns that come from a Chunk: SQL type of the values handed over, and how they become the column.
_COLUMNS: Final = {
    "ordinal": ("integer", "{}"),
    "content": ("text", "{}"),
    "raw_content": ("text", "{}"),
    "raw_prefix": ("text", "{}"),
    "raw_suffix": ("text", "{}"),
    # An array of arrays must be rectangular, and these are not: each travels as a literal.
    "heading_path": ("text", "{}::pg_catalog.text[]"),
    "token_count": ("integer", "{}"),
    "content_token_count": ("integer", "{}"),
    "char_start": ("integer", "{}"),
    "char_end": ("integer", "{}"),
    "continuation": ("boolean", "{}"),
    "flags": ("text", "{}::pg_catalog.text[]"),
    "content_hash": ("text", "{}"),
    "recipe_hash": ("text", "{}"),
}
#: What may differ between chunks of one content_hash.
_MOVABLE: Final = [column for column in _COLUMNS if column not in ("content", "content_hash")]

#: Log events, by the flag that tells of them.
_EVENTS: Final = {"breadcrumb_truncated": (910, "breadcrumb truncated"), "merged": (911, "sections merged")}


@dataclass(slots=True)
class StoredChunks:
    """The stored chunks of one document and strategy."""

    #: ids by content_hash, by ordinal
    by_hash: defaultdict[str, deque[int]] = field(default_factory=lambda: defaultdict(deque))

    def take(self, content_hash: str) -> int | None:
        """The id of the first chunk of this hash that nothing was matched to yet."""
        ids = self.by_hash.get(content_hash)
        return ids.popleft() if ids else None

    def rest(self) -> list[int]:
        """Ids of the chunks that nothing was matched to."""
        return [one for ids in self.by_hash.values() for one in ids]


#: The stored chunks of a document by strategy.
Stored = dict[str, StoredChunks]


def stored(db: Database, collection: Collection, key: Any) -> Stored:
    """Reads what is stored for a document."""
    rows = db.fetch(
        f"SELECT id, strategy, content_hash FROM {collection.chunks} WHERE document_id = $1 ORDER BY strategy, ordinal",
        [collection.key_type],
        key,
    )
    found: Stored = defaultdict(StoredChunks)
    for row in rows:
        found[row["strategy"]].by_hash[row["content_hash"]].append(row["id"])
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """What turns the stored chunks of one document and strategy into those of its content."""

    strategy: str
    #: rows that stay, each with the chunk that it becomes
    kept: list[tuple[int, Chunk]]
    #: chunks without a row
    new: list[Chunk]
    #: ids of rows that no chunk matches
    gone: list[int]


def document(db: Database, collection: Collection, row: Row, strategies: Sequence[Strategy], stored: Stored) -> None:
    """Makes the stored chunks of a document those of its content.

    Args:
        row: the document.
        strategies: each gets its set of chunks.
        stored: what is stored for the document; sets of other strategies are deleted.

    Raises:
        PgchunkError: as pgchunk.chunk; nothing has been written then.
    """
    key = row[collection.key]
    changes = [Change(name, [], [], stored[name].rest()) for name in stored.keys() - {s.name for s in strategies}]
    for strategy in strategies:
        chunks = chunk_row(db, collection, row, strategy)
        _log_events(db, collection, key, strategy, chunks)
        changes.append(match(strategy, chunks, stored.get(strategy.name) or StoredChunks()))
    _write(db, collection, key, changes)


def match(strategy: Strategy, chunks: Iterable[Chunk], old: StoredChunks) -> Change:
    """Finds a row for each chunk that has one; takes what it finds out of ``old``."""
    kept: list[tuple[int, Chunk]] = []
    new: list[Chunk] = []
    for one in chunks:
        found = old.take(one.content_hash)
        if found is None:
            new.append(one)
        else:
            kept.append((found, one))
    return Change(strategy.name, kept, new, old.rest())


def chunk_row(db: Database, collection: Collection, row: Row, strategy: Strategy) -> list[Chunk]:
    """The chunks of a row of documents; none when its content is NULL."""
    return chunk(
        collection.text(row) or "",
        collection.title_of(row),
        strategy,
        format=collection.format_of(row),
        checkpoint=db.checkpoint,
    )


class _Parameters:
    """Values of a statement in the making, with their SQL types."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.values: list[Any] = []

    def add(self, sql_type: str, value: Any) -> str:
        """Takes a value and returns what stands for it in the statement."""
        self.types.append(sql_type)
        self.values.append(value)
        return f"${len(self.types)}"

    def table(self, columns: Mapping[str, tuple[str, list[Any]]]) -> str:
        """Takes arrays of one length, by name of column with SQL type; returns a table n of them with a row_number.

        The name unnest stays unqualified: only so does it take several arrays.
        """
        arrays = ", ".join(self.add(f"{sql_type}[]", values) for sql_type, values in columns.values())
        return f"unnest({arrays}) WITH ORDINALITY AS n ({', '.join(columns)}, row_number)"


def _write(db: Database, collection: Collection, key: Any, changes: Sequence[Change]) -> None:
    """Writes all changes of a document in one statement.

    Its parts see the table as it was before: an embedding can be taken over from a row that goes. No two rows
    have one ordinal when it ends, which is when the constraint looks.
    """
    values = _Parameters()
    parts = []
    if gone := [one for change in changes for one in change.gone]:
        parts.append(f"DELETE FROM {collection.chunks} WHERE id = ANY ({values.add('bigint[]', gone)})")
    if kept := [pair for change in changes for pair in change.kept]:
        parts.append(_update(collection, kept, values))
    if new := [(change.strategy, one) for change in changes for one in change.new]:
        parts.append(_insert(collection, key, new, values))
    if not parts:
        return
    *before, last = parts
    named = ", ".join(f"part{place} AS ({part})" for place, part in enumerate(before))
    db.fetch(f"WITH {named} {last}" if named else last, values.types, *values.values)


def _update(collection: Collection, kept: Sequence[tuple[int, Chunk]], values: _Parameters) -> str:
    """Writes the matched rows that differ from their new chunk."""
    ids = {"id": ("bigint", [one for one, _ in kept])}
    table = values.table(ids | _arrays(_MOVABLE, [one for _, one in kept]))
    old = ", ".join(f"c.{column}" for column in _MOVABLE)
    new = ", ".join(_COLUMNS[column][1].format(f"n.{column}") for column in _MOVABLE)
    return (
        f"UPDATE {collection.chunks} AS c SET ({', '.join(_MOVABLE)}) = ROW ({new}) FROM {table}"
        f" WHERE c.id = n.id AND ({old}) IS DISTINCT FROM ({new})"
    )


def _insert(collection: Collection, key: Any, new: Sequence[tuple[str, Chunk]], values: _Parameters) -> str:
    """Inserts chunks, each under the name of its strategy."""
    document_id = values.add(collection.key_type, key)
    strategy = {"strategy": ("text", [name for name, _ in new])}
    table = values.table(strategy | _arrays(_COLUMNS, [one for _, one in new]))
    chunk_values = ", ".join(value.format(f"n.{column}") for column, (_, value) in _COLUMNS.items())
    # The partial index on content_hash and embedded_at answers this with one row, however many are equal.
    embedded = (
        f"SELECT c.embedding, c.embedding_model, c.embedded_at FROM {collection.chunks} AS c"
        " WHERE c.content_hash = n.content_hash AND c.embedding IS NOT NULL"
        " ORDER BY c.embedded_at DESC NULLS LAST LIMIT 1"
    )
    return (
        f"INSERT INTO {collection.chunks}"
        f" (document_id, strategy, {', '.join(_COLUMNS)}, embedding, embedding_model, embedded_at)"
        f" SELECT {document_id}, n.strategy, {chunk_values}, e.embedding, e.embedding_model, e.embedded_at"
        f" FROM {table} LEFT JOIN LATERAL ({embedded}) AS e ON true ORDER BY n.row_number"
    )


def _arrays(columns: Iterable[str], chunks: Sequence[Chunk]) -> dict[str, tuple[str, list[Any]]]:
    return {column: (_COLUMNS[column][0], [_value(getattr(one, column)) for one in chunks]) for column in columns}


def _value(value: Any) -> Any:
    return array_literal(value) if isinstance(value, tuple) else value


def _log_events(db: Database, collection: Collection, key: Any, strategy: Strategy, chunks: Sequence[Chunk]) -> None:
    """One line for each kind of event; documents can be told apart by their key."""
    for flag, (event, what) in _EVENTS.items():
        count = sum(flag in one.flags for one in chunks)
        if count:
            place = f"document {key} of collection {collection.name}, strategy {strategy.name}"
            db.debug1(f"pgchunk event {event}: {what} in {count} of {len(chunks)} chunks; {place}")
