"""The server is killed at random points: what was committed is there, whole, and nothing else is."""

from __future__ import annotations

import random
import threading
import time

import psycopg
import pytest

import conftest
import lifecycle.traffic as traffic


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_kill_the_server(make_cluster, request):
    """--crashes=50 kills it 50 times; after each restart chunk_coverage and the contents are looked at."""
    cluster = make_cluster(synchronous_commit="on")  # an acknowledged commit must outlive the kill
    with psycopg.connect(cluster.dsn(), autocommit=True) as admin:
        admin.execute("CREATE DATABASE life")
    with psycopg.connect(cluster.dsn("life"), autocommit=True) as connection:
        connection.execute(conftest.TEMPLATE_SQL)
        connection.execute(
            "UPDATE pgchunk.strategies SET is_active = true, target_tokens = 150, max_tokens = 200"
            " WHERE name = 'sections'"
        )
    acknowledged: dict[str, int] = {}
    chance = random.Random(1)
    for number in range(request.config.getoption("--crashes")):
        crash(cluster, chance, number, acknowledged)
        with psycopg.connect(cluster.dsn("life"), autocommit=True) as connection:
            assert traffic.problems(connection) == []
            found = dict(
                connection.execute("SELECT source_uri, (metadata ->> 'n')::int FROM documents WHERE metadata ? 'n'")
            )
            assert {uri: n for uri, n in acknowledged.items() if found.get(uri, -1) < n} == {}


def crash(cluster, chance, number, acknowledged):
    """Let sessions write, kill the server after a while, start it again."""
    stop = threading.Event()

    def connect():
        return psycopg.connect(cluster.dsn("life"), autocommit=True)

    def count():
        """A session whose commits are counted, to see that none is lost."""
        try:
            with connect() as connection:
                for n in range(10_000):
                    uri = f"counted/{n % 7}"
                    connection.execute(
                        "INSERT INTO documents (source_uri, content, metadata) VALUES (%s, %s, %s) ON CONFLICT"
                        " (source_uri) DO UPDATE SET content = EXCLUDED.content, metadata = EXCLUDED.metadata",
                        (uri, f"# Run {number}\n\n" + f"step {n} " * 300, f'{{"n": {number * 10_000 + n}}}'),
                    )
                    acknowledged[uri] = number * 10_000 + n
        except traffic.LOST:
            pass

    sessions = [traffic.Session(connect, number * 10 + one) for one in range(2)]
    threads = [threading.Thread(target=one.run, args=(stop.is_set,)) for one in sessions]
    threads += [threading.Thread(target=count), threading.Thread(target=traffic.rechunk, args=(connect, stop.is_set))]
    for thread in threads:
        thread.start()
    time.sleep(0.8 + chance.random() * 1.5)
    cluster.stop("immediate")
    stop.set()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert [one.failure for one in sessions if not isinstance(one.failure, traffic.LOST)] == []
    cluster.start()
