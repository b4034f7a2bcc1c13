"""Registering a pair of tables, which needs more rights than their owner has; and the owner's consent to it."""

from __future__ import annotations

import hashlib
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
        NotOwner: the owner of both tables has not consented, or they have two owners.
        NameTaken: a function or collection of another's is in the way.
    """
    pair = _pair(db, documents, chunks)
    parsed = json.loads(columns)
    _take_consent(db, pair, name, parsed)
    registered = _register(db, pair, name, parsed)
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


def consent(db: Database, documents: str, chunks: str, name: str, columns: Mapping[str, str | None]) -> None:
    """Says, with the rights of the caller, that adopt() may do just this.

    adopt() cannot know who calls it: session_user is another when the call stands in a function, or in an
    expression that a superuser's REINDEX or ANALYZE evaluates. So the proof is a deed that only the tables' owner can
    do, as in the schema a function of its own, whose body says to what it consents.

    Raises:
        NotOwner: the caller may not act as the owner of both tables.
    """
    pair = _pair(db, documents, chunks)
    if not pair["is_theirs"]:
        raise _not_owner(pair)
    function, body = _consent(db, pair, name, columns)
    templates.run(db, "consent", {"function": function, "body": body})


def _take_consent(db: Database, pair: Row, name: str, columns: Mapping[str, str | None]) -> None:
    """Sees that the tables' owner consents to just this, and takes the consent away: it holds once.

    Raises:
        NotOwner: it does not.
    """
    function, body = _consent(db, pair, name, columns)
    given = db.fetch(
        "SELECT 1 FROM pg_proc AS p WHERE p.oid = to_regprocedure($1) AND p.prosrc = $2"
        " AND pg_has_role(p.proowner, $3::name, 'USAGE')",
        ["text", "text", "text"],
        f"{function}()",
        body,
        pair["owner"],
    )
    if not given or not pair["one_owner"]:
        raise _not_owner(pair)
    db.run(f"DROP FUNCTION {function}()")


def _consent(db: Database, pair: Row, name: str, columns: Mapping[str, str | None]) -> tuple[str, str]:
    """Name and body of the function that says so."""
    terms = [str(pair["documents_oid"]), str(pair["chunks_oid"]), name, sorted(columns.items())]
    digest = hashlib.sha256(json.dumps(terms).encode()).hexdigest()
    return templates.consent(db, pair["schema"], pair["documents"]), f"SELECT '{digest}'"


def _pair(db: Database, documents: str, chunks: str) -> Row:
    """The two tables and their owner."""
    return db.fetch(
        """
        SELECT d.oid AS documents_oid, c.oid AS chunks_oid, n.nspname AS schema, d.relname AS documents,
               c.relname AS chunks, pg_get_userbyid(d.relowner) AS owner, d.relowner = c.relowner AS one_owner,
               d.relowner = c.relowner AND pg_has_role(d.relowner, 'USAGE') AS is_theirs
        FROM pg_class AS d JOIN pg_namespace AS n ON n.oid = d.relnamespace, pg_class AS c
        WHERE d.oid = $1::regclass AND c.oid = $2::regclass
        """,
        ["text", "text"],
        documents,
        chunks,
    )[0]


def _not_owner(pair: Row) -> NotOwner:
    return NotOwner(
        f"tables {pair['documents']} and {pair['chunks']} do not both belong to the caller",
        detail=f"{pair['documents']} belongs to {pair['owner']}. Chunks are written with the rights of the owner.",
        hint="Run this as the owner of both tables, or as a member of that role.",
    )


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
