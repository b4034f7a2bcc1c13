"""Real documentation: loads, re-loads and prunes right. Runs when the corpora lie beside the checkout."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

CORPORA = Path(os.environ.get("PGCHUNK_CORPORA", Path(__file__).resolve().parents[3] / "shared" / "corpora"))

Command = Callable[..., Any]
Connection = psycopg.Connection[Any]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not CORPORA.is_dir(), reason="no corpora: PGCHUNK_CORPORA names their directory")
def test_the_corpora_load_reload_and_prune(pgchunk: Command, db: Connection, tmp_path: Path) -> None:
    root = tmp_path / "corpora"
    shutil.copytree(CORPORA, root, symlinks=True)

    def load(*arguments: str) -> dict[str, Any]:
        ran = pgchunk("load", root, "--format", "json", *arguments)
        assert ran.status == 0, ran.err
        found: dict[str, Any] = json.loads(ran.out)
        return found

    first = load()
    assert db.execute("SELECT count(*) FROM documents").fetchone() == (first["added"],)
    assert db.execute("SELECT count(*) FROM chunks").fetchone() == (first["chunks"],)
    second = load()
    assert (second["added"], second["changed"], second["unchanged"]) == (0, 0, first["added"])
    assert second["seconds"] < first["seconds"] / 10, "a re-load takes under a tenth of the load"
    doomed = sorted(root.rglob("*.md"))[::10]
    for path in doomed:
        path.unlink()
    hidden = sum(any(part.startswith(".") for part in path.relative_to(root).parts) for path in doomed)
    third = load("--prune")
    assert third["pruned"] == len(doomed) - hidden
    assert db.execute("SELECT count(*) FROM documents").fetchone() == (first["added"] - third["pruned"],)
