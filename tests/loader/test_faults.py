"""What happens when things end in the middle: the loader, its connections, the server."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import servers
from cluster import THROWAWAY, Cluster, give_to_server

Command = Callable[..., Any]
Tree = Callable[[dict[str, str | bytes]], Path]
Connection = psycopg.Connection[Any]
Start = Callable[..., subprocess.Popen[str]]

DOCUMENTS = 320
PROGRAM = [sys.executable, "-c", "from pgchunk_loader.cli import app; app()"]
#: Everything of a document that does not depend on when and in which order it was loaded.
STATE = """
    SELECT d.source_uri, d.title, d.content, d.metadata, d.content_hash,
           c.strategy, c.ordinal, c.content, c.char_start, c.char_end, c.flags
    FROM documents AS d LEFT JOIN chunks AS c ON c.document_id = d.id
    ORDER BY d.source_uri, c.strategy, c.ordinal
"""
#: Documents that are there without all of their chunks.
HALF = "SELECT source_uri, problems FROM chunk_coverage WHERE NOT ok"


@pytest.fixture
def many(tree: Tree) -> Path:
    """A tree that takes the server a second or two."""
    return tree(
        {
            f"{n % 7}/{n:03}.md": f"---\nn: {n}\n---\n\n# Page {n}\n\n" + f"Sentence {n} is here again. " * 40
            for n in range(DOCUMENTS)
        }
    )


@pytest.fixture
def start() -> Iterator[Start]:
    """start(dsn, directory, *arguments) begins a load as a process; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(dsn: str, root: Path, *arguments: str) -> subprocess.Popen[str]:
        command = [*PROGRAM, "load", "--dsn", dsn, "-j", "2", *arguments, str(root)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        with process:
            process.kill()


def wait_for_documents(db: Connection, least: int, process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + 60
    while count(db) < least and (process is None or process.poll() is None):
        assert time.monotonic() < deadline, "the load makes no progress"
        time.sleep(0.02)


def count(db: Connection) -> int:
    row = db.execute("SELECT count(*) FROM documents").fetchone()
    return int(row[0]) if row else 0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_killed_twenty_times_a_load_ends_as_a_clean_one(
    start: Start, pgchunk: Command, dsn: str, many: Path, db: Connection
) -> None:
    assert pgchunk("load", many).status == 0
    clean = db.execute(STATE).fetchall()
    db.execute("DELETE FROM documents")
    moments = random.Random(5)
    for number in range(20):
        process = start(dsn, many)
        wait_for_documents(db, min(DOCUMENTS, number * 16 + 1), process)
        time.sleep(moments.uniform(0, 0.05))
        process.kill()
        process.communicate()
        if number % 5 == 0:
            assert db.execute(HALF).fetchall() == []
    assert pgchunk("load", many).status == 0
    assert db.execute(STATE).fetchall() == clean


def test_interrupted_a_load_leaves_whole_documents_and_says_so(
    start: Start, pgchunk: Command, dsn: str, many: Path, db: Connection
) -> None:
    process = start(dsn, many, "--format", "json")
    wait_for_documents(db, 1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["interrupted"]
    assert 0 < found["added"] <= count(db) < DOCUMENTS
    assert db.execute(HALF).fetchall() == []
    again = json.loads(pgchunk("load", many, "--format", "json").out)
    assert again["added"] + again["unchanged"] == DOCUMENTS
    assert count(db) == DOCUMENTS


def test_lost_connections_are_taken_up_again(start: Start, dsn: str, many: Path, db: Connection) -> None:
    process = start(dsn, many, "--format", "json")
    stop = threading.Event()

    def cut() -> None:
        with psycopg.connect(dsn, autocommit=True) as other:
            for _ in range(12):
                if stop.wait(0.15):
                    return
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'pgchunk'"
                )

    wait_for_documents(db, 1)
    cutter = threading.Thread(target=cut)
    cutter.start()
    out, err = process.communicate(timeout=90)
    stop.set()
    cutter.join()
    assert process.returncode == 0, err
    found = json.loads(out)
    assert (found["added"], found["changed"], found["unchanged"]) == (DOCUMENTS, 0, 0)
    assert count(db) == DOCUMENTS
    assert db.execute(HALF).fetchall() == []
    assert "connection lost, trying again" in err


def test_documents_committed_unheard_count_as_added(
    pgchunk: Command, many: Path, db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes after COMMIT, before anyone hears of it; the next attempt finds them there."""
    from pgchunk_loader import load as loading

    real, lost = loading._write_together, iter([True, False, True])

    async def write_and_lose(*arguments: Any, **more: Any) -> None:
        await real(*arguments, **more)
        if next(lost, False):
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(loading, "_write_together", write_and_lose)
    found = json.loads(pgchunk("load", many, "--format", "json", "-j", "1").out)
    assert (found["added"], found["changed"], found["unchanged"]) == (DOCUMENTS, 0, 0)
    assert db.execute("SELECT count(*), sum(token_count) FROM chunks").fetchone() == (
        found["chunks"],
        found["tokens"],
    )


def test_two_loaders_at_once_end_as_one(start: Start, pgchunk: Command, dsn: str, many: Path, db: Connection) -> None:
    processes = [start(dsn, many, "-q") for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=90)
        assert process.returncode == 0, err
    assert count(db) == DOCUMENTS
    assert db.execute(HALF).fetchall() == []
    found = json.loads(pgchunk("load", many, "--format", "json").out)
    assert found["unchanged"] == DOCUMENTS


@pytest.fixture
def own_cluster() -> Iterator[Cluster]:
    """A server that a test may stop; it has the extension and its tables."""
    server = servers.complete()
    if server is None:
        pytest.skip("needs a server of this machine's own, which the test can stop")
    folder = Path(tempfile.mkdtemp(prefix="pgchunk-test-"))
    # Committed is committed: without this a crash would lose what the loader was told is there.
    cluster = Cluster(server, folder, folder / "s", {**THROWAWAY, "synchronous_commit": "on"})
    give_to_server(folder)
    give_to_server(cluster.socket_dir)
    cluster.create()
    cluster.start()
    try:
        cluster.sql("CREATE EXTENSION pgchunk CASCADE; SELECT pgchunk.create_tables()")
        yield cluster
    finally:
        if cluster.is_running():
            cluster.stop("immediate")
        subprocess.run(["rm", "-rf", folder], check=True)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_restarted_in_the_middle_is_waited_for(
    start: Start, own_cluster: Cluster, many: Path, mode: str
) -> None:
    process = start(own_cluster.dsn(), many, "--format", "json")
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as db:
        wait_for_documents(db, 1)
        assert count(db) < DOCUMENTS
    own_cluster.stop(mode)
    time.sleep(1)
    own_cluster.start()
    out, err = process.communicate(timeout=90)
    assert process.returncode == 0, err
    assert "connection lost, trying again" in err
    assert "Traceback" not in err
    with psycopg.connect(own_cluster.dsn(), autocommit=True) as db:
        assert count(db) == DOCUMENTS
        assert db.execute(HALF).fetchall() == []
    assert json.loads(out)["added"] == DOCUMENTS


def test_a_server_that_stays_away_ends_the_load_with_status_2(
    start: Start, own_cluster: Cluster, many: Path, offline: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgchunk_loader.db.RETRY_FOR", 1.0)
    monkeypatch.setattr("pgchunk_loader.db.CONNECT_TIMEOUT", 1.0)

    def stop() -> None:
        with psycopg.connect(own_cluster.dsn(), autocommit=True) as db:
            wait_for_documents(db, 1)
        own_cluster.stop("immediate")

    stopper = threading.Thread(target=stop)
    stopper.start()
    ran = offline("load", many, "--dsn", own_cluster.dsn(), "-j", "2")
    stopper.join()
    assert ran.status == 2
    assert "error: " in ran.err
    assert "added" in ran.out, "what was done is still said"


def test_a_hung_up_reader_of_the_output_is_no_fault(tree: Tree) -> None:
    root = tree({f"{n}.md": "# x\n\ntext\n" for n in range(3000)})
    process = subprocess.Popen(
        [*PROGRAM, "load", "-n", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)


def test_memory_does_not_grow_with_the_tree(dsn: str, tree: Tree, db: Connection) -> None:
    """Ten times the tree takes hardly more memory; the batches on their way are all that is held."""

    def peak_kilobytes(root: Path) -> int:
        program = "import resource, sys; from pgchunk_loader.cli import app\ntry: app()\nfinally: " + (
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
        )
        arguments = ["load", "-q", "--dsn", dsn, "-j", "1", str(root)]
        ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
        return int(ran.stderr.split()[-1])

    db.execute("UPDATE pgchunk.strategies SET is_active = false")  # the server's work is not what is measured
    text = "x\n\n" * 300_000
    small = peak_kilobytes(tree({"small/1.txt": text}) / "small")
    large = peak_kilobytes(tree({f"large/{n}.txt": text for n in range(30)}) / "large")
    assert large - small < 20_000, f"{small} kB for one file, {large} kB for thirty"


def test_the_terminal_shows_a_bar_and_pipes_do_not(start: Start, dsn: str, tree: Tree) -> None:
    import pty

    root = tree({f"{n}.md": f"# {n}\n\ntext\n" for n in range(200)})
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "load", "--dsn", dsn, str(root)],
        stdout=subprocess.PIPE,
        stderr=slave,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:
        pass  # the other end is closed
    finally:
        os.close(master)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"/200" in shown
    assert b"\x1b" not in out
    piped = start(dsn, root)
    out_text, err = piped.communicate(timeout=60)
    assert err == ""
    assert "unchanged         200" in out_text
