"""A real server for the tests: one cluster for the session, one template database, one clone of it for each
test.

Where the server comes from: PGCHUNK_TEST_DSN names one (its role must be a superuser); --testcontainers
starts one in a container; else a private cluster is made with the programs that `make deps` found.
PGCHUNK_TEST_TEMPLATE, a JSON list of scripts that each get a session, makes another template database. The
cluster is made when the first test asks for it, so that the tests of the core need none; several workers share one.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

import servers
from cluster import THROWAWAY, Cluster, give_to_server

TEMPLATE_SQL = "CREATE EXTENSION pgchunk CASCADE; SELECT pgchunk.create_tables()"
IMAGE = "pgchunk-test"
Connect = Callable[..., psycopg.Connection[Any]]
"""connect(**conninfo) opens a further connection to the test's database; it is closed when the test ends."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--testcontainers", action="store_true", help="run the server in a container (needs Docker)")


def pytest_report_header(config: pytest.Config) -> str:
    if dsn := os.environ.get("PGCHUNK_TEST_DSN"):
        with psycopg.connect(dsn) as connection:
            return f"server: PostgreSQL {connection.info.parameter_status('server_version')} of PGCHUNK_TEST_DSN"
    if config.getoption("--testcontainers"):
        return f"server: a container of the image {IMAGE}"
    server = servers.complete()
    return f"server: {server.version}, {server.pg_config}" if server else "server: none; `make deps` installs one"


# The session's server. What is made once is told to the other workers through a folder that they share.


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def worker_id(request: pytest.FixtureRequest) -> str:
    return getattr(request.config, "workerinput", {"workerid": "master"})["workerid"]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    with (folder / "server.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def session_server(shared_folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """The session's server: `dsn` (a superuser's, to the maintenance database) and `template`."""
    told = shared_folder / "server.json"
    with locked(shared_folder):
        if not told.exists():
            told.write_text(json.dumps(start_server(bool(request.config.getoption("--testcontainers")))))
        server: dict[str, str] = json.loads(told.read_text())
        if "ready" not in server:  # each worker that comes here says itself why the extension can't be created
            make_template(server)
            told.write_text(json.dumps(server | {"ready": "yes"}))
    return server


def start_server(in_container: bool) -> dict[str, str]:
    """Start what the options ask for. Besides dsn and template the answer says how to end it."""
    template = f"pgchunk_template_{uuid.uuid4().hex[:8]}"
    if dsn := os.environ.get("PGCHUNK_TEST_DSN"):
        return {"dsn": dsn, "template": template, "kind": "given"}
    if in_container:
        container, dsn = start_container()
        return {"dsn": dsn, "template": template, "kind": "container", "container": container}
    folder = Path(tempfile.mkdtemp(prefix="pgchunk-test-"))
    cluster = session_cluster(folder)
    give_to_server(folder)
    give_to_server(cluster.socket_dir)
    cluster.create()
    cluster.start()
    return {"dsn": cluster.dsn(), "template": template, "kind": "private", "folder": str(folder)}


def session_cluster(folder: Path) -> Cluster:
    return Cluster(servers.chosen(), folder, folder / "s", THROWAWAY)


def start_container() -> tuple[str, str]:
    """Build the project's image, start a container of it, and return its id and a connection string."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.container import DockerContainer

    testcontainers_config.ryuk_disabled = True  # ended in end_server; the reaper is an image from a registry
    root = Path(__file__).resolve().parent.parent
    built = subprocess.run(
        ["docker", "build", "--network", "host", "--tag", IMAGE, root], capture_output=True, text=True
    )
    if built.returncode != 0:
        raise RuntimeError(f"docker build failed:\n{built.stdout[-4000:]}{built.stderr[-4000:]}")
    container = DockerContainer(IMAGE).with_env("POSTGRES_PASSWORD", IMAGE).with_exposed_ports(5432).start()
    address = {"host": container.get_container_host_ip(), "port": container.get_exposed_port(5432)}
    dsn = make_conninfo(dbname="postgres", user="postgres", password=IMAGE, connect_timeout=5, **address)
    try:
        wait_for(dsn)
    except Exception:
        container.stop()
        raise
    return container.get_wrapped_container().id, dsn


