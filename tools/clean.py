"""Remove what was made in the checkout: the private server with its data, .venv, build/ and dist/."""

from __future__ import annotations

import shutil
from pathlib import Path

from checkout import BUILD, ROOT, STATE, VENV
from serve import REMEMBERED


def main() -> None:
    remembered = [Path(line) for line in REMEMBERED.read_text().splitlines()] if REMEMBERED.exists() else []
    caches = [ROOT / name for name in (".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache")]
    for folder in [*remembered, STATE, VENV, BUILD, ROOT / "dist", *caches]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
