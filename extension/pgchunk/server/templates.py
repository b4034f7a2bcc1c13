"""The SQL of a collection's tables, views and triggers, and the names of what is made beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from pgchunk.server.database import Database

_FOLDER: Final = Path(__file__).resolve().parent.parent / "templates"
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
    return Template((_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


def text(template: str, names: Mapping[str, str]) -> str:
    return _template(template).substitute(names)


def run(db: Database, template: str, names: Mapping[str, str]) -> None:
    db.run(text(template, names))


def functions(db: Database, schema: str, documents: str) -> dict[str, str]:
    """Names of a documents table's trigger functions by handler."""
    return {handler: _derived(db, schema, documents, f"_pgchunk_{handler}") for handler in HANDLERS}


def worker(db: Database, schema: str, documents: str) -> str:
    """Name of a documents table's worker function."""
    return _derived(db, schema, documents, f"_pgchunk_{WORKER}")


def views(db: Database, schema: str, chunks: str) -> dict[str, str]:
    """Names of a chunk table's views: chunk_quality and so on beside chunks."""
    return {view: _derived(db, schema, chunks.removesuffix("s"), f"_{view}") for view in _VIEWS}


def _derived(db: Database, schema: str, stem: str, suffix: str) -> str:
    """A name made from a table's, cut so that PostgreSQL need not."""
    room = _NAME_BYTES - len(suffix.encode())
    return db.name(schema, stem.encode()[:room].decode(errors="ignore") + suffix)
