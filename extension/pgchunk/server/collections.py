"""Collections: a documents table, its chunk table and the columns that are used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pgchunk._version import __version__
from pgchunk.errors import UnknownCollection, VersionMismatch
from pgchunk.server.database import Database, Row

#: Name of the collection that is meant when none is named.
DEFAULT: Final = "default"

#: Key of a document's metadata that picks its strategy.
STRATEGY_KEY: Final = "pgchunk.strategy"

# Triggers ask this for each row: it is kept small. A regclass shows itself as the name the table has now,
# quoted, and qualified because of the search_path that all our functions have.
_QUERY: Final = """
SELECT c.name, c.documents, c.chunks, c.key_column, c.key_type, c.content_column, c.title_column,
       c.uri_column, c.format_column, c.metadata_column, c.hash_column, c.updated_column,
       pg_get_userbyid(t.relowner) AS owner, current_user AS runs_as, now() AS now,
       current_setting('check_function_bodies') = 'off' AND current_setting('row_security') = 'off' AS restoring,
       (SELECT extversion FROM pg_extension WHERE extname = 'pgchunk') AS extension_version
FROM pgchunk.collections AS c
JOIN pg_class AS t ON t.oid = c.chunks
"""
#: Dropped tables leave their row behind until create_tables() runs again.
_EXISTS: Final = "EXISTS (SELECT 1 FROM pg_class AS d WHERE d.oid = c.documents)"


@dataclass(frozen=True, slots=True)
class Collection:
    """One row of ``pgchunk.collections``, with the names its tables have now."""

    name: str
    #: the two tables, qualified and quoted
    documents: str
    chunks: str
    #: columns of documents; None where the table has no such column
    key: str
    content: str
    title: str | None
    uri: str | None
    format: str | None
    metadata: str | None
    content_hash: str | None
    updated: str | None
    #: SQL type of the key
    key_type: str
    #: the chunk table's owner, and the role that this runs as
    owner: str
    runs_as: str
    #: start of the transaction, as the server writes it
    now: str
    #: whether the session has the settings that a script of pg_dump begins with
    restoring: bool

    def text(self, row: Row) -> str | None:
        """The content of a row of documents."""
        return _text(row.get(self.content))

    def title_of(self, row: Row) -> str:
        """The title of a row of documents; an empty string when it has none."""
        return (_text(row.get(self.title)) if self.title else None) or ""

    def uri_of(self, row: Row) -> str:
        """What names the document's source: its URI, or else its key."""
        return str(row.get(self.uri or self.key) or "")

    def format_of(self, row: Row) -> str:
        """'markdown', or what the row says; NULL is markdown."""
        said = _text(row.get(self.format)) if self.format else None
        return "markdown" if said is None else said

    def choice_of(self, row: Row) -> str | None:
        """The strategy that the row's metadata picks; None when it picks none."""
        metadata = row.get(self.metadata) if self.metadata else None
        if not metadata or STRATEGY_KEY not in metadata:
            return None
        parsed = json.loads(metadata)
        choice = parsed.get(STRATEGY_KEY) if isinstance(parsed, dict) else None
        return None if choice is None else choice if isinstance(choice, str) else json.dumps(choice)


def of_table(db: Database, relation: int) -> Collection:
    """The collection of a documents table, or of the table that it is a partition of.

    Args:
        relation: the table's oid.

    Raises:
        UnknownCollection: the table belongs to no collection.
        VersionMismatch: the session has loaded the package of another version.
    """
    rows = db.fetch(_QUERY + "WHERE c.documents = coalesce(pg_partition_root($1), $1)", ["oid"], relation)
    if not rows:
        table = db.fetch("SELECT $1::regclass AS name", ["oid"], relation)[0]["name"]
        raise UnknownCollection(
            f"table {table} belongs to no collection",
            detail="It has triggers of pgchunk, and no row of pgchunk.collections names it.",
            hint="Run pgchunk.create_tables() for its schema again, or drop the triggers.",
        )
    return _collection(rows[0])


def named(db: Database, name: str | None) -> Collection:
    """The collection of this name; without a name the one called default, or else the only one there is.

    So a role that registers tables of its own does not disturb those who give no name.

    Raises:
        UnknownCollection: there is none of this name, none at all, or several, none of them called default.
    """
    query = _QUERY + f"WHERE (c.name = $1 OR $1 IS NULL) AND {_EXISTS} ORDER BY c.name <> '{DEFAULT}' LIMIT 2"
    rows = db.fetch(query, ["text"], name)
    if not rows or (len(rows) > 1 and rows[0]["name"] != DEFAULT):
        raise _unknown(db, name)
    return _collection(rows[0])


def _unknown(db: Database, name: str | None) -> UnknownCollection:
    rows = db.fetch(f"SELECT c.name FROM pgchunk.collections AS c WHERE {_EXISTS} ORDER BY c.name")
    names = ", ".join(row["name"] for row in rows)
    if not names:
        return UnknownCollection(
            "there is no collection",
            hint="Run SELECT pgchunk.create_tables() to make tables for documents and chunks.",
        )
    return UnknownCollection(
        "there are several collections" if name is None else f"unknown collection {name!r}",
        detail=f"The collections are {names}.",
        hint=f"Give one of these names, as in collection => '{rows[0]['name']}'.",
    )


def _collection(row: Row) -> Collection:
    if row["extension_version"] != __version__:
        raise VersionMismatch(
            f"the Python package of pgchunk is {__version__}, the extension is {row['extension_version']}",
            detail="This session loaded the package before the extension was updated.",
            hint="Open a new session.",
        )
    return Collection(
        name=row["name"],
        documents=row["documents"],
        chunks=row["chunks"],
        key=row["key_column"],
        content=row["content_column"],
        title=row["title_column"],
        uri=row["uri_column"],
        format=row["format_column"],
        metadata=row["metadata_column"],
        content_hash=row["hash_column"],
        updated=row["updated_column"],
        key_type=row["key_type"],
        owner=row["owner"],
        runs_as=row["runs_as"],
        now=row["now"],
        restoring=row["restoring"],
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
