"""Prepare a Debian or Ubuntu machine: PostgreSQL with plpython3u and pgvector of one major, and Python for
.venv.

Does nothing, and needs no network, when all of it is there. Else installs packages with apt. Where the
distribution has no pgvector for the server's major, pgvector is built from the distribution's own signed
source package.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import servers
from checkout import fail, run, say
from servers import OLDEST_MAJOR, Server

APT_ENVIRONMENT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
SOURCE_SUITE = "trixie"
"""The suite whose source package of pgvector builds for every major we serve."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Plan:
    """What one major needs on this machine."""

    major: int
    packages: tuple[str, ...]
    builds_pgvector: bool


# What apt knows


def candidates(names: Iterable[str]) -> set[str]:
    """Those of the named packages that apt could install or that are installed."""
    shown = subprocess.run(["apt-cache", "policy", *names], capture_output=True, text=True, env=_c_locale()).stdout
    found = re.findall(r"^(\S+):\n  Installed: .*\n  Candidate: (.*)$", shown, re.MULTILINE)
    return {name for name, candidate in found if candidate != "(none)"}


def is_installed(package: str) -> bool:
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, text=True)
    return shown.stdout == "installed"


def known_majors() -> list[int]:
    """Majors for which apt knows a plpython3 package, newest first."""
    pattern = r"^postgresql-plpython3-[0-9]+$"
    shown = subprocess.run(["apt-cache", "search", "--names-only", pattern], capture_output=True, text=True).stdout
    majors = {int(line.split()[0].rpartition("-")[2]) for line in shown.splitlines()}
    return sorted((major for major in majors if major >= OLDEST_MAJOR), reverse=True)


def plan_for(major: int) -> Plan | None:
    """What has to be installed for this major, or None when apt has no server or no plpython3 of it."""
    base = (f"postgresql-{major}", f"postgresql-plpython3-{major}")
    pgvector, headers = f"postgresql-{major}-pgvector", f"postgresql-server-dev-{major}"
    available = candidates([*base, pgvector, headers])
    if not available.issuperset(base):
        return None
    server = packaged_server(major)
    has_vector = server.pkglibdir.joinpath("vector.so").exists() if server.pg_config.exists() else False
    if has_vector or pgvector in available:
        wanted = base if has_vector else (*base, pgvector)
        return Plan(major, missing_packages([*wanted, *python_packages()]), builds_pgvector=False)
    if headers not in available:
        return None
    tools = ["gcc", "libc6-dev", "make", "dpkg-dev"]
    return Plan(major, missing_packages([*base, headers, *tools, *python_packages()]), builds_pgvector=True)


def packaged_server(major: int) -> Server:
    """The server of this major where the distribution's package puts it, installed or not."""
    return Server(Path(f"/usr/lib/postgresql/{major}/bin/pg_config"))


def python_packages() -> list[str]:
    """A distribution links plpython3 to its own Python, and packages venv apart."""
    return ["python3", "python3-venv"]


def missing_packages(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if not is_installed(name))


def choose_plan() -> Plan | None:
    """The newest major that apt has whole; else the newest for which only pgvector must be built."""
    plans = [plan for plan in map(plan_for, known_majors()) if plan is not None]
    return next((plan for plan in plans if not plan.builds_pgvector), plans[0] if plans else None)


# Doing it


def apt_install(packages: tuple[str, ...]) -> None:
    """Install packages. The lists are fetched anew only when the packages can't be had with those at hand."""
    if not packages:
        return
    say(f"installing {' '.join(packages)}")
    command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages]
    tried = subprocess.run(command, env=APT_ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True)
    if tried.returncode != 0:
        apt_update()
        run(command, env=APT_ENVIRONMENT)


def apt_update() -> None:
    say("fetching the package lists")
    run(["apt-get", "update", "-qq"], env=APT_ENVIRONMENT)


def own_mirrors() -> list[str]:
    """The mirrors this machine takes its own release from, as apt has them configured."""
    release = (
        dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
        .get("VERSION_CODENAME", "")
        .strip('"')
    )
    shown = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"], capture_output=True, text=True
    ).stdout
    pairs = [line.split() for line in shown.splitlines() if len(line.split()) == 2]
    return list(dict.fromkeys(site for site, suite in pairs if suite == release))


def build_pgvector(server: Server) -> None:
    """Build pgvector for this server from source. The system's own apt set-up stays as it is."""
    mirrors = own_mirrors()
    if not mirrors or not KEYRING.exists():
        fail("pgvector has no package here, and no Debian mirror or keyring is set up to build it from")
    say(f"building pgvector for PostgreSQL {server.major} from the distribution's source package")
    with tempfile.TemporaryDirectory(prefix="pgchunk-pgvector-") as folder:
        source = fetch_source("pgvector", mirrors[0], Path(folder))
        make = ["make", f"PG_CONFIG={server.pg_config}", "OPTFLAGS=", "with_llvm=no"]
        run([*make, f"-j{os.cpu_count() or 1}"], cwd=source, env=plain_environment())
        run([*make, "install"], cwd=source, env=plain_environment())


