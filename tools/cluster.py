"""A private PostgreSQL cluster on a unix socket: make, start, stop. The tests and `make serve` use it.

initdb and postgres refuse to run as root, so root hands them to the user that owns PostgreSQL.
"""

from __future__ import annotations

import os
import pwd
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from checkout import fail
from servers import Server

PORT = 54329
"""Only part of the socket's name: no cluster of ours listens on TCP."""
SUPERUSER = "postgres"
SERVER_USER = "postgres"
LONGEST_SOCKET = 107
"""Bytes that the path of a unix socket may have."""

THROWAWAY = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1d",
}


class ClusterError(Exception):
    """A program of the cluster failed; the message holds what it said."""


@dataclass(frozen=True)
class Cluster:
    """A cluster in folder/data with its socket in socket_dir."""

    server: Server
    folder: Path
    socket_dir: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def exists(self) -> bool:
        return (self.data / "PG_VERSION").exists()

    def major(self) -> int:
        """The major version that the cluster was made with."""
        return int((self.data / "PG_VERSION").read_text())

    def is_running(self) -> bool:
        return self._run("pg_ctl", "status", "-D", self.data, check=False).returncode == 0

    def create(self) -> None:
        """Make the data folder. Both folders must be there and belong to the server's user."""
        options = ["--username", SUPERUSER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8"]
        self._run("initdb", "--pgdata", self.data, *options, "--no-instructions", "--no-sync")

    def start(self) -> None:
        """Start the server, wait for it to be ready. Raises ClusterError with the end of its log."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": f'"{self.socket_dir}"',
            "unix_socket_permissions": "0700",
            "port": str(PORT),
            **self.settings,
        }
        self._write_settings(settings)
        try:
            self._run("pg_ctl", "start", "--wait", "-D", self.data, "-l", self.log)
        except ClusterError as error:
            tail = self.log.read_text(errors="replace").splitlines()[-15:] if self.log.exists() else []
            raise ClusterError("\n".join([str(error), *tail])) from None

    def _write_settings(self, settings: Mapping[str, str]) -> None:
        """Keep our settings in a file of their own that postgresql.conf includes."""
        lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in settings.items()]
        ours = self.data / "pgchunk.conf"
        ours.write_text("".join(lines))
        ours.chmod(0o644)
        main, include = self.data / "postgresql.conf", "include_if_exists 'pgchunk.conf'\n"
        if include not in main.read_text():
            with main.open("a") as file:
                file.write(include)

    def stop(self, mode: str = "fast") -> None:
        self._run("pg_ctl", "stop", "--wait", "-D", self.data, "-m", mode)

    def dsn(self, database: str = "postgres") -> str:
        """A connection string that psql and psycopg take."""
        host = str(self.socket_dir)
        if not host.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum():
            host = "'" + host.replace("\\", "\\\\").replace("'", "\\'") + "'"
        return f"host={host} port={PORT} dbname={database} user={SUPERUSER}"

    def sql(self, statement: str, database: str = "postgres") -> str:
        """Run a statement through psql and return its unaligned output. Raises ClusterError."""
        options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return self._run("psql", *options, "-d", self.dsn(database), "-c", statement).stdout.strip()

    def _run(self, program: str, *arguments: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run one of the server's programs as the server's user, from a folder that user can enter."""
        command: list[str | Path] = [self.server.bindir / program, *arguments]
        # Files, not pipes: the server that pg_ctl leaves behind inherits them, and a pipe would never end.
        with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
            status = subprocess.run(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=environment(),
                **identity(),
            ).returncode
            output.seek(0)
            errors.seek(0)
            done = subprocess.CompletedProcess(command, status, output.read(), errors.read())
        if check and status != 0:
            raise ClusterError(f"{program} ended with status {status}: {(done.stdout + done.stderr).strip()}")
        return done


def environment() -> dict[str, str]:
    """The environment without settings that would redirect the server or its clients."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "PYTHON", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C.UTF-8"}


def server_user() -> pwd.struct_passwd:
    """Whom the server runs as: whoever calls, or the owner of PostgreSQL when root calls."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        fail(f"postgres refuses to run as root, and there is no user {SERVER_USER} to run it as")


class Identity(TypedDict, total=False):
    """Whom subprocess.run is to become; empty to stay who one is."""

    user: int
    group: int
    extra_groups: list[int]


def identity() -> Identity:
    """Arguments of subprocess.run that switch to the server's user; none when there is nothing to switch."""
    if os.geteuid() != 0:
        return {}
    user = server_user()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def give_to_server(folder: Path) -> None:
    """Make a folder private to the server's user. Root reaches it too."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    if os.geteuid() == 0:
        user = server_user()
        os.chown(folder, user.pw_uid, user.pw_gid)


def can_reach(folder: Path) -> bool:
    """Whether the server's user can enter a folder."""
    tried: Sequence[str | Path] = ["/bin/sh", "-c", 'cd "$1"', "sh", folder]
    return subprocess.run(tried, cwd="/", stderr=subprocess.DEVNULL, **identity()).returncode == 0


def fits_socket(folder: Path) -> bool:
    """Whether a socket in this folder has a path short enough."""
    return len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= LONGEST_SOCKET
