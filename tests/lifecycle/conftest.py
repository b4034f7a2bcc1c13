"""What the tests of a document's life share: roles, and a server of one test's own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

import servers
from cluster import THROWAWAY, Cluster, give_to_server

Connection = psycopg.Connection[Any]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stress-seconds", type=float, default=4, help="how long sessions disturb each other")
    parser.addoption("--crashes", type=int, default=3, help="how often the server is killed")


@pytest.fixture
def role(make_role: Callable[..., str], connect: Callable[..., Connection], db: Connection) -> Callable[..., Any]:
    """role(*grants): a new role's name and connection, after the grants, in which {} is its name."""

    def make(*grants: str) -> tuple[str, Connection]:
        name = make_role()
        for grant in grants:
            db.execute(sql.SQL(grant).format(sql.Identifier(name)))  # type: ignore[arg-type]
        return name, connect(user=name, password=name)

    return make


@pytest.fixture
def make_cluster() -> Iterator[Callable[..., Cluster]]:
    """make_cluster(server=None, **settings): a running server of this test's own, stopped at the end."""
    made: list[Cluster] = []

    def make(server: servers.Server | None = None, **settings: str) -> Cluster:
        chosen = server or servers.complete()
        if chosen is None:
            pytest.skip("no server is installed here")
        folder = Path(tempfile.mkdtemp(prefix="pgchunk-life-"))
        cluster = Cluster(chosen, folder, folder / "s", THROWAWAY | settings)
        made.append(cluster)
        give_to_server(folder)
        give_to_server(cluster.socket_dir)
        cluster.create()
        cluster.start()
        return cluster

    yield make
    for cluster in made:
        if cluster.exists and cluster.is_running():
            cluster.stop("immediate")
        subprocess.run(["rm", "-rf", cluster.folder], check=True)
