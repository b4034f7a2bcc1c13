"""Registering a pair of tables; runs with the rights of the extension's owner."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pgchunk.server import templates
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import NameTaken, NotOwner, reported

#: The columns of pgchunk.collections that name columns, with those of the tables made here.
COLUMNS: Final = {
    "key_column": "id",
    "content_column": "content",
    "title_column": "title",
    "uri_column": "source_uri",
    "format_column": "format",
    "metadata_column": "metadata",
    "hash_column": "content_hash",
    "updated_column": "updated_at",
}


@reported
def adopt(db: Database, documents: str, chunks: str, name: str, columns: str) -> str:
    """Registers a pair of tables and makes their trigger functions, which belong to the tables' owner.

    Runs with the rights of the extension's owner, because the functions are in an untrusted language.

    Args:
        documents, chunks: the tables, as regclass hands them over.
        name: of the collection; a pair that is registered keeps the name it has.
        columns: JSON object of the column names of pgchunk.collections.

    Returns:
        Name of the collection.

    Raises:
        NotOwner: the caller may not act as the owner of both tables, or they have two owners.
        NameTaken: a function or collection of another's is in the way.
    """
    pair = _pair(db, documents, chunks)
    registered = _register(db, pair, name, json.loads(columns))
    for handler, function in templates.functions(db, pair["schema"], pair["documents"]).items():
        _check_function(db, f"{function}()")
        templates.run(
            db,
            "functions",
            {
                "function": function,
                "handler": handler,
                "owner": db.name(pair["owner"]),
                "what": templates.HANDLERS[handler],
            },
        )
    _make_worker(db, pair, registered)
    return registered


def _make_worker(db: Database, pair: Row, collection: str) -> None:
    function = templates.worker(db, pair["schema"], pair["documents"])
    _check_function(db, f"{function}(jsonb)")
    templates.run(db, "work", {"function": function, "owner": db.name(pair["owner"])})
    db.fetch(
        "UPDATE pgchunk.collections SET worker = $2::regprocedure WHERE name = $1"
        " AND worker IS DISTINCT FROM $2::regprocedure",
        ["text", "text"],
        collection,
        f"{function}(jsonb)",
    )


def _pair(db: Database, documents: str, chunks: str) -> Row:
    """The two tables, seen to be the caller's own.

    The caller is the role of SET ROLE, or else the one that logged in: inside a SECURITY DEFINER function
    current_user is the function's owner.
    """
    row = db.fetch(
        """
        WITH caller AS (
            SELECT CASE current_setting('role') WHEN 'none' THEN session_user::text
                   ELSE current_setting('role') END AS name
        )
        SELECT d.oid AS documents_oid, c.oid AS chunks_oid, n.nspname AS schema, d.relname AS documents,
               pg_get_userbyid(d.relowner) AS owner, caller.name AS caller, d.relowner = c.relowner
               AND pg_has_role(caller.name, d.relowner, 'USAGE') AS is_theirs
        FROM caller, pg_class AS d JOIN pg_namespace AS n ON n.oid = d.relnamespace,
             pg_class AS c
        WHERE d.oid = $1::regclass AND c.oid = $2::regclass
        """,
        ["text", "text"],
        documents,
        chunks,
    )[0]
    if not row["is_theirs"]:
        raise NotOwner(
            f"tables {documents} and {chunks} do not both belong to {row['caller']}",
            detail=f"{documents} belongs to {row['owner']}. Chunks are written with the rights of the owner.",
            hint="Run this as the owner of both tables, or as a member of that role.",
        )
    return row


def _register(db: Database, pair: Row, name: str, columns: Mapping[str, str | None]) -> str:
    oids = [pair["documents_oid"], pair["chunks_oid"]]
    db.fetch(
        "DELETE FROM pgchunk.collections AS c WHERE"
        " NOT EXISTS (SELECT 1 FROM pg_class AS t WHERE t.oid = c.documents)"
        " OR NOT EXISTS (SELECT 1 FROM pg_class AS t WHERE t.oid = c.chunks)"
    )
    found = db.fetch(
        "SELECT name, documents::oid = $1 AND chunks::oid = $2 AS same FROM pgchunk.collections"
        " WHERE documents::oid = $1 OR chunks::oid = $2 OR name = $3",
        ["oid", "oid", "text"],
        *oids,
        name,
    )
    same = [row["name"] for row in found if row["same"]]
    if same:
        return str(same[0])
    if found:
        raise NameTaken(
            f"collection {found[0]['name']!r} exists already",
            detail="It has this name, or one of these tables belongs to it.",
            hint="Choose another name, or delete its row from pgchunk.collections.",
        )
    names = ", ".join(COLUMNS)
    places = ", ".join(f"${place}" for place in range(4, 4 + len(COLUMNS)))
    db.fetch(
        f"INSERT INTO pgchunk.collections (documents, chunks, name, {names}, key_type)"
        f" SELECT $1, $2, $3, {places}, a.atttypid FROM pg_attribute AS a"
        " WHERE a.attrelid = $1 AND a.attname = $4",
        ["oid", "oid", "text", *["text"] * len(COLUMNS)],
        *oids,
        name,
        *(columns.get(column) for column in COLUMNS),
    )
    return name


def _check_function(db: Database, function: str) -> None:
    """Sees that a function of this name was made here, if there is one: another's would keep its grants."""
    rows = db.fetch(
        """
        SELECT EXISTS (
            SELECT 1 FROM pg_depend AS d JOIN pg_extension AS x ON x.oid = d.refobjid
            WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
              AND d.refclassid = 'pg_extension'::regclass
              AND d.deptype = 'x' AND x.extname = 'pgchunk'
        ) AND l.lanname = 'plpython3u' AS is_ours
        FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
        WHERE p.oid = to_regprocedure($1)
        """,
        ["text"],
        function,
    )
    if rows and not rows[0]["is_ours"]:
        raise NameTaken(
            f"function {function} exists already",
            detail="pgchunk makes a function of this name, and did not make this one.",
            hint=f"Look at it, then rename it or DROP FUNCTION {function}.",
        )
