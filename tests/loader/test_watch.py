"""Watching a tree: what changes is loaded, until Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

Tree = Callable[[dict[str, str | bytes]], Path]
Connection = psycopg.Connection[Any]


def wait_until(db: Connection, expected: dict[str, str]) -> None:
    deadline = time.monotonic() + 30
    while (found := dict(db.execute("SELECT source_uri, content FROM documents").fetchall())) != expected:
        assert time.monotonic() < deadline, f"the database stays at {found}"
        time.sleep(0.05)


@pytest.fixture
def watcher(dsn: str, tree: Tree) -> Iterator[subprocess.Popen[str]]:
    program = [sys.executable, "-c", "from pgchunk_loader.cli import app; app()"]
    arguments = ["load", "--watch", "--prune", "--yes", "--dsn", dsn, str(tree({"a.md": "one"}))]
    process = subprocess.Popen([*program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_what_changes_is_loaded_until_interrupted(watcher: subprocess.Popen[str], tree: Tree, db: Connection) -> None:
    root = tree({})
    wait_until(db, {f"{root}/a.md": "one"})
    tree({"a.md": "two", "sub/b.md": "new", ".hidden.md": "no"})
    wait_until(db, {f"{root}/a.md": "two", f"{root}/sub/b.md": "new"})
    (root / "sub").rename(root / "moved")
    wait_until(db, {f"{root}/a.md": "two", f"{root}/moved/b.md": "new"})
    (root / "a.md").unlink()
    wait_until(db, {f"{root}/moved/b.md": "new"})
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate(timeout=30)
    assert watcher.returncode == 0, err
    assert "Traceback" not in err
    assert out.count("added") >= 4
