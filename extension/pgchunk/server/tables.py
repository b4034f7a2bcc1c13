"""Making the tables, views and triggers of a collection from the templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from pgchunk.server import collections
from pgchunk.server.collections import STRATEGY_KEY
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import FeatureMissing, InvalidArgument, MissingColumn, NameTaken, NotOwner, reported

_TEMPLATES: Final = Path(__file__).resolve().parent.parent / "templates"
#: Most dimensions of a column, and of an HNSW index, by type of pgvector.
_LIMITS: Final = {"vector": (16000, 2000), "halfvec": (16000, 4000)}
_INDEXES: Final = ("hnsw", "none")
_NAME_BYTES: Final = 63
#: The columns of pgchunk.collections that name columns, with those of the tables made here.
_COLUMNS: Final = {
    "key_column": "id",
    "content_column": "content",
    "title_column": "title",
    "uri_column": "source_uri",
    "format_column": "format",
    "metadata_column": "metadata",
    "hash_column": "content_hash",
    "updated_column": "updated_at",
}
_VIEWS: Final = ("quality", "histogram", "outliers", "coverage")
#: Trigger functions, which are named for their handler, and what they do.
_HANDLERS: Final = {
    "before": "fills in title, content_hash and time of change",
    "after": "keeps the chunks in step with the content",
}


@reported
def create_tables(db: Database, schema: str, dimensions: int, vector_type: str, index: str) -> str:
    """Makes documents and chunks with views and triggers in a schema; tables that are there stay as they are.

    Args:
        schema: where; it must exist.
        dimensions: of the embeddings.
        vector_type: 'vector' or 'halfvec'.
        index: 'hnsw', or 'none' for no index on the embeddings.

    Returns:
        Name of the collection.

    Raises:
        InvalidArgument: dimensions, vector_type or index is out of range.
        FeatureMissing: pgvector is too old for the type.
        MissingColumn: a table documents is there and lacks a column.
        NotOwner, NameTaken: as adopt().
    """
    _check_arguments(dimensions, vector_type, index)
    names = {"documents": db.name(schema, "documents"), "chunks": db.name(schema, "chunks")}
    if _exists(db, names["documents"]):
        _check_columns(db, names["documents"])
    else:
        _run(db, "documents", names | {"chunks_text": _quoted_text(names["chunks"])})
    vector = _vector(db, dimensions, vector_type)
    if _exists(db, names["chunks"]):
        _tell_difference(db, names["chunks"], vector)
    else:
        made = {"vector": vector, "embedding_index": _embedding_index(db, names["chunks"], vector_type, index)}
        text = {"documents_text": _quoted_text(names["documents"]), "key": "id", "key_type": "bigint"}
        _run(db, "chunks", names | made | text)
    name = db.fetch(
        "SELECT pgchunk._adopt($1::pg_catalog.regclass, $2::pg_catalog.regclass, $3, $4) AS name",
        ["text", "text", "text", "jsonb"],
        names["documents"],
        names["chunks"],
        _collection_name(db, schema, names["documents"]),
        json.dumps(_COLUMNS),
    )[0]["name"]
    _finish(db, str(name))
    return str(name)


def _finish(db: Database, name: str) -> None:
    """Makes what belongs to the caller: triggers and views."""
    collection = collections.named(db, name)
    columns = (collection.content, collection.title, collection.uri, collection.format, collection.metadata)
    changed = [_differs(db.name(one)) for one in (*columns, collection.content_hash) if one]
    texts = (collection.content, collection.title, collection.format)
    rechunk = [_differs(db.name(one)) for one in texts if one]
    if collection.metadata:
        rechunk.append(_differs(f"{db.name(collection.metadata)} ->> '{STRATEGY_KEY}'"))
    functions = _functions(db, *collection.documents_name)
    _run(
        db,
        "triggers",
        functions
        | {"documents": collection.documents, "changed": " OR ".join(changed), "rechunk": " OR ".join(rechunk)},
    )
    _run(db, "views", _view_names(db, collection))


def _differs(expression: str) -> str:
    return f"(OLD.{expression}) IS DISTINCT FROM (NEW.{expression})"


def _view_names(db: Database, collection: collections.Collection) -> dict[str, str]:
    def column(name: str | None, missing: str) -> str:
        return f"d.{db.name(name)}" if name else missing

    metadata = collection.metadata
    return _views(db, *collection.chunks_name) | {
        "documents": collection.documents,
        "chunks": collection.chunks,
        "key": db.name(collection.key),
        "uri": db.name(collection.uri or collection.key),
        "content": db.name(collection.content),
        "title": column(collection.title, "''"),
        "format": column(collection.format, "'markdown'"),
        "hash": column(collection.content_hash, "NULL"),
        "choice": f"(d.{db.name(metadata)} ->> '{STRATEGY_KEY}')" if metadata else "NULL::text",
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
    for handler, function in _functions(db, pair["schema"], pair["documents"]).items():
        _check_function(db, function)
        _run(
            db,
            "functions",
            {
                "function": function,
                "handler": handler,
                "owner": db.name(pair["owner"]),
                "what": _HANDLERS[handler],
            },
        )
    return registered


def _pair(db: Database, documents: str, chunks: str) -> Row:
    """The two tables, seen to be the caller's own.

    The caller is the role in force when the function was called: the one of SET ROLE, else the one that logged in.
    Inside a SECURITY DEFINER function, current_user would be that function's owner.
    """
    row = db.fetch(
        """
        WITH caller AS (
            SELECT CASE pg_catalog.current_setting('role') WHEN 'none' THEN session_user::text
                   ELSE pg_catalog.current_setting('role') END AS name
        )
        SELECT d.oid AS documents_oid, c.oid AS chunks_oid, n.nspname AS schema, d.relname AS documents,
               pg_catalog.pg_get_userbyid(d.relowner) AS owner, caller.name AS caller, d.relowner = c.relowner
               AND pg_catalog.pg_has_role(caller.name, d.relowner, 'USAGE') AS is_theirs
        FROM caller, pg_catalog.pg_class AS d JOIN pg_catalog.pg_namespace AS n ON n.oid = d.relnamespace,
             pg_catalog.pg_class AS c
        WHERE d.oid = $1::pg_catalog.regclass AND c.oid = $2::pg_catalog.regclass
        """,
        ["text", "text"],
        documents,
        chunks,
    )[0]
    if not row["is_theirs"]:
        raise NotOwner(
            f"tables {documents} and {chunks} do not both belong to {row['caller']}",
            detail=f"{documents} belongs to {row['owner']}. Chunks are written with the rights of the tables' owner.",
            hint="Run this as the owner of both tables, or as a member of that role.",
        )
    return row


def _register(db: Database, pair: Row, name: str, columns: Mapping[str, str | None]) -> str:
    oids = [pair["documents_oid"], pair["chunks_oid"]]
    db.fetch(
        "DELETE FROM pgchunk.collections AS c WHERE"
        " NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS t WHERE t.oid = c.documents)"
        " OR NOT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS t WHERE t.oid = c.chunks)"
    )
    found = db.fetch(
        "SELECT name, documents::pg_catalog.oid = $1 AND chunks::pg_catalog.oid = $2 AS same FROM pgchunk.collections"
        " WHERE documents::pg_catalog.oid = $1 OR chunks::pg_catalog.oid = $2 OR name = $3",
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
    names = ", ".join(_COLUMNS)
    places = ", ".join(f"${place}" for place in range(4, 4 + len(_COLUMNS)))
    db.fetch(
        f"INSERT INTO pgchunk.collections (documents, chunks, name, {names}) VALUES ($1, $2, $3, {places})",
        ["oid", "oid", "text", *["text"] * len(_COLUMNS)],
        *oids,
        name,
        *(columns.get(column) for column in _COLUMNS),
    )
    return name


def _check_function(db: Database, function: str) -> None:
    """Sees that a function of this name, if there is one, was made here: replacing another's would keep its grants."""
    rows = db.fetch(
        """
        SELECT EXISTS (
            SELECT 1 FROM pg_catalog.pg_depend AS d JOIN pg_catalog.pg_extension AS x ON x.oid = d.refobjid
            WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid
              AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
              AND d.deptype = 'x' AND x.extname = 'pgchunk'
        ) AND l.lanname = 'plpython3u' AS is_ours
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
        WHERE p.oid = pg_catalog.to_regprocedure($1)
        """,
        ["text"],
        f"{function}()",
    )
    if rows and not rows[0]["is_ours"]:
        raise NameTaken(
            f"function {function}() exists already",
            detail="pgchunk makes a trigger function of this name, and did not make this one.",
            hint=f"Look at it, then rename it or DROP FUNCTION {function}().",
        )