def wait_for(dsn: str, seconds: float = 60) -> None:
    """Wait until the server takes connections. Raises psycopg.OperationalError when it doesn't in time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(dsn).close()
            return
        except psycopg.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def make_template(server: dict[str, str]) -> None:
    name = server["template"]
    with psycopg.connect(server["dsn"], autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    for script in json.loads(os.environ.get("PGCHUNK_TEST_TEMPLATE", json.dumps([TEMPLATE_SQL]))):
        with psycopg.connect(server["dsn"], dbname=name, autocommit=True) as connection:
            connection.execute(script)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the server after the last worker; the workers have all ended when the controller comes here."""
    factory = getattr(config, "_tmp_path_factory", None)
    if factory is None or hasattr(config, "workerinput"):
        return
    told = factory.getbasetemp() / "server.json"
    if told.exists():
        end_server(json.loads(told.read_text()))
        told.unlink()


def end_server(server: dict[str, str]) -> None:
    if server["kind"] == "given":
        with psycopg.connect(server["dsn"], autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(server["template"])))
    elif server["kind"] == "container":
        subprocess.run(["docker", "rm", "--force", "--volumes", server["container"]], check=True, capture_output=True)
    else:
        folder = Path(server["folder"])
        session_cluster(folder).stop("immediate")
        subprocess.run(["rm", "-rf", folder], check=True)


# One test's database


@contextmanager
def scratch_database(server: dict[str, str], template: str) -> Iterator[str]:
    """A database made from a template, dropped at the end; yields a connection string to it."""
    name = f"pgchunk_test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server["dsn"], autocommit=True) as admin:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        admin.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield make_conninfo(server["dsn"], dbname=name)
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def made_roles(session_server: dict[str, str]) -> Iterator[list[str]]:
    """Names of the roles that a test made; dropped after its databases, with what they own there."""
    names: list[str] = []
    yield names
    if names:
        with psycopg.connect(session_server["dsn"], autocommit=True) as admin:
            for name in names:
                admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
def dsn(session_server: dict[str, str], made_roles: list[str]) -> Iterator[str]:
    """A superuser's connection string to this test's own database, with the extension and its tables."""
    with scratch_database(session_server, session_server["template"]) as conninfo:
        yield conninfo


@pytest.fixture
def empty_dsn(session_server: dict[str, str], made_roles: list[str]) -> Iterator[str]:
    """Connection string, as superuser, to a database of this test's own without the extension."""
    with scratch_database(session_server, "template0") as conninfo:
        yield conninfo


@contextmanager
def connections(conninfo: str) -> Iterator[Connect]:
    opened: list[psycopg.Connection[Any]] = []

    def connect(*, autocommit: bool = True, **changes: Any) -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(conninfo, autocommit=autocommit, **changes))
        return opened[-1]

    try:
        yield connect
    finally:
        for connection in opened:
            connection.close()


@pytest.fixture
def connect(dsn: str) -> Iterator[Connect]:
    """Open further connections to this test's database: connect(user=..., autocommit=False, ...)."""
    with connections(dsn) as opener:
        yield opener


@pytest.fixture
def db(connect: Connect) -> psycopg.Connection[Any]:
    """A superuser's connection, in autocommit as psql is, to this test's own database."""
    return connect()


@pytest.fixture
def make_role(session_server: dict[str, str], made_roles: list[str]) -> Callable[..., str]:
    """make_role(options='') makes a role that may log in; connect(user=its_name) is that role."""

    def make(options: str = "") -> str:
        name = f"pgchunk_role_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(session_server["dsn"], autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}' {options}")
        made_roles.append(name)
        return name

    return make


@pytest.fixture
def server_version(db: psycopg.Connection[Any]) -> int:
    """The server's version as a number: 150020 for 15.20."""
    return db.info.server_version


PsqlAt = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def psql_at() -> PsqlAt:
    """psql_at(dsn, '-f', file, ...) runs psql, which stops at the first error, and returns how it ended."""
    server = servers.complete()
    program = server.bindir / "psql" if server else Path("psql")

    def run(conninfo: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [program, "-X", "-v", "ON_ERROR_STOP=1", "-d", conninfo, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PGCLIENTENCODING": "UTF8"})

    return run


@pytest.fixture
def psql(dsn: str, psql_at: PsqlAt) -> Callable[..., str]:
    """psql('-c', 'SELECT 1') runs psql on this test's database and returns its output."""

    def run(*arguments: str | Path) -> str:
        done = psql_at(dsn, *arguments)
        assert done.returncode == 0, f"psql said: {done.stderr}"
        return done.stdout

    return run
