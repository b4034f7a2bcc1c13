"""Find a PostgreSQL on this machine that can run pgchunk, and the Python that its plpython3 is linked to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from checkout import fail

OLDEST_MAJOR = 15
PARTS = ("server", "plpython3u", "pgvector")


@dataclass(frozen=True)
class Server:
    """The programs and folders of one installed PostgreSQL, as its pg_config tells them."""

    pg_config: Path

    def _ask(self, option: str) -> str:
        return subprocess.run([self.pg_config, option], check=True, capture_output=True, text=True).stdout.strip()

    @cached_property
    def version(self) -> str:
        """The version as pg_config prints it, such as 'PostgreSQL 15.20 (Debian ...)'; '' when it can't."""
        # Debian's wrapper /usr/bin/pg_config may be there without any server; it then says so and fails.
        return subprocess.run([self.pg_config, "--version"], capture_output=True, text=True).stdout.strip()

    @cached_property
    def major(self) -> int:
        found = re.search(r"PostgreSQL (\d+)", self.version)
        return int(found[1]) if found else 0

    @cached_property
    def bindir(self) -> Path:
        return Path(self._ask("--bindir"))

    @cached_property
    def pkglibdir(self) -> Path:
        return Path(self._ask("--pkglibdir"))

    @cached_property
    def extension_dir(self) -> Path:
        return Path(self._ask("--sharedir")) / "extension"

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The parts of PARTS that are not there."""
        there = {
            "server": all((self.bindir / name).exists() for name in ("postgres", "initdb", "pg_ctl")),
            "plpython3u": (self.pkglibdir / "plpython3.so").exists()
            and (self.extension_dir / "plpython3u.control").exists(),
            "pgvector": (self.pkglibdir / "vector.so").exists() and (self.extension_dir / "vector.control").exists(),
        }
        return tuple(part for part in PARTS if not there[part])

    @cached_property
    def can_build_extensions(self) -> bool:
        """Whether the server's header and make files are there."""
        return Path(self._ask("--pgxs")).exists()

    @cached_property
    def python(self) -> Path | None:
        """The interpreter of the library that plpython3 is linked to; None when it isn't installed."""
        linked = subprocess.run(
            ["ldd", self.pkglibdir / "plpython3.so"],
            capture_output=True,
            text=True,
            env={"LC_ALL": "C"} | _path(),
        ).stdout
        found = re.search(r"libpython(3\.\d+)\S* => (\S+)", linked)
        if found is None:
            return None
        name, library = f"python{found[1]}", Path(found[2]).resolve()
        beside = [parent / "bin" / name for parent in library.parents if (parent / "bin" / name).exists()]
        on_path = shutil.which(name)
        return beside[0] if beside else Path(on_path) if on_path else None


def _path() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}


def asked_for() -> Server | None:
    """The server that PG_CONFIG names, or None. Stops when it names something that doesn't run."""
    named = os.environ.get("PG_CONFIG")
    if not named:
        return None
    program = shutil.which(named)
    if program is None:
        fail(f"PG_CONFIG is {named}, and no such program can be run")
    server = Server(Path(program))
    if server.major == 0:
        fail(f"PG_CONFIG is {named}, and that does not answer --version as a pg_config does")
    if server.major < OLDEST_MAJOR:
        fail(f"PG_CONFIG is {named}: {server.version}, and pgchunk needs PostgreSQL {OLDEST_MAJOR} or newer")
    return server


def installed() -> list[Server]:
    """The servers to choose from: only PG_CONFIG's when set, else all that are found, newest first."""
    if (named := asked_for()) is not None:
        return [named]
    # Debian keeps each major apart; the pg_config on the PATH may be that of another one's client headers.
    programs = list(Path("/usr/lib/postgresql").glob("*/bin/pg_config"))
    if on_path := shutil.which("pg_config"):
        programs.append(Path(on_path))
    servers = {server.bindir: server for server in map(Server, programs) if server.major >= OLDEST_MAJOR}
    return sorted(servers.values(), key=lambda server: server.major, reverse=True)


def complete() -> Server | None:
    """The newest installed server that has all the parts and its Python, or None."""
    return next((server for server in installed() if not server.missing and server.python), None)


def chosen() -> Server:
    """The server to work with. Stops, naming what is missing, when there is none."""
    server = complete()
    if server is None:
        fail("no PostgreSQL with plpython3u and pgvector is installed here; run `make deps` first")
    return server


def chosen_python(server: Server) -> Path:
    """The Python of a complete server."""
    if server.python is None:
        fail(f"the Python that plpython3 of {server.version} is linked to is not installed; run `make deps`")
    return server.python
