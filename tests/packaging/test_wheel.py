"""The wheel and the source distribution hold what they must, and no more."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import checkout
import pgchunk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, checkout.ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="module")
def files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_its_name_has_the_version_of_the_control_file(wheel: Path) -> None:
    assert wheel.name == f"pgchunk-{checkout.version()}-py3-none-any.whl"


def test_it_holds_every_file_of_both_packages(files: set[str]) -> None:
    for package in (checkout.ROOT / "extension" / "pgchunk", checkout.ROOT / "loader" / "pgchunk_loader"):
        there = [path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        wanted = {str(path.relative_to(package.parent)) for path in there if not path.name.startswith(".")}
        assert wanted
        assert not wanted - files


def test_it_holds_the_data_that_git_does_not(files: set[str]) -> None:
    ranks = {f"pgchunk/data/{name}.ranks" for name in ("cl100k_base", "o200k_base")}
    assert ranks | {"pgchunk/_version.py"} <= files


def test_it_holds_nothing_else(files: set[str]) -> None:
    tops = {name.split("/", 1)[0] for name in files}
    assert tops == {"pgchunk", "pgchunk_loader", f"pgchunk-{checkout.version()}.dist-info"}
    assert any(name.endswith("/LICENSE") for name in files)


def test_it_counts_tokens_where_nothing_of_the_checkout_is(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import pgchunk; "
        "print(pgchunk.__file__, pgchunk.__version__, pgchunk.count_tokens('hello world'))"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == [str(tmp_path / "pgchunk" / "__init__.py"), checkout.version(), "2"], done.stderr


def test_the_source_distribution_can_install_into_a_server(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = [
        "Makefile",
        "tools/deps",
        "tools/install.py",
        "sql/build.py",
        "sql/header.sql",
        "sql/prelude.py.in",
    ]
    assert {*wanted, "extension/pgchunk.control", "extension/requirements.txt", "LICENSE"} <= names
    assert not {name for name in names if name.startswith((".venv", ".pgchunk", "build/"))}


def test_the_version_is_the_same_everywhere() -> None:
    assert pgchunk.__version__ == checkout.version()
    changelog = (checkout.ROOT / "CHANGELOG.md").read_text()
    first = next(line for line in changelog.splitlines() if line.startswith("## "))
    assert first == "## Unreleased" or first.startswith(f"## {checkout.version()} ")
