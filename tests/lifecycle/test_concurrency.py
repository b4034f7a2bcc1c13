"""Sessions beside each other: they serialise on the document, and leave neither orphans nor doubles."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

import lifecycle.traffic as traffic

PARTS = [f"## Part {n}\n\n" + f"Words of part {n}. " * 60 for n in range(6)]
TEXT = "# T\n\n" + "\n\n".join(PARTS)


def in_background(connection, statement, *values):
    """Run a statement in a thread; join() waits for it, and `outcome` then holds its error, if any."""
    outcome: list[Exception] = []

    def run():
        try:
            connection.execute(statement, values)
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def wait_until_blocked(db, pid):
    for _ in range(200):
        if db.execute("SELECT cardinality(pg_blocking_pids(%s))", [pid]).fetchone()[0]:
            return
        time.sleep(0.02)
    raise AssertionError("the second session does not wait for the first")


@pytest.fixture
def document(db):
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('u', %s)", [TEXT])
    return db.execute("SELECT id FROM documents").fetchone()[0]


EDITS = {
    "update": ("UPDATE documents SET content = %s", TEXT.replace("part 2", "part two")),
    "upsert": (traffic.UPSERT.replace("VALUES (%s", "VALUES ('u'"), TEXT.replace("part 3", "part three")),
    "delete": ("DELETE FROM documents WHERE content <> %s", "x"),
}


@pytest.mark.parametrize("end", ["commit", "rollback"])
@pytest.mark.parametrize("second", EDITS)
@pytest.mark.parametrize("first", EDITS)
def test_two_sessions_on_one_document(db, connect, document, first, second, end):
    holder, waiter = connect(autocommit=False), connect()
    holder.execute(*_with_values(first))
    thread, outcome = in_background(waiter, *_with_values(second, flat=True))
    wait_until_blocked(db, waiter.info.backend_pid)
    getattr(holder, end)()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert outcome == []
    assert traffic.problems(db) == []
    if second == "delete":
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (0,)


def _with_values(edit, flat=False):
    statement, value = EDITS[edit]
    return (statement, value) if flat else (statement, [value])


def test_two_inserts_of_one_source_uri(db, connect):
    holder, waiter = connect(autocommit=False), connect()
    holder.execute("INSERT INTO documents (source_uri, content) VALUES ('u', 'first')")
    thread, outcome = in_background(waiter, "INSERT INTO documents (source_uri, content) VALUES ('u', 'second')")
    wait_until_blocked(db, waiter.info.backend_pid)
    holder.commit()
    thread.join(timeout=60)
    assert isinstance(outcome[0], psycopg.errors.UniqueViolation)
    assert db.execute("SELECT array_agg(raw_content) FROM chunks").fetchone() == (["first"],)


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_snapshot_that_is_too_old_is_a_serialisation_failure(db, connect, document, level):
    old = connect(autocommit=False)
    old.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
    old.execute("SELECT count(*) FROM documents")
    db.execute("UPDATE documents SET content = 'newer'")
    with pytest.raises(psycopg.errors.SerializationFailure):
        old.execute("UPDATE documents SET content = 'older'")
    old.rollback()
    assert db.execute("SELECT array_agg(raw_content) FROM chunks").fetchone() == (["newer"],)


def test_an_embedding_written_while_the_document_is_edited(db, connect, document):
    """A worker that finishes late writes to no chunk that has another content by now."""
    (chunk, content_hash) = db.execute("SELECT id, content_hash FROM chunks ORDER BY ordinal LIMIT 1").fetchone()
    editor, worker = connect(autocommit=False), connect()
    editor.execute("UPDATE documents SET content = 'quite another'")
    thread, outcome = in_background(
        worker,
        "UPDATE chunks SET embedding = array_fill(1, ARRAY[1024])::vector WHERE id = %s AND content_hash = %s",
        chunk,
        content_hash,
    )
    wait_until_blocked(db, worker.info.backend_pid)
    editor.commit()
    thread.join(timeout=60)
    assert outcome == []
    assert db.execute("SELECT count(embedding) FROM chunks").fetchone() == (0,)
    assert traffic.problems(db) == []


@pytest.mark.slow
def test_sessions_at_random(db, dsn, request):
    """Four sessions insert, edit and delete while rechunk runs: only what may be tried again goes wrong.

    --stress-seconds=30 for longer.
    """
    seconds = request.config.getoption("--stress-seconds")
    db.execute(
        "UPDATE pgchunk.strategies SET is_active = true, target_tokens = 150, max_tokens = 200 WHERE name = 'sections'"
    )
    sessions = traffic.run(lambda: psycopg.connect(dsn, autocommit=True), seconds)
    assert [one.failure for one in sessions if one.failure] == []
    done = sum((one.done for one in sessions), start=traffic.Counter())
    assert set(done) == {"upsert", "update", "update several", "delete"}
    print(f"\n{dict(done)}, retried: {[dict(one.retried) for one in sessions]}")
    assert traffic.problems(db) == []
    db.execute("CALL pgchunk.rechunk()")
    assert db.execute("SELECT count(*) FROM chunk_stale").fetchone() == (0,)
    assert traffic.problems(db) == []
