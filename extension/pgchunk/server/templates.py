"""The SQL of a collection's tables, views and triggers, and the names of what is made beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from pgchunk.server.database import Database

FOLDER: Final = Path(__file__).resolve().parent.parent / "templates"
_NAME_BYTES: Final = 63
_VIEWS: Final = ("quality", "histogram", "outliers", "coverage", "stale")
#: The function through which chunks are written on demand, by its handler.
WORKER: Final = "work"
#: Trigger functions, which are named for their handler, and what they do.
HANDLERS: Final = {
    "before": "fills in title, content_hash and time of change",
    "after": "keeps the chunks in step with the content",
}


@cache
def _template(name: str) -> Template:
    return Template((FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


def text(template: str, names: Mapping[str, str]) -> str:
    """A template with the names put in."""
    return _template(template).substitute(names)


def run(db: Database, template: str, names: Mapping[str, str]) -> None:
    db.run(text(template, names))


def parts(db: Database, table: str) -> tuple[str, str]:
    """Schema and name of a table, unquoted."""
    row = db.fetch(
        "SELECT n.nspname, t.relname FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace"
        " WHERE t.oid = $1::regclass",
        ["text"],
        table,
    )[0]
    return row["nspname"], row["relname"]


def functions(db: Database, schema: str, documents: str) -> dict[str, str]:
    """Names of a documents table's trigger functions by handler."""
    return {handler: _derived(db, schema, documents, f"_pgchunk_{handler}") for handler in HANDLERS}


def worker(db: Database, schema: str, documents: str) -> str:
    """Name of a documents table's worker function."""
    return _derived(db, schema, documents, f"_pgchunk_{WORKER}")


def consent(db: Database, schema: str, documents: str) -> str:
    """Name of the function by which a documents table's owner consents to be adopted."""
    return _derived(db, schema, documents, "_pgchunk_consent")


def views(db: Database, schema: str, chunks: str) -> dict[str, str]:
    """Names of a chunk table's views: chunk_quality and so on beside chunks."""
    return {view: _derived(db, schema, chunks.removesuffix("s"), f"_{view}") for view in _VIEWS}


def _derived(db: Database, schema: str, stem: str, suffix: str) -> str:
    """A name made from a table's, cut so that PostgreSQL need not."""
    room = _NAME_BYTES - len(suffix.encode())
    return db.name(schema, stem.encode()[:room].decode(errors="ignore") + suffix)
