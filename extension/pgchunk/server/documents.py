"""Reading rows of a documents table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

from pgchunk.errors import UnknownDocument
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import MissingColumn

#: How a document is named: by its key or by its source_uri.
By = Literal["key", "uri"]

#: Documents read at a time where all are read; they may be large.
_AT_A_TIME: Final = 20


def columns(db: Database, collection: Collection) -> str:
    """The columns that chunking needs, as a list for SELECT."""
    used = (
        collection.key,
        collection.content,
        collection.title,
        collection.uri,
        collection.format,
        collection.metadata,
    )
    return ", ".join(db.name(one) for one in dict.fromkeys(used) if one is not None)


def find(db: Database, collection: Collection, by: By, document: int | str) -> Row:
    """The row of a document.

    Raises:
        MissingColumn: it is named by a URI, and the table has none.
        UnknownDocument: there is none, or none that the caller may see.
    """
    column, kind = (collection.key, collection.key_type) if by == "key" else (collection.uri, "text")
    if column is None:
        raise MissingColumn(
            f"collection {collection.name!r} has no column with a URI",
            detail="Its documents can only be named by their key.",
        )
    rows = db.fetch(
        f"SELECT {columns(db, collection)} FROM {collection.documents} WHERE {db.name(column)} = $1 LIMIT 1",
        [kind],
        document,
    )
    if not rows:
        raise UnknownDocument(
            f"unknown document {document!r}",
            detail=f"No row of {collection.documents} that you may read has this {column}.",
            hint="A number is taken as the document's key, a text as its source_uri.",
        )
    return rows[0]


def every(db: Database, collection: Collection) -> Iterator[Row]:
    """All rows that the caller may see, in the order of their keys."""
    key = db.name(collection.key)
    select = f"SELECT {columns(db, collection)} FROM {collection.documents}"
    order = f"ORDER BY {key} LIMIT {_AT_A_TIME}"
    rows = db.fetch(f"{select} {order}")
    while rows:
        yield from rows
        last: Any = rows[-1][collection.key]
        rows = db.fetch(f"{select} WHERE {key} > $1 {order}", [collection.key_type], last)
