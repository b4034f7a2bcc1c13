"""Row security of documents, carried to their chunks."""

from __future__ import annotations

from typing import Final

from pgchunk.server import collections
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database
from pgchunk.server.errors import reported

POLICY: Final = "pgchunk_follows_documents"


@reported
def carry_row_security(db: Database, collection: str | None) -> None:
    """Lets every role see, and change, exactly the chunks of the documents that it sees.

    The owner of the tables, with whose rights chunks are written, is held by no policy on chunks.

    Raises:
        UnknownCollection: there is none of this name.
    """
    pair = collections.named(db, collection)
    db.run(f"ALTER TABLE {pair.chunks} ENABLE ROW LEVEL SECURITY")
    if POLICY not in _policies(db, pair):
        # The subquery runs with the reader's rights, so that the policies on documents hold in it.
        db.run(
            f"CREATE POLICY {POLICY} ON {pair.chunks} USING (EXISTS (SELECT 1 FROM {pair.documents} AS d"
            f" WHERE d.{db.name(pair.key)} = document_id))"
        )
    if _is_forced(db, pair):
        db.notice(f"policies on {pair.documents} are forced on its owner, and are not on {pair.chunks}")


@reported
def drop_row_security(db: Database, collection: str | None) -> None:
    """Takes back what carry_row_security() did; policies of others on chunks stay, and stay in force.

    Raises:
        UnknownCollection: there is none of this name.
    """
    pair = collections.named(db, collection)
    policies = _policies(db, pair)
    if POLICY not in policies:
        return
    db.run(f"DROP POLICY {POLICY} ON {pair.chunks}")
    if policies == {POLICY}:
        db.run(f"ALTER TABLE {pair.chunks} DISABLE ROW LEVEL SECURITY")


def _policies(db: Database, pair: Collection) -> set[str]:
    rows = db.fetch("SELECT polname FROM pg_policy WHERE polrelid = $1::regclass", ["text"], pair.chunks)
    return {row["polname"] for row in rows}


def _is_forced(db: Database, pair: Collection) -> bool:
    query = "SELECT 1 FROM pg_class WHERE oid = $1::regclass AND relrowsecurity AND relforcerowsecurity"
    return bool(db.fetch(query, ["text"], pair.documents))