def _check_arguments(dimensions: int, vector_type: str, index: str) -> None:
    if vector_type not in _LIMITS:
        raise InvalidArgument(
            f"invalid vector_type {vector_type!r}", detail=f"vector_type must be one of {', '.join(_LIMITS)}."
        )
    if index not in _INDEXES:
        raise InvalidArgument(f"invalid index {index!r}", detail=f"index must be one of {', '.join(_INDEXES)}.")
    column_limit, index_limit = _LIMITS[vector_type]
    if not 1 <= dimensions <= column_limit:
        raise InvalidArgument(
            f"invalid dimensions {dimensions}", detail=f"{vector_type} has from 1 to {column_limit} dimensions."
        )
    if index == "hnsw" and dimensions > index_limit:
        other = "vector_type => 'halfvec' or " if dimensions <= _LIMITS["halfvec"][1] else ""
        raise InvalidArgument(
            f"{dimensions} dimensions are too many for an HNSW index on {vector_type}",
            detail=f"pgvector indexes {vector_type} up to {index_limit} dimensions.",
            hint=f"Use {other}index => 'none'.",
        )


def _check_columns(db: Database, documents: str) -> None:
    rows = db.fetch(
        "SELECT attname FROM pg_catalog.pg_attribute"
        " WHERE attrelid = $1::pg_catalog.regclass AND attnum > 0 AND NOT attisdropped",
        ["text"],
        documents,
    )
    missing = sorted(set(_COLUMNS.values()) - {row["attname"] for row in rows})
    if missing:
        raise MissingColumn(
            f"table {documents} lacks {', '.join(missing)}",
            detail="A table of this name is there, and is not one that create_tables() made.",
            hint="Add the columns, or call create_tables() with another schema.",
        )


