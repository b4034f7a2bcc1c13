"""`serve`: the embedded default, a private server for this checkout; `stop`: stop it.

serve prints, as the last line on standard output, a connection string for psql. It may be run as often as one
likes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from checkout import ROOT, STATE, fail, one_at_a_time, say, version
from cluster import Cluster, ClusterError, can_reach, fits_socket, give_to_server, server_user
from servers import chosen

DATABASE = "pgchunk"
SETTINGS: Mapping[str, str] = {}
"""Beyond the server's defaults and what a private cluster always sets."""
REMEMBERED = STATE / "cluster"
"""Three lines: this checkout, the folder of its cluster, the folder of its socket. A copy of the checkout
brings the file along, and must not take the original's cluster for its own.
"""


def folders() -> tuple[Path, Path]:
    """The cluster's folder and its socket's, as remembered or, the first time, as they can be had."""
    if (found := remembered()) is not None:
        return found
    cluster = reachable_folder()
    if fits_socket(cluster / "socket"):
        return cluster, cluster / "socket"
    return cluster, Path(tempfile.mkdtemp(prefix="pgchunk-"))


def remembered() -> tuple[Path, Path] | None:
    """The cluster's folder and its socket's, if this checkout has made them."""
    if not REMEMBERED.exists():
        return None
    lines = REMEMBERED.read_text().splitlines()
    return (Path(lines[1]), Path(lines[2])) if len(lines) == 3 and lines[0] == str(ROOT) else None


def reachable_folder() -> Path:
    """The checkout's own .pgchunk/server; one in the server user's home when that user can't get there."""
    STATE.mkdir(exist_ok=True)
    own = STATE / "server"
    give_to_server(own)
    if can_reach(own):
        return own
    own.rmdir()
    home = Path(server_user().pw_dir)
    base = home if can_reach(home) else Path(tempfile.gettempdir())
    return base / f"pgchunk-{hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:12]}"


def this_cluster() -> Cluster:
    folder, socket = folders()
    if folder.exists() and folder.stat().st_uid != server_user().pw_uid:
        fail(f"{folder} is another user's: run make as that user (or with sudo), or remove it")
    return Cluster(chosen(), folder, socket, SETTINGS)


def serve() -> None:
    """Make and start what is not there yet, and print the connection string."""
    with one_at_a_time():
        print(ready_cluster().dsn(DATABASE))


def ready_cluster() -> Cluster:
    """The cluster, running, with the database, the extension and the tables in it."""
    cluster = this_cluster()
    give_to_server(cluster.folder)
    give_to_server(cluster.socket_dir)
    REMEMBERED.write_text(f"{ROOT}\n{cluster.folder}\n{cluster.socket_dir}\n")
    if not cluster.exists:
        say(f"making a private cluster in {cluster.folder}")
        cluster.create()
    elif cluster.major() != cluster.server.major:
        fail(
            f"{cluster.folder} was made with PostgreSQL {cluster.major()}; this is {cluster.server.version}\n"
            f"  to keep it: PG_CONFIG=... make serve; to start anew: make stop clean"
        )
    if not cluster.is_running():
        cluster.start()
    make_database(cluster)
    return cluster


def make_database(cluster: Cluster) -> None:
    """Create database, extension and tables where they are not there yet; bring an old version up."""
    if not cluster.sql(f"SELECT 1 FROM pg_database WHERE datname = '{DATABASE}'"):
        cluster.sql(f"CREATE DATABASE {DATABASE}")
    script = cluster.server.extension_dir / f"pgchunk--{version()}.sql"
    current = [version(), hashlib.sha256(script.read_bytes()).hexdigest()]
    made_from = cluster.folder / "made-from"
    before = made_from.read_text().split() if made_from.exists() else []
    if before[:1] == current[:1] and before != current:
        say(f"note: the SQL of pgchunk {version()} has changed since this database was made with it")
        say("  to start anew, without what is loaded: make clean serve")
        return
    cluster.sql("CREATE EXTENSION IF NOT EXISTS pgchunk CASCADE; ALTER EXTENSION pgchunk UPDATE", DATABASE)
    cluster.sql("SELECT pgchunk.create_tables()", DATABASE)
    made_from.write_text(" ".join(current))


def stop() -> None:
    if remembered() is None:
        say("no private server was made here")
        return
    cluster = this_cluster()
    if not cluster.exists or not cluster.is_running():
        say("the private server is not running")
        return
    cluster.stop()
    say("stopped")


def main() -> None:
    verbs = {"serve": serve, "stop": stop}
    if len(sys.argv) != 2 or sys.argv[1] not in verbs:
        fail(f"usage: serve.py {'|'.join(verbs)}")
    try:
        verbs[sys.argv[1]]()
    except ClusterError as error:
        fail(str(error))


if __name__ == "__main__":
    main()
