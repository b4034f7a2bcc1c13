"""statement_timeout and a cancel request stop chunking soon, whatever the document is made of."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

BYTES = 50_000_000
SENTENCE = "Some words of a part that goes on and says things. "
SHAPES = {
    "sections": "## Part\n\n" + SENTENCE * 60 + "\n\n",
    "blocks": SENTENCE * 6 + "\n\n",
}
WITHIN = 3.0
"""Seconds after the request. Within one on an idle machine; this allows for tests beside it."""


@pytest.fixture
def loaded(db):
    """loaded(shape): puts 50 MB of a shape into a table, so that sending it takes no time later."""

    def load(shape):
        unit = SHAPES[shape]
        db.execute("INSERT INTO documents (source_uri, content) VALUES ('warm', 'up')")
        db.execute("CREATE TABLE large (content text)")
        db.execute("INSERT INTO large SELECT repeat(%s, %s)", [unit, BYTES // len(unit)])

    return load


INSERT = "INSERT INTO documents (source_uri, content) SELECT 'large', content FROM large"


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_statement_timeout(db, loaded, shape):
    loaded(shape)
    db.execute("SET statement_timeout = '6s'")
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        db.execute(INSERT)
    assert time.monotonic() - started < 6 + WITHIN
    db.execute("RESET statement_timeout")
    assert db.execute("SELECT count(*) FROM documents").fetchone() == (1,)
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('next', 'goes on')")
    assert db.execute("SELECT bool_and(ok), count(*) FROM chunk_coverage").fetchone() == (True, 2)


@pytest.mark.slow
def test_cancel_request(db, connect, loaded):
    loaded("sections")
    asked: list[float] = []

    def cancel():
        asked.append(time.monotonic())
        db.cancel_safe()

    timer = threading.Timer(5, cancel)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        db.execute(INSERT)
    assert time.monotonic() - asked[0] < WITHIN
    timer.join()
    assert connect().execute("SELECT count(*) FROM chunks").fetchone() == (1,)
