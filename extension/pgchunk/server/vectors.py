"""The type of the embeddings, as pgvector has it."""

from __future__ import annotations

from typing import Final

from pgchunk.server.database import Database
from pgchunk.server.errors import FeatureMissing, InvalidArgument

#: Most dimensions of a column, and of an HNSW index, by type of pgvector.
_LIMITS: Final = {"vector": (16000, 2000), "halfvec": (16000, 4000)}
_INDEXES: Final = ("hnsw", "none")


def check_arguments(dimensions: int, vector_type: str, index: str) -> None:
    """Raises InvalidArgument unless pgvector can make such a column and index."""
    if vector_type not in _LIMITS:
        raise _refuse("vector_type", vector_type, f"one of {', '.join(_LIMITS)}")
    if index not in _INDEXES:
        raise _refuse("index", index, f"one of {', '.join(_INDEXES)}")
    column_limit, index_limit = _LIMITS[vector_type]
    if not 1 <= dimensions <= column_limit:
        raise _refuse("dimensions", dimensions, f"from 1 to {column_limit} for {vector_type}")
    if index == "hnsw" and dimensions > index_limit:
        other = "vector_type => 'halfvec' or " if dimensions <= _LIMITS["halfvec"][1] else ""
        raise InvalidArgument(
            f"{dimensions} dimensions are too many for an HNSW index on {vector_type}",
            detail=f"pgvector indexes {vector_type} up to {index_limit} dimensions.",
            hint=f"Use {other}index => 'none'.",
        )


def _refuse(argument: str, value: object, allowed: str) -> InvalidArgument:
    return InvalidArgument(
        f"invalid {argument} {value!r}",
        detail=f"{argument} must be {allowed}.",
        hint=f"Give create_tables() another {argument}.",
    )


def column_type(db: Database, dimensions: int, vector_type: str) -> str:
    schema = _schema(db)
    if not db.fetch("SELECT 1 WHERE to_regtype($1) IS NOT NULL", ["text"], f"{schema}.{vector_type}"):
        raise FeatureMissing(
            f"pgvector has no type {vector_type} here",
            detail="halfvec came with pgvector 0.7.",
            hint="Install a newer pgvector and run ALTER EXTENSION vector UPDATE.",
        )
    return f"{schema}.{vector_type}({dimensions})"


def _schema(db: Database) -> str:
    rows = db.fetch(
        "SELECT n.nspname FROM pg_extension AS x"
        " JOIN pg_namespace AS n ON n.oid = x.extnamespace WHERE x.extname = 'vector'"
    )
    return db.name(rows[0]["nspname"])


def index_statement(db: Database, chunks: str, vector_type: str, index: str) -> str:
    if index == "none":
        return ""
    return f"CREATE INDEX ON {chunks} USING hnsw (embedding {_schema(db)}.{vector_type}_cosine_ops);"
