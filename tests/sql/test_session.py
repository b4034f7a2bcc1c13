"""What a session notices: interrupts, log lines, two sessions on one document."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest

LARGE = "".join(f"## Part {n}\n\n" + "Some words of a part that goes on. " * 300 + "\n\n" for n in range(1500))


@pytest.mark.parametrize(
    "text",
    [LARGE, LARGE.replace("\n\n", " ")],
    ids=["many sections", "one paragraph"],
)
def test_statement_timeout_stops_chunking(db, text, value):
    """15 MB take many seconds; the timeout is noticed within one."""
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('warm', 'up')")
    db.execute("SET statement_timeout = '500ms'")
    started = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        db.execute("INSERT INTO documents (source_uri, content) VALUES ('u', %s)", [text])
    assert time.monotonic() - started < 5
    db.execute("RESET statement_timeout")
    assert value("SELECT count(*) FROM documents") == 1


@pytest.fixture
def notices(db):
    found: list[str] = []
    db.add_notice_handler(lambda notice: found.append(f"{notice.severity}: {notice.message_primary}"))
    return found


def test_events_are_logged_at_debug1(db, insert, notices):
    small = "# T\n\n## A\n\nx\n\n## B\n\ny\n"
    crumb = "# " + "long title " * 60 + "\n\n" + "text " * 100
    insert("before", small)
    assert notices == []
    db.execute("SET client_min_messages = debug1")
    document = insert("merged", small)
    assert [n for n in notices if "pgchunk event" in n] == [
        "DEBUG: pgchunk event 911: sections merged in 1 of 1 chunks;"
        f" document {document} of collection default, strategy default"
    ]
    notices.clear()
    insert("truncated", crumb)
    (line,) = [n for n in notices if "pgchunk event" in n]
    assert "event 910: breadcrumb truncated in 1 of 1 chunks" in line
    assert "long title" not in line, "no text of a document in the log"


def test_two_sessions_on_one_document(db, connect, insert, value, guide):
    insert("u", guide())
    first, second = connect(autocommit=False), connect()
    first.execute("UPDATE documents SET content = %s", [guide(use="first " * 100)])
    waiting = threading.Thread(
        target=second.execute, args=("UPDATE documents SET content = %s", [guide(remove="second " * 100)])
    )
    waiting.start()
    time.sleep(0.3)
    assert waiting.is_alive(), "the second waits for the first"
    first.commit()
    waiting.join(timeout=30)
    assert value("SELECT bool_and(ok) FROM chunk_coverage")
    assert value("SELECT count(*) FROM chunks WHERE raw_content LIKE '%second%'") == 1
    assert value("SELECT count(*) FROM chunks WHERE raw_content LIKE '%first first%'") == 0


def test_a_session_recovers_from_errors(db, insert, value):
    """Whatever went wrong before, the next document is chunked right."""
    for n in range(3):
        with pytest.raises(psycopg.Error):
            db.execute("INSERT INTO documents (source_uri, content, format) VALUES ('bad', 'x', 'html')")
        insert(f"good {n}", "x")
    assert value("SELECT bool_and(ok) AND count(*) = 3 FROM chunk_coverage")
