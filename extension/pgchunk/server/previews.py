"""Functions that only look: previews, outlines and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

from pgchunk.chunker import Chunk, chunk
from pgchunk.chunker import outline as core_outline
from pgchunk.server import collections, documents, strategies, write
from pgchunk.server.database import Database
from pgchunk.server.documents import By
from pgchunk.server.errors import reported
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
    by: By,
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
    row = documents.find(db, pair, by, document)
    chosen = strategies.chosen(db, pair.choice_of(row) if strategy is None else strategy, overrides)
    return _rows(write.chunk_row(db, pair, row, chosen))


def _rows(chunks: Sequence[Chunk]) -> list[Values]:
    return [[_plain(getattr(one, column)) for column in _COLUMNS] for one in chunks]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
