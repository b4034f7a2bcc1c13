"""Make .venv, the checkout's own environment, from the Python that the server's plpython3 is linked to.

Does nothing, and needs no network, when the environment is there and nothing it was made from has changed.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tomllib
from pathlib import Path

from checkout import CONTROL, REQUIREMENTS, ROOT, VENV, VENV_PYTHON, one_at_a_time, run, say
from servers import chosen, chosen_python

PYPROJECT = ROOT / "pyproject.toml"
STAMP = VENV / "made-from"


def fingerprint(python: Path) -> str:
    """Hash of everything that decides what the environment holds."""
    described = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))
    parts = [str(python), str(ROOT), REQUIREMENTS.read_text(), CONTROL.read_text()]
    parts += [described["project"], described["build-system"], described["tool"]["hatch"]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_current(wanted: str) -> bool:
    return STAMP.exists() and STAMP.read_text() == wanted and VENV_PYTHON.exists()


def is_made_from(python: Path) -> bool:
    """Whether .venv exists where it was made, runs, and uses this interpreter."""
    if not VENV_PYTHON.exists():
        return False
    asked = subprocess.run([VENV / "bin" / "pip", "--version"], capture_output=True, text=True)
    if asked.returncode != 0:  # the environment was copied from elsewhere, or its Python is gone
        return False
    base = subprocess.run(
        [VENV_PYTHON, "-c", "import sys; print(sys._base_executable)"], capture_output=True, text=True
    )
    return Path(base.stdout.strip()).resolve() == python.resolve()


def main() -> None:
    python = chosen_python(chosen())
    wanted = fingerprint(python)
    if is_current(wanted):
        return
    say(f"making .venv with {python}")
    if not is_made_from(python):
        run([python, "-m", "venv", "--clear", VENV])
    # The server's pins come first, so that the checkout tests what the server runs.
    run([VENV_PYTHON, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS])
    run([VENV_PYTHON, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[dev]", "-c", REQUIREMENTS])
    STAMP.write_text(wanted)


if __name__ == "__main__":
    with one_at_a_time():
        main()
