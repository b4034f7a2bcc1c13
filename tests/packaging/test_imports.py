"""The import contracts hold, and notice when they don't."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import checkout


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    environment = os.environ | {"PYTHONPATH": f"{folder}/extension:{folder}/loader", "PYTHONSAFEPATH": "1"}
    command = [program, "--no-cache", "--config", folder / "pyproject.toml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(checkout.ROOT / "pyproject.toml", tmp_path)
    for part in ("extension/pgchunk", "loader/pgchunk_loader"):
        ignored = shutil.ignore_patterns("__pycache__", "*.ranks")
        shutil.copytree(checkout.ROOT / part, tmp_path / part, ignore=ignored)
    return tmp_path


def test_contracts_hold(copy: Path) -> None:
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("extension/pgchunk/evil.py", "import socket"),
        ("extension/pgchunk/evil.py", "from urllib import request"),
        ("extension/pgchunk/evil.py", "def f():\n    import openai"),
        ("extension/pgchunk/evil.py", "import plpy"),
        ("extension/pgchunk/evil.py", "from pgchunk_loader import cli"),
        ("extension/pgchunk/evil.py", "import pgchunk.server"),
        ("extension/pgchunk/server/evil.py", "import http.client"),
    ],
)
def test_contracts_notice(copy: Path, module: str, line: str) -> None:
    (copy / module).write_text(f"{line}\n")
    done = lint_imports(copy)
    assert done.returncode == 1
    assert "1 broken" in done.stdout
