"""Proof that the chunks stored for a document are right; the views chunk_coverage show it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from pgchunk import laws
from pgchunk.chunker import Chunk
from pgchunk.server import strategies
from pgchunk.server.database import Database
from pgchunk.server.errors import reported
from pgchunk.strategy import Strategy


@reported
def problems(
    db: Database,
    content: str | None,
    title: str | None,
    format: str | None,
    content_hash: str | None,
    strategy: str,
    chunks: str | None,
) -> list[str]:
    """What is wrong with the stored chunks of one document and strategy.

    Args:
        content, title, format, content_hash: the document's columns.
        strategy: name of the strategy that the chunks are of.
        chunks: JSON array of the rows, by ordinal; None: there are none.

    Returns:
        A sentence for each problem; none when all is right.
    """
    text = content or ""
    stored = [_chunk(row) for row in json.loads(chunks or "[]")]
    found = list(_hashes(text, content_hash, stored))
    known = strategies.known(db, [strategy])
    if not known:
        return [*found, f"strategy {strategy} is not in pgchunk.strategies any more"]
    broken = laws.problems(text, title or "", known[0], stored, format or "markdown")
    return [*found, *_staleness(known[0], stored, broken), *broken]


def _chunk(row: dict[str, Any]) -> Chunk:
    tuples = {name: tuple(row[name]) for name in ("heading_path", "flags")}
    return Chunk(**(row | tuples))


def _hashes(text: str, content_hash: str | None, chunks: Sequence[Chunk]) -> Iterator[str]:
    if content_hash is not None and content_hash != _sha256(text):
        yield "the document's content_hash is not that of its content"
    for chunk in chunks:
        if chunk.content_hash != _sha256(chunk.content):
            yield f"chunk {chunk.ordinal}: content_hash is not that of content"


def _staleness(strategy: Strategy, chunks: Sequence[Chunk], broken: Sequence[str]) -> Iterator[str]:
    """Stale chunks are not wrong in themselves, but explain why laws are broken that the strategy has now."""
    if broken and any(chunk.recipe_hash != strategy.recipe_hash for chunk in chunks):
        yield f"stale: some chunks were made when strategy {strategy.name} had other options"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
