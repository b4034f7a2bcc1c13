"""What a change of strategy does: rechunk(), remove_chunks() and, before anything is written, what_if()."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgchunk.errors import PgchunkError
from pgchunk.server import collections, documents, recipes, strategies, worker, write
from pgchunk.server.collections import Collection
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import InTransaction, InvalidArgument, StrategyInUse, reported
from pgchunk.server.worker import Worker
from pgchunk.strategy import Strategy

#: A row of a set: values in the order of the columns.
Values = list[Any]


@reported
def rechunk(db: Database, strategy: str | None, batch_size: int | None, collection: str | None) -> None:
    """Brings stale chunks up to date, in the order of the documents' keys, and commits after each batch.

    Nothing is kept between calls: one that was stopped goes on where it was, because what is done is not stale.

    Args:
        strategy: only this one's chunks; None: all strategies'.
        batch_size: documents in a transaction.

    Raises:
        InTransaction: it cannot commit here.
        InvalidArgument: batch_size is NULL or less than 1.
        UnknownCollection, UnknownStrategy: there is none of this name.
        NotOwner: the caller has not the rights of the tables' owner.
    """
    if batch_size is None or batch_size < 1:
        raise InvalidArgument(
            f"invalid batch_size {'NULL' if batch_size is None else batch_size}",
            detail="batch_size must be 1 or more: it is how many documents a transaction writes.",
            hint="Leave it out to have 100.",
        )
    _begin(db)
    name = collections.named(db, collection).name
    if strategy is not None:
        strategies.named(db, strategy)
    total = _worker(db, name).do(db, "count", strategy=strategy)["documents"]
    _say(db, f"{total} stale documents in collection {name}")
    done = failed = 0
    locked: list[str] = []
    last: str | None = None
    more = bool(total)
    while more:
        answer = _worker(db, name).do(db, "batch", strategy=strategy, after=last, limit=batch_size)
        last, locked = answer["last"], locked + answer["locked"]
        done, failed = done + answer["done"], failed + answer["failed"]
        more = last is not None
        _begin(db)
        if more:
            _say(db, f"{done} of {total} documents chunked again")
    for key in locked:
        answer = _worker(db, name).do(db, "batch", strategy=strategy, keys=[key])
        done, failed = done + answer["done"], failed + answer["failed"]
        _begin(db)
    if locked:
        _say(db, f"{done} of {total} documents chunked again, those that other sessions were writing at last")
    if failed:
        _say(db, f"{failed} documents keep the chunks they had: see the warnings")
    db.commit()  # ends the search_path too


def _begin(db: Database) -> None:
    """Commits, and begins a transaction in which names mean what they should.

    The procedure has the caller's search_path, in which anybody's functions and operators may come first.
    """
    try:
        db.commit()
    except Exception as error:
        if getattr(error, "sqlstate", None) != "2D000":
            raise
        raise InTransaction(
            "rechunk() cannot run inside a transaction block",
            detail="It commits after each batch.",
            hint="CALL it on its own, outside BEGIN and functions; drivers: switch autocommit on.",
        ) from None
    db.pin_search_path()


def _worker(db: Database, collection: str) -> Worker:
    """Looked up in each transaction: tables can be renamed in between."""
    return worker.of(db, collections.named(db, collection))


def _say(db: Database, message: str) -> None:
    db.notice(f"rechunk: {message}")


@reported
def remove_chunks(db: Database, strategy: str | None, collection: str | None) -> int:
    """Deletes the chunks of a strategy from the documents that do not call for it any more.

    Returns:
        How many chunks.

    Raises:
        InvalidArgument: strategy is NULL.
        StrategyInUse: all documents that have its chunks call for them.
        UnknownStrategy: there is none of this name, and no chunk of it either.
        UnknownCollection: there is none of this name.
        NotOwner: the caller has not the rights of the tables' owner.
    """
    if strategy is None:
        raise InvalidArgument(
            "strategy is NULL",
            detail="remove_chunks() deletes the chunks of one strategy.",
            hint="Give the name of a strategy.",
        )
    pair = collections.named(db, collection)
    answer = worker.of(db, pair).do(db, "remove", strategy=strategy)
    removed, left = int(answer["removed"]), int(answer["left"])
    if not removed and not left:
        strategies.named(db, strategy)
    elif not removed:
        raise StrategyInUse(
            f"{left} documents call for the chunks of strategy {strategy!r}",
            detail="Documents call for a strategy that they choose; those that choose none, for the active ones.",
            hint="First run UPDATE pgchunk.strategies SET is_active = false for it; documents that choose it in their "
            "metadata keep it until they do not.",
        )
    elif left:
        db.notice(f"{left} documents keep their chunks of strategy {strategy}: they call for it")
    return removed


@reported
def strategies_written(db: Database, trigger: dict[str, Any]) -> None:
    """Records the recipe of a strategy that was written; keeps one that has chunks.

    Raises:
        StrategyInUse: a strategy that has chunks was deleted or renamed.
    """
    new, old = trigger["new"], trigger["old"]
    if new is not None:
        recipes.record(db, strategies.of_row(new), shipped=strategies.are_shipped())
    if old is not None and not strategies.are_shipped() and (new is None or new["name"] != old["name"]):
        _keep_in_use(db, old["name"])


def _keep_in_use(db: Database, strategy: str) -> None:
    for one in worker.usable(db):
        if one.do(db, "has_chunks", strategy=strategy)["found"]:
            raise StrategyInUse(
                f"strategy {strategy!r} still has chunks in collection {one.collection!r}",
                detail="Without its row they could not be kept in step with their documents.",
                hint="To be rid of them, run UPDATE pgchunk.strategies SET is_active = false for it, then SELECT "
                "pgchunk.remove_chunks(); to keep them, only switch it off.",
            )


# What if


@dataclass(slots=True)
class _Embeddings:
    """Which contents have an embedding that can be taken over, while documents are chunked in thought.

    Rows that have gone cannot be taken from any more, and rows that have taken over can.
    """

    gone: Counter[str] = field(default_factory=Counter)
    copied: set[str] = field(default_factory=set)

    def reusable(self, db: Database, collection: Collection, hashes: set[str]) -> set[str]:
        asked = sorted(hashes - self.copied)
        rows = db.fetch(
            f"SELECT n.content_hash FROM unnest($1, $2) AS n (content_hash, gone) WHERE n.gone < ("
            f"SELECT count(*) FROM (SELECT FROM {collection.chunks} AS c WHERE c.content_hash = n.content_hash"
            " AND c.embedding IS NOT NULL LIMIT n.gone + 1) AS x)",
            ["text[]", "integer[]"],
            asked,
            [self.gone[one] for one in asked],
        )
        return (hashes & self.copied) | {row["content_hash"] for row in rows}


@reported
def what_if(db: Database, strategy: str | None, overrides: str | None, collection: str | None) -> list[Values]:
    """What rechunk() would do to each document if the strategy were active and had these options.

    Args:
        strategy: its name; None: the default one.
        overrides: JSON object of options.

    Returns:
        Rows of document_id, source_uri, chunks_kept, chunks_added, chunks_removed, embeddings_reused (chunks of the
        new set that have an embedding at once), tokens_to_embed (of those that have none).

    Raises:
        InvalidOption: an override is unknown or out of range.
        UnknownCollection, UnknownStrategy: there is none of this name.
    """
    pair = collections.named(db, collection)
    chosen = strategies.chosen(db, strategy, overrides)
    embeddings = _Embeddings()
    return [values for row in documents.every(db, pair) for values in _effect(db, pair, row, chosen, embeddings)]


def _effect(db: Database, pair: Collection, row: Row, strategy: Strategy, embeddings: _Embeddings) -> Iterator[Values]:
    """The row for a document, if the strategy concerns it."""
    key = row[pair.key]
    stored = write.stored(db, pair, key)
    if pair.choice_of(row) not in (None, strategy.name) and strategy.name not in stored:
        return
    try:
        chunks = write.chunk_row(db, pair, row, strategy)
    except PgchunkError as error:
        db.warning(f"document {pair.uri_of(row)} would keep its chunks: {error.message}")
        return
    change = write.match(strategy, chunks, stored.get(strategy.name) or write.StoredChunks())
    embedded = _embedded(db, pair, key, strategy.name)
    reusable = embeddings.reusable(db, pair, {one.content_hash for one in change.new})
    embeddings.gone.update(embedded[one] for one in change.gone if one in embedded)
    embeddings.copied |= reusable
    to_embed = [one for id, one in change.kept if id not in embedded]
    to_embed += [one for one in change.new if one.content_hash not in reusable]
    yield [
        str(key),
        pair.uri_of(row),
        len(change.kept),
        len(change.new),
        len(change.gone),
        len(change.kept) + len(change.new) - len(to_embed),
        sum(one.content_token_count for one in to_embed),
    ]


def _embedded(db: Database, pair: Collection, key: Any, strategy: str) -> dict[int, str]:
    """The content_hash of each chunk of a document and strategy that has an embedding, by id."""
    rows: Sequence[Row] = db.fetch(
        f"SELECT id, content_hash FROM {pair.chunks}"
        " WHERE document_id = $1 AND strategy = $2 AND embedding IS NOT NULL",
        [pair.key_type, "text"],
        key,
        strategy,
    )
    return {row["id"]: row["content_hash"] for row in rows}
