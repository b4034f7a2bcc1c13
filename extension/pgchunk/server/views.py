"""What the views beside a chunk table are made of."""

from __future__ import annotations

from pgchunk.server import templates
from pgchunk.server.collections import STRATEGY_KEY, Collection
from pgchunk.server.database import Database, quoted_text


def columns(db: Database, collection: Collection) -> dict[str, str]:
    """The tables, and their columns as expressions on a row d of documents, by the name they have in templates."""

    def column(name: str | None, missing: str) -> str:
        return f"d.{db.name(name)}" if name else missing

    metadata = collection.metadata
    return {
        "documents": collection.documents,
        "documents_literal": f"'{quoted_text(collection.documents)}'",
        "chunks": collection.chunks,
        "key": db.name(collection.key),
        "uri": db.name(collection.uri or collection.key),
        "content": db.name(collection.content),
        "title": column(collection.title, "''"),
        "format": column(collection.format, "'markdown'"),
        "hash": column(collection.content_hash, "NULL"),
        "choice": f"(d.{db.name(metadata)} ->> '{STRATEGY_KEY}')" if metadata else "NULL::text",
    }


def stale(db: Database, collection: Collection) -> str:
    """The query of chunk_stale."""
    return templates.text("stale", columns(db, collection))
