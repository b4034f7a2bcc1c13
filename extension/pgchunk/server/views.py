"""The views beside a chunk table: what they are made of, and their making."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pgchunk.server import templates
from pgchunk.server.collections import STRATEGY_KEY, Collection
from pgchunk.server.database import Database, quoted_text

#: What CREATE OR REPLACE VIEW says when a column has gone or has another name or type.
_OTHER_COLUMNS: Final = "42P16"


def columns(db: Database, collection: Collection) -> dict[str, str]:
    """The tables, and their columns as expressions on a row d of documents, by the name they have in templates."""

    def column(name: str | None, missing: str) -> str:
        return f"d.{db.name(name)}" if name else missing

    metadata = collection.metadata
    return {
        "documents": collection.documents,
        "documents_literal": f"'{quoted_text(collection.documents)}'",
        "chunks": collection.chunks,
        "key": db.name(collection.key),
        "uri": db.name(collection.uri or collection.key),
        "content": db.name(collection.content),
        "title": column(collection.title, "''"),
        "format": column(collection.format, "'markdown'"),
        "hash": column(collection.content_hash, "NULL"),
        "choice": f"(d.{db.name(metadata)} ->> '{STRATEGY_KEY}')" if metadata else "NULL::text",
    }


def stale(db: Database, collection: Collection) -> str:
    """The query of chunk_stale."""
    return templates.text("stale", columns(db, collection))


def make(db: Database, collection: Collection, names: Mapping[str, str]) -> None:
    """Makes the views, or replaces those that are there without losing their grants.

    Args:
        collection: whose chunk table they are for.
        names: what stands for what in the template.
    """
    if db.run_unless(_OTHER_COLUMNS, templates.text("views", names)):
        return
    views = [db.name(*view) for view in _there(db, collection)]
    grants = [grant for view in views for grant in _grants(db, view)]
    owner = f"ALTER VIEW {{}} OWNER TO {db.name(collection.owner)};"
    db.run("".join(f"DROP VIEW {view};" for view in views))
    templates.run(db, "views", names)
    db.run("".join([*map(owner.format, views), *grants]))


def _there(db: Database, collection: Collection) -> list[tuple[str, str]]:
    """Schema and name of the views of ours that there are."""
    schema, chunks = templates.parts(db, collection.chunks)
    made = list(templates.views(db, schema, chunks).values())
    rows = db.fetch(
        "SELECT n.nspname, c.relname FROM unnest($1) AS made JOIN pg_class AS c ON c.oid = to_regclass(made)"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'v'",
        ["text[]"],
        made,
    )
    return [(row["nspname"], row["relname"]) for row in rows]


def _grants(db: Database, view: str) -> list[str]:
    """Statements that give the rights on a view again which there are now."""
    rows = db.fetch(
        "SELECT privilege_type, is_grantable, CASE WHEN grantee <> 0 THEN pg_get_userbyid(grantee) END AS grantee"
        " FROM pg_class, aclexplode(relacl) WHERE pg_class.oid = $1::regclass AND grantee <> relowner",
        ["text"],
        view,
    )
    return [
        f"GRANT {row['privilege_type']} ON {view} TO {db.name(row['grantee']) if row['grantee'] else 'PUBLIC'}"
        f"{' WITH GRANT OPTION' if row['is_grantable'] else ''};"
        for row in rows
    ]
