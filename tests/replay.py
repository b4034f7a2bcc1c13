"""Replays a history of edits as UPDATEs, and counts the tokens that each queues for embedding.

Usage: python tests/replay.py EDITS.jsonl.gz

Each line of the file is an object with source_uri, old and new. Between the steps a stand-in for a worker embeds what
is queued. What an edit must queue is worked out apart from the server: the tokens of those chunks of the new version
whose text stands nowhere in the chunk table. All other chunks of the document must keep their ids.
Exit status 1 when a figure differs.
"""

from __future__ import annotations

import gzip
import json
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import psycopg

from pgchunk import Chunk, chunk
from pgchunk.title import derive_title

EMBED = """
    UPDATE chunks SET embedding = ARRAY[1 + get_byte(decode(content_hash, 'hex'), 0), 1, 1]::vector,
        embedding_model = 'stand-in', embedded_at = now()
    WHERE embedding IS NULL
"""
STORE = """
    INSERT INTO documents (source_uri, content) VALUES (%(source_uri)s, %(old)s)
    ON CONFLICT (source_uri) DO UPDATE SET content = EXCLUDED.content WHERE documents.content <> EXCLUDED.content
"""


@dataclass
class Report:
    """Sums over a replay, in tokens and chunks."""

    edits: int = 0
    chunks: int = 0
    kept: int = 0
    #: tokens queued by the server, tokens whose text is new, tokens that delete-and-rebuild would queue
    queued: int = 0
    new: int = 0
    rebuild: int = 0
    update_seconds: float = 0
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        return [
            f"{self.edits} edits, {self.chunks} chunks in the new versions, {self.kept} of them kept id and embedding",
            f"{'':<44}{'tokens':>12}{'':>10}",
            f"{'queued for embedding':<44}{self.queued:>12,}{_ratio(self.queued, self.new):>10}",
            f"{'of chunks whose text is new':<44}{self.new:>12,}{_ratio(self.new, self.new):>10}",
            f"{'delete and rebuild would queue':<44}{self.rebuild:>12,}{_ratio(self.rebuild, self.new):>10}",
            f"{self.update_seconds:.1f} s in the UPDATEs",
        ]


def _ratio(part: int, whole: int) -> str:
    return f"{part / whole:.2f} x" if whole else "-"


def read(path: Path) -> Iterator[dict[str, str]]:
    """The edits of a file, compressed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def replay(connection: psycopg.Connection[Any], edits: Iterable[dict[str, str]]) -> Report:
    """Replays edits in a database that has pgchunk's tables, of 3 dimensions, and one active strategy."""
    report = Report()
    for edit in edits:
        connection.execute(STORE, edit)
        connection.execute(EMBED)
        before = _stored(connection)
        started = perf_counter()
        connection.execute("UPDATE documents SET content = %(new)s WHERE source_uri = %(source_uri)s", edit)
        report.update_seconds += perf_counter() - started
        _account(connection, edit, before, _stored(connection), report)
    return report


#: Chunks by id: source_uri and content_hash.
Stored = dict[int, tuple[str, str]]


def _stored(connection: psycopg.Connection[Any]) -> Stored:
    rows = connection.execute(
        "SELECT c.id, d.source_uri, c.content_hash FROM chunks AS c JOIN documents AS d ON d.id = c.document_id"
    )
    return {row[0]: (row[1], row[2]) for row in rows}


def _account(
    connection: psycopg.Connection[Any], edit: dict[str, str], before: Stored, after: Stored, report: Report
) -> None:
    uri = edit["source_uri"]
    chunks = chunk(edit["new"], derive_title(edit["new"], uri))
    queued = connection.execute(
        "SELECT coalesce(sum(content_token_count), 0)::int FROM chunks WHERE embedding IS NULL"
    ).fetchone()
    assert queued is not None
    new = _new_tokens(chunks, {content_hash for _, content_hash in before.values()})
    kept = _check_ids(uri, chunks, before, after, report)
    if queued[0] != new:
        report.problems.append(f"edit {report.edits} of {uri}: {queued[0]} tokens queued, {new} are new")
    report.edits += 1
    report.chunks += len(chunks)
    report.kept += kept
    report.queued += queued[0]
    report.new += new
    report.rebuild += sum(one.content_token_count for one in chunks)


def _new_tokens(chunks: list[Chunk], known: set[str]) -> int:
    return sum(one.content_token_count for one in chunks if one.content_hash not in known)


def _check_ids(uri: str, chunks: list[Chunk], before: Stored, after: Stored, report: Report) -> int:
    """Sees that every chunk that can keep its id has kept it; returns how many of the document have."""
    wanted = Counter(one.content_hash for one in chunks)
    if Counter(content_hash for name, content_hash in after.values() if name == uri) != wanted:
        report.problems.append(f"edit {report.edits} of {uri}: other chunks than its content gives")
    had = Counter(content_hash for name, content_hash in before.values() if name == uri)
    kept = Counter(row[1] for key, row in after.items() if row[0] == uri and before.get(key) == row)
    if kept != wanted & had:
        report.problems.append(f"edit {report.edits} of {uri}: {kept.total()} ids kept of {(wanted & had).total()}")
    others = {key: row for key, row in before.items() if row[0] != uri}
    if others != {key: row for key, row in after.items() if row[0] != uri}:
        report.problems.append(f"edit {report.edits} of {uri}: chunks of other documents changed")
    return kept.total()


def main(arguments: list[str]) -> int:
    """Replays in a database of its own on the checkout's private server, and prints the figures."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
    import serve

    cluster = serve.ready_cluster()
    name = f"replay_{uuid.uuid4().hex[:8]}"
    cluster.sql(f"CREATE DATABASE {name}")
    try:
        with psycopg.connect(cluster.dsn(name), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION pgchunk CASCADE")
            connection.execute("SELECT pgchunk.create_tables(dimensions => 3, index => 'none')")
            report = replay(connection, read(Path(arguments[0])))
    finally:
        cluster.sql(f"DROP DATABASE {name} WITH (FORCE)")
    print("\n".join([*report.lines(), *report.problems]))
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
