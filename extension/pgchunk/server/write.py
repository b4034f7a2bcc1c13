"""Writing the chunks of a document, so that an edit costs only what it changes.

New chunks are matched to stored ones of the same strategy by content_hash, in order. A matched row keeps its
id and its embedding, and is written only where a column differs; what no new chunk matches is deleted.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
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


def document(db: Database, collection: Collection, row: Row, strategies: Sequence[Strategy], stored: Stored) -> None:
    """Makes the stored chunks of a document those of its content.

    Args:
        row: the document.
        strategies: each gets its set of chunks.
        stored: what is stored for the document; sets of other strategies are deleted.
    """
    key = row[collection.key]
    stale: list[int] = [one for name in stored.keys() - {s.name for s in strategies} for one in stored[name].rest()]
    _delete(db, collection, stale)
    for strategy in strategies:
        chunks = chunk_row(db, collection, row, strategy)
        _log_events(db, collection, key, strategy, chunks)
        _replace(db, collection, key, strategy, chunks, stored.get(strategy.name) or StoredChunks())


def chunk_row(db: Database, collection: Collection, row: Row, strategy: Strategy) -> list[Chunk]:
    """The chunks of a row of documents; none when its content is NULL."""
    return chunk(
        collection.text(row) or "",
        collection.title_of(row),
        strategy,
        format=collection.format_of(row),
        checkpoint=db.checkpoint,
    )


def _replace(
    db: Database,
    collection: Collection,
    key: Any,
    strategy: Strategy,
    chunks: Iterable[Chunk],
    old: StoredChunks,
) -> None:
    kept: list[tuple[int, Chunk]] = []
    new: list[Chunk] = []
    for one in chunks:
        match = old.take(one.content_hash)
        if match is None:
            new.append(one)
        else:
            kept.append((match, one))
    # In this order no two rows have one ordinal when a statement ends, which is when the constraint looks.
    _delete(db, collection, old.rest())
    _move(db, collection, kept)
    _insert(db, collection, key, strategy, new)


def _delete(db: Database, collection: Collection, ids: list[int]) -> None:
    if ids:
        db.fetch(f"DELETE FROM {collection.chunks} WHERE id = ANY ($1)", ["bigint[]"], ids)


def _move(db: Database, collection: Collection, kept: Sequence[tuple[int, Chunk]]) -> None:
    """Writes the matched rows that differ from their new chunk."""
    if not kept:
        return
    names = ", ".join(_MOVABLE)
    old = ", ".join(f"c.{column}" for column in _MOVABLE)
    new = ", ".join(_COLUMNS[column][1].format(f"n.{column}") for column in _MOVABLE)
    db.fetch(
        f"UPDATE {collection.chunks} AS c SET ({names}) = ROW ({new}) FROM {_unnest(['id', *_MOVABLE], 1)}"
        f" WHERE c.id = n.id AND ({old}) IS DISTINCT FROM ({new})",
        ["bigint[]", *_types(_MOVABLE)],
        [one for one, _ in kept],
        *_arrays(_MOVABLE, [one for _, one in kept]),
    )


def _insert(db: Database, collection: Collection, key: Any, strategy: Strategy, chunks: Sequence[Chunk]) -> None:
    if not chunks:
        return
    names = ", ".join(_COLUMNS)
    values = ", ".join(value.format(f"n.{column}") for column, (_, value) in _COLUMNS.items())
    db.fetch(
        f"INSERT INTO {collection.chunks} (document_id, strategy, {names})"
        f" SELECT $1, $2, {values} FROM {_unnest(list(_COLUMNS), 3)} ORDER BY n.row_number",
        [collection.key_type, "text", *_types(_COLUMNS)],
        key,
        strategy.name,
        *_arrays(_COLUMNS, chunks),
    )


def _unnest(columns: Sequence[str], first: int) -> str:
    """Arrays in parameters from ``first`` on, as a table n with a column for each and a row_number.

    The name stays unqualified: only so does unnest take several arrays.
    """
    arrays = ", ".join(f"${first + place}" for place in range(len(columns)))
    return f"unnest({arrays}) WITH ORDINALITY AS n ({', '.join(columns)}, row_number)"


def _types(columns: Iterable[str]) -> list[str]:
    return [_COLUMNS[column][0] + "[]" for column in columns]


def _arrays(columns: Iterable[str], chunks: Sequence[Chunk]) -> list[list[Any]]:
    return [[_value(getattr(one, column)) for one in chunks] for column in columns]


def _value(value: Any) -> Any:
    return array_literal(value) if isinstance(value, tuple) else value


def _log_events(db: Database, collection: Collection, key: Any, strategy: Strategy, chunks: Sequence[Chunk]) -> None:
    """One line for each kind of event; documents can be told apart by their key."""
    for flag, (event, what) in _EVENTS.items():
        count = sum(flag in one.flags for one in chunks)
        if count:
            place = f"document {key} of collection {collection.name}, strategy {strategy.name}"
            db.debug1(f"pgchunk event {event}: {what} in {count} of {len(chunks)} chunks; {place}")
