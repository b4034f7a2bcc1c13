"""Load a folder of markdown into the private server and show what became of it."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

import serve
from checkout import ROOT, VENV, fail
from cluster import ClusterError
from servers import chosen

SCREEN = ROOT / "sql" / "queries" / "demo.sql"


def served() -> str:
    """Start the private server, if it isn't running, and return its connection string."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            serve.serve()
        except ClusterError as error:
            fail(str(error))
    return printed.getvalue().splitlines()[-1]


def load(folder: Path, dsn: str) -> int:
    """Load the folder; return the loader's exit status, which is 1 when files had to be left out."""
    sys.stdout.flush()
    command: list[str | Path] = [VENV / "bin" / "pgchunk", "load", folder, "--hidden", "--gitignore", "--dsn", dsn]
    return subprocess.run(command).returncode


def show(dsn: str) -> None:
    psql = chosen().bindir / "psql"
    environment = os.environ | {
        "PAGER": "",
        "PGCLIENTENCODING": "UTF8",
        "PGOPTIONS": "-c client_min_messages=warning",
    }
    done = subprocess.run([psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", SCREEN], env=environment)
    if done.returncode != 0:
        raise SystemExit(done.returncode)
    print(f'Go on with:\n\n  psql "{dsn}"\n')


def main() -> None:
    if len(sys.argv) != 2:
        fail("usage: demo.py FOLDER")
    folder = Path(sys.argv[1]).resolve()
    if not folder.is_dir():
        fail(f"{folder} is not a folder; say which one to load: make demo DOCS=path")
    dsn = served()
    status = load(folder, dsn)
    if status > 1:
        raise SystemExit(status)
    show(dsn)


if __name__ == "__main__":
    main()
