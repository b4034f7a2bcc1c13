"""Functions that only look: previews, outlines and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final, Literal

from pgchunk.chunker import Chunk, chunk
from pgchunk.chunker import outline as core_outline
from pgchunk.errors import UnknownDocument
from pgchunk.server import collections, strategies, write
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import MissingColumn, reported
from pgchunk.tokenizers import count_tokens as core_count_tokens

_COLUMNS: Final = [field.name for field in fields(Chunk)]
#: A row of a set: values in the order of the columns.
Values = list[Any]


@reported
def count_tokens(_db: Database, content: str, tokenizer: str) -> int:
    """Tokens of a text."""
    return core_count_tokens(content, tokenizer)


@reported
def outline(_db: Database, content: str) -> list[Values]:
    """The headings of a markdown document: level, title, char_start, char_end."""
    return [[h.level, h.title, h.char_start, h.char_end] for h in core_outline(content)]


@reported
def preview(
    db: Database,
    content: str | None,
    title: str | None,
    strategy: str | None,
    overrides: str | None,
    format: str | None,
) -> list[Values]:
    """The chunks that a text would get; none for NULL.

    Raises:
        PgchunkError: as pgchunk.chunk, and UnknownStrategy for a name without a row in pgchunk.strategies.
    """
    chosen = strategies.chosen(db, strategy, overrides)
    chunks = chunk(content or "", title, chosen, format=format or "markdown", checkpoint=db.checkpoint)
    return _rows(chunks)


@reported
def preview_document(
    db: Database,
    by: Literal["key", "uri"],
    document: int | str | None,
    strategy: str | None,
    overrides: str | None,
    collection: str | None,
) -> list[Values]:
    """The chunks that a stored document would get; none for NULL.

    Args:
        by: whether ``document`` is a key or a source_uri.
        strategy: None: the one that the document's metadata picks, or else the default.

    Raises:
        UnknownDocument: there is none, or none that the caller may see.
    """
    pair = collections.named(db, collection)
    if document is None:
        return []
    row = _document(db, pair, by, document)
    chosen = strategies.chosen(db, pair.choice_of(row) if strategy is None else strategy, overrides)
    return _rows(write.chunk_row(db, pair, row, chosen))


def _document(db: Database, pair: Collection, by: str, document: int | str) -> Row:
    column, kind = (pair.key, pair.key_type) if by == "key" else (pair.uri, "text")
    if column is None:
        raise MissingColumn(
            f"collection {pair.name!r} has no column with a URI",
            detail="Its documents can only be named by their key.",
        )
    columns = (pair.key, pair.content, pair.title, pair.uri, pair.format, pair.metadata)
    listed = ", ".join(db.name(one) for one in dict.fromkeys(columns) if one is not None)
    rows = db.fetch(f"SELECT {listed} FROM {pair.documents} WHERE {db.name(column)} = $1 LIMIT 1", [kind], document)
    if not rows:
        raise UnknownDocument(
            f"unknown document {document!r}",
            detail=f"No row of {pair.documents} that you may read has this {column}.",
            hint="A number is taken as the document's key, a text as its source_uri.",
        )
    return rows[0]


def _rows(chunks: Sequence[Chunk]) -> list[Values]:
    return [[_plain(getattr(one, column)) for column in _COLUMNS] for one in chunks]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
