"""Writing chunks on demand: with the rights of the tables' owner, whoever calls.

Each collection has a worker function that its owner owns and that runs with the owner's rights, as its trigger
functions do. Through it a superuser can have chunks written without running a trigger of somebody else's table.
The owner can replace or alter the function, so it is looked at before it is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pgchunk.server import collections, stale, triggers
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import NotOwner, reported

Task = dict[str, Any]

_QUERY: Final = """
SELECT c.name, c.documents, n.nspname AS schema, p.proname AS function, pg_get_userbyid(t.relowner) AS owner,
       current_user AS caller, pg_has_role(t.relowner, 'USAGE') AS may_act,
       coalesce(p.prosecdef AND l.lanname = 'plpython3u' AND p.proowner = t.relowner AND p.proconfig
           = '{"search_path=pg_catalog, pg_temp",plan_cache_mode=force_generic_plan}', false) AS is_ours
FROM pgchunk.collections AS c
JOIN pg_class AS t ON t.oid = c.documents
LEFT JOIN pg_proc AS p ON p.oid = c.worker
LEFT JOIN pg_namespace AS n ON n.oid = p.pronamespace
LEFT JOIN pg_language AS l ON l.oid = p.prolang
"""


@dataclass(frozen=True, slots=True)
class Worker:
    """The worker function of a collection, seen to be ours."""

    collection: str
    #: qualified and quoted
    function: str

    def do(self, db: Database, task: str, **arguments: Any) -> Task:
        """Has a task done; see the functions of ``TASKS`` for arguments and answers."""
        sent = json.dumps({"task": task, "collection": self.collection, **arguments})
        answer = db.fetch(f"SELECT {self.function}($1) AS answer", ["jsonb"], sent)[0]["answer"]
        return dict(json.loads(answer))


def of(db: Database, collection: Collection) -> Worker:
    """The worker of a collection.

    Raises:
        NotOwner: the caller has not the rights of the tables' owner; or the function is not as pgchunk made it.
    """
    row = db.fetch(_QUERY + "WHERE c.name = $1", ["text"], collection.name)[0]
    if not row["may_act"]:
        raise NotOwner(
            f"the tables of collection {collection.name!r} do not belong to {row['caller']}",
            detail=f"{row['documents']} belongs to {row['owner']}. Chunks are written with the rights of the owner.",
            hint="Run this as the owner, as a member of that role or as a superuser.",
        )
    if not row["is_ours"]:
        raise NotOwner(
            f"collection {collection.name!r} has no worker function that can be trusted",
            detail="It is gone, has been altered, or the tables have changed hands since it was made.",
            hint="Run pgchunk.create_tables() for the schema again.",
        )
    return _worker(db, row)


def usable(db: Database) -> list[Worker]:
    """The workers of all collections that the caller may have work done in."""
    return [_worker(db, row) for row in db.fetch(_QUERY + "ORDER BY c.name") if row["may_act"] and row["is_ours"]]


def _worker(db: Database, row: Row) -> Worker:
    return Worker(row["name"], db.name(row["schema"], row["function"]))


def _has_chunks(db: Database, collection: Collection, task: Task) -> Task:
    """Whether the strategy has chunks. Task: strategy. Answer: found."""
    found = db.fetch(f"SELECT FROM {collection.chunks} WHERE strategy = $1 LIMIT 1", ["text"], task["strategy"])
    return {"found": bool(found)}


#: What a worker can do: each gets the task's arguments and returns the answer.
TASKS: Final[Mapping[str, Callable[[Database, Collection, Task], Task]]] = {
    "has_chunks": _has_chunks,
    "count": stale.count,
    "batch": stale.batch,
    "remove": stale.remove,
}


@reported
def work(db: Database, task: str) -> str:
    """The body of the worker functions.

    Args:
        task: JSON object with task, collection and the task's arguments.

    Returns:
        The answer, a JSON object.

    Raises:
        UnknownCollection: there is none of this name.
        NotOwner: the function runs as another role than the chunk table's owner.
    """
    parsed = json.loads(task)
    collection = collections.named(db, parsed["collection"])
    triggers.check_owner(collection)
    return json.dumps(TASKS[parsed["task"]](db, collection, parsed))