def _vector(db: Database, dimensions: int, vector_type: str) -> str:
    schema = _vector_schema(db)
    if not db.fetch("SELECT 1 WHERE pg_catalog.to_regtype($1) IS NOT NULL", ["text"], f"{schema}.{vector_type}"):
        raise FeatureMissing(
            f"pgvector has no type {vector_type} here",
            detail="halfvec came with pgvector 0.7.",
            hint="Install a newer pgvector and run ALTER EXTENSION vector UPDATE.",
        )
    return f"{schema}.{vector_type}({dimensions})"


def _vector_schema(db: Database) -> str:
    rows = db.fetch(
        "SELECT n.nspname FROM pg_catalog.pg_extension AS x"
        " JOIN pg_catalog.pg_namespace AS n ON n.oid = x.extnamespace WHERE x.extname = 'vector'"
    )
    return db.name(rows[0]["nspname"])


def _embedding_index(db: Database, chunks: str, vector_type: str, index: str) -> str:
    if index == "none":
        return ""
    return f"CREATE INDEX ON {chunks} USING hnsw (embedding {_vector_schema(db)}.{vector_type}_cosine_ops);"


def _tell_difference(db: Database, chunks: str, vector: str) -> None:
    """Says so when a chunk table is there with embeddings of another type than asked for."""
    rows = db.fetch(
        "SELECT pg_catalog.format_type(atttypid, atttypmod) AS type FROM pg_catalog.pg_attribute"
        " WHERE attrelid = $1::pg_catalog.regclass AND attname = 'embedding' AND NOT attisdropped",
        ["text"],
        chunks,
    )
    found = rows[0]["type"] if rows else "none"
    if found != vector:
        db.notice(f"table {chunks} exists with embeddings of type {found} and stays as it is")


def _exists(db: Database, table: str) -> bool:
    return bool(db.fetch("SELECT 1 WHERE pg_catalog.to_regclass($1) IS NOT NULL", ["text"], table))


def _collection_name(db: Database, schema: str, documents: str) -> str:
    """'default' for the first pair, then the schema's name."""
    taken = db.fetch(
        "SELECT 1 FROM pgchunk.collections AS c JOIN pg_catalog.pg_class AS t ON t.oid = c.documents"
        " WHERE c.name = 'default' AND c.documents <> $1::pg_catalog.regclass",
        ["text"],
        documents,
    )
    return schema if taken else "default"


def _functions(db: Database, schema: str, documents: str) -> dict[str, str]:
    """Names of a documents table's trigger functions by handler."""
    return {handler: _derived(db, schema, documents, f"_pgchunk_{handler}") for handler in _HANDLERS}


def _views(db: Database, schema: str, chunks: str) -> dict[str, str]:
    """Names of a chunk table's views: chunk_quality and so on beside chunks."""
    return {view: _derived(db, schema, chunks.removesuffix("s"), f"_{view}") for view in _VIEWS}


def _derived(db: Database, schema: str, stem: str, suffix: str) -> str:
    """A name made from a table's, cut so that PostgreSQL need not."""
    room = _NAME_BYTES - len(suffix.encode())
    return db.name(schema, stem.encode()[:room].decode(errors="ignore") + suffix)


def _quoted_text(text: str) -> str:
    return text.replace("'", "''")


@cache
def _template(name: str) -> Template:
    return Template((_TEMPLATES / f"{name}.sql").read_text(encoding="utf-8"))


def _run(db: Database, template: str, names: Mapping[str, str]) -> None:
    db.run(_template(template).substitute(names))
