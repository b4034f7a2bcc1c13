"""Remove what was made in the checkout: the private server with its data, .venv, build/ and dist/."""

from __future__ import annotations

import shutil

from checkout import BUILD, ROOT, STATE, VENV
from serve import remembered


def main() -> None:
    caches = [ROOT / name for name in (".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache")]
    for folder in [*(remembered() or ()), STATE, VENV, BUILD, ROOT / "dist", ROOT / ".bench", *caches]:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
