"""What every tool needs to know of the checkout: where it is, which version it holds, how to speak and how to
stop.

The tools run before anything is installed, so they use the standard library only.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
BUILD = ROOT / "build"
STATE = ROOT / ".pgchunk"
"""Where the private server and what is remembered of it lie."""

CONTROL = ROOT / "extension" / "pgchunk.control"
PACKAGE = ROOT / "extension" / "pgchunk"
REQUIREMENTS = ROOT / "extension" / "requirements.txt"


class SourceError(Exception):
    """The SQL sources can't be put together; the message names the file and the fault."""


def version() -> str:
    """Return the version, which is written once, in the control file."""
    found = re.search(r"^default_version = '([^']+)'", CONTROL.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        fail(f"no default_version in {CONTROL}")
    return found[1]


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other tool changes the environment or the server, and keep others out meanwhile."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            hand_back()


def hand_back() -> None:
    """Give what root made in a user's checkout to that user, so that `sudo make install` locks nobody out."""
    owner = ROOT.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    for made in (VENV, BUILD, PACKAGE):
        for path in [made, *made.rglob("*")]:
            if path.lstat().st_uid == 0:
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def say(text: str) -> None:
    """Tell the person at the terminal; standard output is kept for results such as a connection string."""
    print(text, file=sys.stderr, flush=True)


def fail(text: str) -> NoReturn:
    """Stop the tool with a message and exit status 1."""
    say(f"error: {text}")
    raise SystemExit(1)


def run(command: Sequence[str | Path], *, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command whose output is only of interest when it fails; then show the output and stop."""
    done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        say((done.stdout + done.stderr).rstrip())
        fail(f"this command ended with status {done.returncode}: {' '.join(map(str, command))}")
