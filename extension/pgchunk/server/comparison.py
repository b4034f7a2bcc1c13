"""Two strategies side by side on one document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pgchunk.server import collections, documents, strategies, write
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.documents import By
from pgchunk.server.errors import reported

#: A row of a set: values in the order of the columns.
Values = list[Any]


@dataclass(frozen=True, slots=True)
class _Part:
    """What is compared of a chunk."""

    ordinal: int
    char_start: int
    char_end: int
    #: of content
    tokens: int
    heading_path: list[str]

    def values(self) -> Values:
        return [self.ordinal, self.char_start, self.char_end, self.tokens, self.heading_path]


@dataclass(frozen=True, slots=True)
class _Set:
    """The chunks of a document of one strategy, and where they are from."""

    strategy: str
    #: 'stored', 'stored, stale' or 'preview'
    source: str
    parts: list[_Part]

    def cuts(self) -> set[int]:
        """Where one chunk ends and another follows: with overlap, the next one may begin before."""
        return {part.char_end for part in self.parts[:-1]}


@reported
def compare(
    db: Database, by: By, document: int | str | None, a: str | None, b: str | None, collection: str | None
) -> list[Values]:
    """The chunks of two strategies, those that end at one place in one row; none for NULL.

    Returns:
        Rows of position, equal (whether both are the same characters), then ordinal, char_start, char_end, tokens
        and heading_path of a's chunk and of b's; None where only the other has a chunk that ends here.

    Raises:
        UnknownCollection, UnknownStrategy, UnknownDocument: there is none of this name.
    """
    sets = _sets(db, by, document, [a, b], collection)
    if not sets:
        return []
    return [
        [position, left is not None and right is not None and left.char_start == right.char_start, *_pair(left, right)]
        for position, (left, right) in enumerate(_aligned(sets[0].parts, sets[1].parts))
    ]


@reported
def compare_total(
    db: Database, by: By, document: int | str | None, a: str | None, b: str | None, collection: str | None
) -> list[Values]:
    """Sizes and cuts of the chunks of two strategies, a row for each; none for NULL.

    Returns:
        Rows of strategy, source, chunks, min, average, max and sum of the tokens of content, boundaries (cuts
        between chunks) and boundaries_shared (those that the other strategy has too).

    Raises:
        UnknownCollection, UnknownStrategy, UnknownDocument: there is none of this name.
    """
    sets = _sets(db, by, document, [a, b], collection)
    shared = len(sets[0].cuts() & sets[1].cuts()) if sets else 0
    return [_summary(one, shared) for one in sets]


def _summary(one: _Set, shared: int) -> Values:
    tokens = [part.tokens for part in one.parts]
    average = round(sum(tokens) / len(tokens), 1) if tokens else None
    sizes = [min(tokens, default=None), average, max(tokens, default=None), sum(tokens)]
    return [one.strategy, one.source, len(tokens), *sizes, len(one.cuts()), shared]


def _sets(
    db: Database, by: By, document: int | str | None, names: Sequence[str | None], collection: str | None
) -> list[_Set]:
    pair = collections.named(db, collection)
    if document is None:
        return []
    row = documents.find(db, pair, by, document)
    return [_set(db, pair, row, name) for name in names]


def _set(db: Database, pair: Collection, row: Row, name: str | None) -> _Set:
    """The chunks of a document, from the table if they are there."""
    strategy = strategies.chosen(db, name, None)
    stored = db.fetch(
        "SELECT ordinal, char_start, char_end, content_token_count, heading_path, recipe_hash"
        f" FROM {pair.chunks} WHERE document_id = $1 AND strategy = $2 ORDER BY ordinal",
        [pair.key_type, "text"],
        row[pair.key],
        strategy.name,
    )
    if not stored:
        chunks = write.chunk_row(db, pair, row, strategy)
        parts = [
            _Part(one.ordinal, one.char_start, one.char_end, one.content_token_count, list(one.heading_path))
            for one in chunks
        ]
        return _Set(strategy.name, "preview", parts)
    stale = any(one["recipe_hash"] != strategy.recipe_hash for one in stored)
    return _Set(
        strategy.name,
        "stored, stale" if stale else "stored",
        [
            _Part(one["ordinal"], one["char_start"], one["char_end"], one["content_token_count"], one["heading_path"])
            for one in stored
        ],
    )


def _aligned(a: Sequence[_Part], b: Sequence[_Part]) -> Iterator[tuple[_Part | None, _Part | None]]:
    """Pairs parts that end at one place; the others stand alone, in the order of their ends."""
    i = j = 0
    while i < len(a) and j < len(b):
        end = min(a[i].char_end, b[j].char_end)
        left = a[i] if a[i].char_end == end else None
        right = b[j] if b[j].char_end == end else None
        yield left, right
        i, j = i + (left is not None), j + (right is not None)
    yield from ((one, None) for one in a[i:])
    yield from ((None, one) for one in b[j:])


def _pair(left: _Part | None, right: _Part | None) -> Values:
    nothing: Values = [None] * 5
    return (left.values() if left else nothing) + (right.values() if right else nothing)