def plain_environment() -> dict[str, str]:
    """An environment for somebody else's make: what ours was called with, such as DOCS, must not reach it."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


def fetch_source(package: str, mirror: str, folder: Path) -> Path:
    """Fetch and unpack a source package, its signature checked by apt; return its folder."""
    lists, sources = folder / "lists", folder / "sources.list"
    (lists / "partial").mkdir(parents=True)
    sources.write_text(f"deb-src [signed-by={KEYRING}] {mirror} {SOURCE_SUITE} main\n")
    options = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": lists,
        "Dir::Cache::SrcPkgCache": "",
        "Dir::Cache::PkgCache": "",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", *(part for name, value in options.items() for part in ("-o", f"{name}={value}"))]
    run([*apt, "update", "-qq"], env=APT_ENVIRONMENT)
    run([*apt, "source", "-qq", package], cwd=folder, env=APT_ENVIRONMENT)
    return next(path for path in folder.glob(f"{package}-*") if path.is_dir())


# The ways through


def prepare_named(server: Server) -> None:
    """PG_CONFIG names a server: add what it lacks, in the way its origin allows."""
    if re.fullmatch(r"/usr/lib/postgresql/\d+/bin", str(server.bindir)):
        plan = plan_for(server.major)
        if plan is None:
            fail(f"apt has no postgresql-plpython3-{server.major} for {server.version}; PG_CONFIG names it")
        carry_out(plan)
        return
    if beyond := [part for part in server.missing if part != "pgvector"]:
        fail(f"{server.version}, which PG_CONFIG names, lacks {', '.join(beyond)}; add it there")
    packages = missing_packages(["gcc", "libc6-dev", "make", "dpkg-dev"])
    require_root(packages, "build pgvector")
    apt_install(packages)
    build_pgvector(server)


def carry_out(plan: Plan) -> None:
    doing = f"build pgvector for PostgreSQL {plan.major}" if plan.builds_pgvector else ""
    require_root(plan.packages, doing)
    apt_install(plan.packages)
    if plan.builds_pgvector:
        build_pgvector(packaged_server(plan.major))


def require_root(packages: tuple[str, ...], doing: str) -> None:
    """Stop, naming what is missing and the command that adds it, when this user isn't root."""
    if os.geteuid() == 0:
        return
    needs = [f"these packages: {' '.join(packages)}"] * bool(packages) + [f"root to {doing}"] * bool(doing)
    by_hand = f"\n  by hand: apt-get install {shlex.join(packages)}" if packages else ""
    fail(f"this machine still needs {', and '.join(needs)}\n  run: sudo make deps{by_hand}")


def can_make_environments(server: Server) -> bool:
    """Whether the server's Python is there and can make a virtual environment with pip in it."""
    if server.python is None:
        return False
    return subprocess.run([server.python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0


def is_ready(server: Server) -> bool:
    return not server.missing and can_make_environments(server)


def prepare() -> None:
    """Install what the server that PG_CONFIG names lacks or, without it, the best one apt offers."""
    if shutil.which("apt-get") is None:
        fail(
            "no apt-get here. pgchunk needs PostgreSQL 15 or newer with plpython3u and pgvector, and "
            "the venv module of the Python that plpython3 is linked to; set PG_CONFIG to its pg_config"
        )
    if (named := servers.asked_for()) is not None:
        prepare_named(named)
        return
    plan = choose_plan()
    if plan is None and os.geteuid() == 0:
        apt_update()
        plan = choose_plan()
    if plan is None:
        fail(
            f"apt offers no PostgreSQL {OLDEST_MAJOR} or newer with postgresql-plpython3-NN. Its lists may "
            "be old: as root, apt-get update, then make deps. Or set PG_CONFIG to a server that has it"
        )
    carry_out(plan)


def ready_server() -> Server | None:
    return next(filter(is_ready, servers.installed()), None)


def main() -> None:
    if ready_server() is not None:
        return
    prepare()
    server = ready_server()
    if server is None:
        seen = "; ".join(f"{s.version} lacks {', '.join(s.missing) or 'its Python'}" for s in servers.installed())
        fail(f"after installing, no complete server is there: {seen or 'none found'}")
    say(f"ready: {server.version}, {server.python}")


def _c_locale() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}


if __name__ == "__main__":
    main()
