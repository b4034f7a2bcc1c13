"""Bringing the tables of a collection up to this version of pgchunk."""

from __future__ import annotations

import json
from pathlib import Path

from pgchunk.server import collections, tables, templates
from pgchunk.server.adoption import COLUMNS
from pgchunk.server.database import Database
from pgchunk.server.errors import reported


@reported
def upgrade_tables(db: Database, collection: str | None) -> str:
    """Brings tables, trigger functions, triggers and views of a collection to what create_tables() makes now.

    Documents, chunks and their embeddings stay as they are, and so do grants.

    Returns:
        Name of the collection.

    Raises:
        UnknownCollection: there is none of this name.
        NotOwner: the caller may not act as the owner of both tables.
    """
    pair = collections.named(db, collection)
    names = {"documents": pair.documents, "chunks": pair.chunks}
    for step in _steps():
        templates.run(db, step, names)
    columns = db.fetch("SELECT to_jsonb(c) AS row FROM pgchunk.collections AS c WHERE name = $1", ["text"], pair.name)
    row = json.loads(columns[0]["row"])
    return tables.finish(db, pair.documents, pair.chunks, pair.name, {column: row[column] for column in COLUMNS})


def _steps() -> list[str]:
    """The templates that bring tables of an earlier version up, oldest first; each may run any number of times."""
    names = [path.stem for path in (templates.FOLDER / "upgrades").glob("*.sql")]
    ordered = sorted(names, key=lambda version: [int(part) for part in version.split(".")])
    return [str(Path("upgrades") / name) for name in ordered]
