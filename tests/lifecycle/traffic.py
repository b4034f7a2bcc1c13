"""Sessions that insert, edit and delete documents at random, beside each other."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psycopg

DOCUMENTS = 2000
"""Number of source_uris that the sessions fight for."""
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")
UPSERT = """
    INSERT INTO documents (source_uri, content) VALUES (%s, %s)
    ON CONFLICT (source_uri) DO UPDATE SET content = EXCLUDED.content
"""
SEVERAL = "UPDATE documents SET content = content || %s WHERE source_uri = ANY (%s)"
LOST = (psycopg.OperationalError, psycopg.InterfaceError)
"""What a session gets when its server goes away."""


def text(random: random.Random) -> str:
    """A document of a few sections, some of them short, some of several chunks."""
    parts = [f"## Part {n}\n\n" + f"{random.choice(WORDS)} goes on. " * random.randint(1, 300) for n in range(4)]
    random.shuffle(parts)
    return "# A document\n\n" + "\n\n".join(parts[: random.randint(0, 4)]) + "\n"


RETRIED = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
"""What a client may try again."""


@dataclass
class Session:
    """One writer. Only errors that a client may try again are allowed; any other ends it and is kept."""

    connect: Callable[[], psycopg.Connection[Any]]
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    failure: BaseException | None = None

    def run(self, until: Callable[[], bool]) -> None:
        """Writes until told to stop, or until the server goes away."""
        try:
            with self.connect() as connection:
                chance = random.Random(self.seed)
                while not until():
                    self._step(connection, chance)
        except Exception as error:
            self.failure = error

    def _step(self, connection: psycopg.Connection[Any], chance: random.Random) -> None:
        uris = [f"doc/{chance.randrange(DOCUMENTS)}" for _ in range(3)]
        what, statement, values = chance.choice(
            [
                ("upsert", UPSERT, (uris[0], text(chance))),
                ("upsert", UPSERT, (uris[0], text(chance))),
                ("update", "UPDATE documents SET content = %s WHERE source_uri = %s", (text(chance), uris[0])),
                ("update several", SEVERAL, (f"\n\n{chance.choice(WORDS)}\n", uris)),
                ("delete", "DELETE FROM documents WHERE source_uri = %s", (uris[0],)),
            ]
        )
        try:
            connection.execute(statement, values)
            self.done[what] += 1
        except RETRIED as error:
            self.retried[type(error).__name__] += 1


def rechunk(connect: Callable[[], psycopg.Connection[Any]], until: Callable[[], bool]) -> None:
    """Makes the chunks of strategy 'sections' stale and new again, over and over, until told to stop.

    The option that changes is one whose stale chunks still keep the laws.
    """
    try:
        with connect() as connection:
            while not until():
                _change(connection)
    except LOST:
        pass


def _change(connection: psycopg.Connection[Any]) -> None:
    try:
        connection.execute("UPDATE pgchunk.strategies SET target_tokens = 250 - target_tokens WHERE name = 'sections'")
        connection.execute("CALL pgchunk.rechunk('sections', 20)")
    except RETRIED:
        pass


def run(
    connect: Callable[[], psycopg.Connection[Any]], seconds: float, sessions: int = 4, seed: int = 0
) -> list[Session]:
    """Let several sessions write for a time while rechunk runs. Returns them with what they did."""
    deadline = time.monotonic() + seconds
    started = [Session(connect, seed + number) for number in range(sessions)]

    def until() -> bool:
        return time.monotonic() > deadline

    threads = [threading.Thread(target=one.run, args=(until,)) for one in started]
    threads.append(threading.Thread(target=rechunk, args=(connect, until)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return started


def problems(connection: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    """What is wrong with the tables: the laws, documents without the chunks of their content, orphans, doubles."""
    queries = (
        "SELECT source_uri, problems::text FROM chunk_coverage WHERE NOT ok",
        "SELECT source_uri, 'content_hash' FROM documents"
        " WHERE content_hash <> encode(sha256(convert_to(content, 'UTF8')), 'hex')",
        "SELECT document_id::text, 'orphan' FROM chunks AS c"
        " WHERE NOT EXISTS (SELECT FROM documents AS d WHERE d.id = c.document_id)",
        "SELECT d.source_uri, 'other chunks than its content gives' FROM documents AS d"
        " WHERE (SELECT array_agg((ordinal, content_hash, char_start, char_end) ORDER BY ordinal)"
        "        FROM chunks WHERE document_id = d.id AND strategy = 'default') IS DISTINCT FROM"
        "       (SELECT array_agg((ordinal, content_hash, char_start, char_end) ORDER BY ordinal)"
        "        FROM pgchunk.preview_document(d.id, 'default'))",
    )
    return [row for query in queries for row in connection.execute(query).fetchall()]
