"""Bringing stale chunks up to date; runs as the owner of the tables, inside a worker function.

What is stale says the query of the views chunk_stale, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pgchunk.errors import PgchunkError
from pgchunk.server import documents, strategies, views, write
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database

Task = dict[str, Any]

#: The reasons that chunking again mends.
_MENDED: Final = "s.reasons && '{missing,options,tokenizer,chunker,unknown}' AND (s.strategy = $1 OR $1 IS NULL)"


def _stale(db: Database, collection: Collection) -> str:
    """The query of chunk_stale, as a table s."""
    return f"({views.stale(db, collection)}) AS s"


def count(db: Database, collection: Collection, task: Task) -> Task:
    """Counts stale documents. Task: strategy (None: any). Answer: documents."""
    query = f"SELECT count(DISTINCT s.document_id) AS documents FROM {_stale(db, collection)} WHERE {_MENDED}"
    return {"documents": db.fetch(query, ["text"], task["strategy"])[0]["documents"]}


def batch(db: Database, collection: Collection, task: Task) -> Task:
    """Chunks some stale documents again.

    Task: strategy (None: any); either keys, documents to wait for; or after (None: from the start) and limit, at most
    so many of the next stale ones: then those that another session has locked are left alone, because waiting for one
    while holding others could end in a deadlock.

    Answer: last, the key to go on after (None: there is nothing more); locked, the keys left alone; done, how many
    documents were chunked; failed, how many could not be.
    """
    waits = "keys" in task
    keys = task["keys"] if waits else _next(db, collection, task)
    locked = _lock(db, collection, keys, "" if waits else "SKIP LOCKED")
    # Only now, with the rows locked, is it known what is stale: another session may have been here.
    failed = [key for key, names in _sets(db, collection, task, locked) if not _rechunk(db, collection, key, names)]
    return {
        "last": keys[-1] if keys and not waits else None,
        "locked": [] if waits else [key for key in keys if key not in set(locked)],
        "done": len(locked) - len(failed),
        "failed": len(failed),
    }


def _next(db: Database, collection: Collection, task: Task) -> list[str]:
    """Keys of the next stale documents, as text.

    The limit stands in the query as a number, so that the planner knows to walk along the keys and to stop early.
    """
    after = "" if task["after"] is None else f"AND s.document_id > $2::{collection.key_type}"
    given = {} if task["after"] is None else {"text": task["after"]}
    rows = db.fetch(
        f"SELECT s.document_id::text AS key FROM {_stale(db, collection)} WHERE {_MENDED} {after}"
        f" ORDER BY s.document_id LIMIT {int(task['limit'])}",
        ["text", *given],
        task["strategy"],
        *given.values(),
    )
    return list(dict.fromkeys(row["key"] for row in rows))


def _lock(db: Database, collection: Collection, keys: Sequence[str], otherwise: str) -> list[str]:
    """Locks documents as an UPDATE would; returns the keys of those that are there and were locked."""
    key = db.name(collection.key)
    rows = db.fetch(
        f"SELECT {key}::text AS key FROM {collection.documents} WHERE {key} = ANY ($1::{collection.key_type}[])"
        f" ORDER BY {key} FOR NO KEY UPDATE {otherwise}",
        ["text[]"],
        list(keys),
    )
    return [row["key"] for row in rows]


def _sets(db: Database, collection: Collection, task: Task, keys: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Stale documents among these keys, each with the names of its stale strategies."""
    rows = db.fetch(
        f"SELECT s.document_id::text AS key, array_agg(s.strategy) AS names FROM {_stale(db, collection)}"
        f" WHERE {_MENDED} AND s.document_id = ANY ($2::{collection.key_type}[])"
        " GROUP BY s.document_id ORDER BY s.document_id",
        ["text", "text[]"],
        task["strategy"],
        list(keys),
    )
    return [(row["key"], row["names"]) for row in rows]


def _rechunk(db: Database, collection: Collection, key: str, names: Sequence[str]) -> bool:
    """Chunks one document again with these strategies; its other chunks stay. False, and a warning, if it can't be."""
    row = documents.find(db, collection, "key", key)
    found = write.stored(db, collection, row[collection.key])
    wanted = strategies.known(db, names)
    try:
        write.document(db, collection, row, wanted, {name: found[name] for name in names if name in found})
    except PgchunkError as error:
        db.warning(f"document {collection.uri_of(row)} keeps its chunks: {error.message}")
        return False
    return True


def remove(db: Database, collection: Collection, task: Task) -> Task:
    """Deletes the chunks of a strategy from documents that do not call for it.

    Task: strategy. Answer: removed, how many chunks; left, how many documents keep theirs.
    """
    names = views.columns(db, collection)
    called_for = (
        f"coalesce({names['choice']} = $1, (SELECT s.is_active FROM pgchunk.strategies AS s WHERE s.name = $1), false)"
    )
    row = db.fetch(
        f"WITH gone AS (DELETE FROM {collection.chunks} AS c USING {collection.documents} AS d"
        f" WHERE c.strategy = $1 AND d.{names['key']} = c.document_id AND NOT {called_for} RETURNING c.document_id)"
        " SELECT (SELECT count(*) FROM gone) AS removed,"
        f" (SELECT count(DISTINCT c.document_id) FROM {collection.chunks} AS c WHERE c.strategy = $1)"
        " - (SELECT count(DISTINCT document_id) FROM gone) AS left",
        ["text"],
        task["strategy"],
    )[0]
    return {"removed": row["removed"], "left": row["left"]}
