"""The triggers of a documents table: fill in its columns before, write its chunks after."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from pgchunk.server import collections, strategies, write
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import NotOwner, reported
from pgchunk.strategy import Strategy
from pgchunk.title import derive_title

#: Tables whose restore this session was told of.
_told: Final[set[str]] = set()


@reported
def before(db: Database, trigger: dict[str, Any]) -> str | None:
    """Sets content_hash, title and time of change of the row that is being written.

    Raises:
        UnknownCollection: the table belongs to no collection.
    """
    collection = _collection(db, trigger)
    new, old = trigger["new"], trigger["old"]
    if collection.text(new) is None:
        # The table's own NOT NULL on the content is to speak, not that on a column which follows from it.
        derived = (collection.title, collection.content_hash)
        trigger["new"] = {column: "" for column in derived if column is not None and new.get(column) is None}
        return "MODIFY"
    changed = _filled_in(db, collection, new, old)
    # What is left out of "new" stays as it is, without a way through Python and back.
    trigger["new"] = {column: value for column, value in changed.items() if column is not None and column in new}
    return "MODIFY"


def _filled_in(db: Database, collection: Collection, new: Row, old: Row | None) -> dict[str | None, str]:
    text = collection.text(new) or ""
    changed: dict[str | None, str] = {collection.content_hash: hashlib.sha256(text.encode()).hexdigest()}
    if not collection.title_of(new) or (old is not None and _title_follows(db, collection, new, old)):
        changed[collection.title] = _derived_title(db, collection, new)
    if old is not None and collection.updated and new.get(collection.updated) == old.get(collection.updated):
        changed[collection.updated] = collection.now
    return changed


def _title_follows(db: Database, collection: Collection, new: Row, old: Row) -> bool:
    """Whether the title came from the content and was left to it."""
    title = collection.title_of(old)
    return (
        collection.title_of(new) == title
        and collection.text(new) != collection.text(old)
        and title == _derived_title(db, collection, old)
    )


def _derived_title(db: Database, collection: Collection, row: Row) -> str:
    text = collection.text(row) or ""
    return derive_title(text, collection.uri_of(row), collection.format_of(row), db.checkpoint)


@reported
def after(db: Database, trigger: dict[str, Any]) -> None:
    """Writes the chunks of the row that was written.

    Raises:
        UnknownCollection: the table belongs to no collection.
        UnknownStrategy: the row's metadata names a strategy that there is not.
        DocumentTooLarge, InvalidFormat: the row cannot be chunked.
        NotOwner: the function runs as another role than the chunk table's owner.
    """
    collection = _collection(db, trigger)
    check_owner(collection)
    if collection.restoring:
        _tell_of_restore(db, collection)
    new, old = trigger["new"], trigger["old"]
    choice = collection.choice_of(new)
    wanted = strategies.active(db) if choice is None else [strategies.named(db, choice)]
    stored = write.Stored() if old is None else write.stored(db, collection, new[collection.key])
    if old is not None and collection.choice_of(old) == choice:
        wanted = _with_kept(db, wanted, stored)
    write.document(db, collection, new, wanted, stored)


def _tell_of_restore(db: Database, collection: Collection) -> None:
    """Says that chunks are made anew which a dump may hold too."""
    if collection.documents not in _told:
        _told.add(collection.documents)
        db.warning(
            f"rows restored into {collection.documents} get new chunks",
            "If the dump holds the chunks too, they are in the way: restore with --disable-triggers.",
        )


def _with_kept(db: Database, wanted: list[Strategy], stored: write.Stored) -> list[Strategy]:
    """Adds strategies that are active no more but have chunks: an edit keeps those in step, loses none."""
    return wanted + strategies.known(db, stored.keys() - {strategy.name for strategy in wanted})


def _collection(db: Database, trigger: dict[str, Any]) -> Collection:
    return collections.of_table(db, int(trigger["relid"]))


def check_owner(collection: Collection) -> None:
    """The trigger function has its owner's rights, and lends them to nobody else's table.

    Raises:
        NotOwner: the chunk table belongs to another role.
    """
    if collection.owner != collection.runs_as:
        raise NotOwner(
            f"chunks cannot be written to {collection.chunks}",
            detail=f"The table belongs to {collection.owner}, its trigger function to {collection.runs_as}.",
            hint="After a change of owner, run pgchunk.create_tables() for the schema again as that role.",
        )
