"""Making the tables, views and triggers of a collection from the templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain, count

from pgchunk.server import adoption, collections, templates, vectors, views
from pgchunk.server.adoption import COLUMNS
from pgchunk.server.collections import STRATEGY_KEY
from pgchunk.server.database import Database, quoted_text
from pgchunk.server.errors import InvalidArgument, MissingColumn, MissingSchema, NotOwner, reported


@reported
def create_tables(
    db: Database, schema: str | None, dimensions: int | None, vector_type: str | None, index: str | None
) -> str:
    """Makes documents and chunks with views and triggers in a schema; tables that are there stay as they are.

    Args:
        schema: where; it must exist.
        dimensions: of the embeddings.
        vector_type: 'vector' or 'halfvec'.
        index: 'hnsw', or 'none' for no index on the embeddings.

    Returns:
        Name of the collection.

    Raises:
        InvalidArgument: an argument is NULL or out of range.
        FeatureMissing: pgvector is too old for the type.
        MissingColumn: a table documents is there and lacks a column.
        NotOwner, NameTaken: as adopt().
    """
    if schema is None or dimensions is None or vector_type is None or index is None:
        raise InvalidArgument(
            "an argument of create_tables() is NULL",
            detail="schema, dimensions, vector_type and index each need a value.",
            hint="Leave an argument out to have its default.",
        )
    vectors.check_arguments(dimensions, vector_type, index)
    _check_schema(db, schema)
    names = {"documents": db.name(schema, "documents"), "chunks": db.name(schema, "chunks")}
    if _exists(db, names["documents"]):
        _check_columns(db, names["documents"])
    else:
        templates.run(db, "documents", names | {"chunks_text": quoted_text(names["chunks"])})
    vector = vectors.column_type(db, dimensions, vector_type)
    if _exists(db, names["chunks"]):
        _tell_difference(db, names["chunks"], vector)
    else:
        made = {
            "vector": vector,
            "embedding_index": vectors.index_statement(db, names["chunks"], vector_type, index),
        }
        text = {"documents_text": quoted_text(names["documents"]), "key": "id", "key_type": "bigint"}
        templates.run(db, "chunks", names | made | text)
    name = _collection_name(db, schema, names["documents"])
    return finish(db, names["documents"], names["chunks"], name, COLUMNS)


def _check_schema(db: Database, schema: str) -> None:
    """Refuses a schema that is not there, or in which the caller may not make tables."""
    rows = db.fetch(
        "SELECT has_schema_privilege(current_user, n.oid, 'CREATE') AS may FROM pg_namespace AS n WHERE n.nspname = $1",
        ["name"],
        schema,
    )
    if not rows:
        raise MissingSchema(
            f"schema {db.name(schema)} does not exist",
            detail="create_tables() makes its tables in a schema that is there.",
            hint=f"Run CREATE SCHEMA {db.name(schema)}; first.",
        )
    if not rows[0]["may"]:
        raise NotOwner(
            f"you may not make tables in schema {db.name(schema)}",
            detail="That needs CREATE on the schema.",
            hint=f"Its owner runs: GRANT CREATE ON SCHEMA {db.name(schema)} TO ...; or name a schema of your own.",
        )


def finish(db: Database, documents: str, chunks: str, name: str, columns: Mapping[str, str | None]) -> str:
    """Registers a pair of tables and makes their trigger functions, triggers and views, or makes them anew.

    Args:
        documents, chunks: the tables, qualified and quoted.
        name: of the collection; a pair that is registered keeps the name it has.
        columns: the column names of pgchunk.collections.

    Returns:
        Name of the collection.
    """
    adoption.consent(db, documents, chunks, name, columns)
    registered = db.fetch(
        "SELECT pgchunk._adopt($1::regclass, $2::regclass, $3, $4) AS name",
        ["text", "text", "text", "jsonb"],
        documents,
        chunks,
        name,
        json.dumps(columns),
    )[0]["name"]
    _make_own(db, str(registered))
    return str(registered)


def _make_own(db: Database, name: str) -> None:
    """Makes what belongs to the caller: triggers and views."""
    collection = collections.named(db, name)
    columns = (collection.content, collection.title, collection.uri, collection.format, collection.metadata)
    changed = [_differs(db.name(one)) for one in (*columns, collection.content_hash) if one]
    texts = (collection.content, collection.title, collection.format)
    rechunk = [_differs(db.name(one)) for one in texts if one]
    if collection.metadata:
        rechunk.append(_differs(f"{db.name(collection.metadata)} ->> '{STRATEGY_KEY}'"))
    functions = templates.functions(db, *templates.parts(db, collection.documents))
    templates.run(
        db,
        "triggers",
        functions
        | {
            "documents": collection.documents,
            "changed": " OR ".join(changed),
            "rechunk": " OR ".join(rechunk),
        },
    )
    names = templates.views(db, *templates.parts(db, collection.chunks)) | views.columns(db, collection)
    views.make(db, collection, names | {"stale_query": views.stale(db, collection)})


def _differs(expression: str) -> str:
    return f"(OLD.{expression}) IS DISTINCT FROM (NEW.{expression})"


def _check_columns(db: Database, documents: str) -> None:
    rows = db.fetch(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped",
        ["text"],
        documents,
    )
    missing = sorted(set(COLUMNS.values()) - {row["attname"] for row in rows})
    if missing:
        raise MissingColumn(
            f"table {documents} lacks {', '.join(missing)}",
            detail="A table of this name is there, and is not one that create_tables() made.",
            hint="Add the columns, or call create_tables() with another schema.",
        )


def _tell_difference(db: Database, chunks: str, vector: str) -> None:
    """Says so when a chunk table is there with embeddings of another type than asked for."""
    rows = db.fetch(
        "SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute"
        " WHERE attrelid = $1::regclass AND attname = 'embedding' AND NOT attisdropped",
        ["text"],
        chunks,
    )
    found = rows[0]["type"] if rows else "none"
    if found != vector:
        db.notice(f"table {chunks} exists with embeddings of type {found} and stays as it is")


def _exists(db: Database, table: str) -> bool:
    return bool(db.fetch("SELECT 1 WHERE to_regclass($1) IS NOT NULL", ["text"], table))


def _collection_name(db: Database, schema: str, documents: str) -> str:
    """'default' for the first pair, then the schema's name, with a number behind when another has taken that."""
    rows = db.fetch(
        "SELECT c.name FROM pgchunk.collections AS c JOIN pg_class AS t ON t.oid = c.documents"
        " WHERE c.documents <> $1::regclass",
        ["text"],
        documents,
    )
    taken = {row["name"] for row in rows}
    numbered = (f"{schema}_{number}" for number in count(2))
    return next(name for name in chain((collections.DEFAULT, schema), numbered) if name not in taken)
