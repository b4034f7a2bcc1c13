"""Fixtures of the core tests; none needs a server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, so that a failure is a change's doing. PGCHUNK_FUZZ=1 looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("fuzz", derandomize=False)
settings.load_profile("fuzz" if os.environ.get("PGCHUNK_FUZZ") else "repeatable")

SUFFIXES = {".md", ".markdown", ".mdx", ".txt"}
REGENERATE = "--regenerate-golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(REGENERATE, action="store_true", help="write the golden files of tests/core anew")


@pytest.fixture(scope="session")
def regenerate_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written: by the option, or by PGCHUNK_REGENERATE_GOLDEN=1."""
    asked = request.config.getoption(REGENERATE, default=False)  # unknown when tests/core was not named
    return bool(asked) or os.environ.get("PGCHUNK_REGENERATE_GOLDEN", "") not in ("", "0")


@pytest.fixture(scope="session")
def corpora() -> Path:
    """A directory of real documents: PGCHUNK_CORPORA, or shared/corpora beside the checkout; skips without one."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "corpora"
    found = Path(os.environ.get("PGCHUNK_CORPORA", beside))
    if not found.is_dir():
        pytest.skip("no corpora on this machine; set PGCHUNK_CORPORA to a directory of markdown files")
    return found


@pytest.fixture(scope="session")
def corpus_files(corpora: Path) -> list[Path]:
    """Its markdown files of ordinary size."""
    files = sorted(p for p in corpora.rglob("*") if p.suffix in SUFFIXES and 2_000 < p.stat().st_size < 60_000)
    assert files, f"no markdown files below {corpora}"
    return files
