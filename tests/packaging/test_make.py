"""The Makefile is the one door: every target is listed, and deps leaves a prepared machine alone."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import checkout

PROMISED = {
    "help", "deps", "install", "serve", "stop", "demo", "test", "laws", "bench", "lint", "dist", "clean",
}  # fmt: skip


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # Without the variables of a make that runs the tests, so that its own output is not mixed in.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "-s", *arguments], cwd=checkout.ROOT, capture_output=True, text=True, env=kept | environment
    )


def phony_targets() -> set[str]:
    found = re.search(r"^\.PHONY: (.*)$", (checkout.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None
    return set(found[1].split())


def test_help_is_the_default_and_has_a_line_for_every_target() -> None:
    shown = make()
    assert shown.returncode == 0, shown.stderr
    listed = dict(re.findall(r"^  make ([a-z-]+) +(\S.*)$", shown.stdout, re.MULTILINE))
    assert set(listed) == phony_targets()
    assert set(listed) >= PROMISED
    assert all(len(line) <= 120 for line in shown.stdout.splitlines())


def test_every_phony_target_has_a_rule() -> None:
    text = (checkout.ROOT / "Makefile").read_text()
    rules = set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))
    assert rules == phony_targets()


@pytest.fixture
def failing_tools(tmp_path: Path) -> Path:
    """A folder with programs that note that they were called, and fail."""
    for name in ("apt-get", "apt-cache", "dpkg-query", "pip", "curl", "make"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/called\nexit 1\n")
        program.chmod(0o755)
    return tmp_path


def test_deps_does_nothing_on_a_prepared_machine(failing_tools: Path) -> None:
    path = f"{failing_tools / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [checkout.ROOT / "tools" / "deps"], capture_output=True, text=True, env=os.environ | {"PATH": path}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (failing_tools / "called").exists()


def test_deps_refuses_a_server_that_does_not_run() -> None:
    done = make("deps", PG_CONFIG="/nowhere/pg_config")
    assert done.returncode != 0
    assert "PG_CONFIG is /nowhere/pg_config" in done.stderr


def test_deps_refuses_a_server_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "pg_config"
    old.write_text("#!/bin/sh\necho PostgreSQL 14.9\n")
    old.chmod(0o755)
    done = make("deps", PG_CONFIG=str(old))
    assert done.returncode != 0
    assert "PostgreSQL 14.9" in done.stderr
    assert "15 or newer" in done.stderr


@pytest.fixture
def dead_pg_config(tmp_path: Path) -> Path:
    """What the distribution leaves in /usr/bin when no server is installed."""
    program = tmp_path / "dead" / "pg_config"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'install a postgresql-server-dev package' >&2\nexit 1\n")
    program.chmod(0o755)
    return program


def test_a_pg_config_without_a_server_is_passed_over(dead_pg_config: Path) -> None:
    done = make("deps", PATH=f"{dead_pg_config.parent}:{os.environ['PATH']}")
    assert (done.returncode, done.stderr) == (0, "")


def test_deps_refuses_a_pg_config_that_does_not_answer(dead_pg_config: Path) -> None:
    done = make("deps", PG_CONFIG=str(dead_pg_config))
    assert done.returncode != 0
    assert "does not answer" in done.stderr


def test_shell_scripts_parse() -> None:
    for script, shell in ((".ci/run", "bash"), ("tools/deps", "sh"), ("docker/entrypoint", "sh")):
        done = subprocess.run([shell, "-n", checkout.ROOT / script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert os.access(checkout.ROOT / script, os.X_OK)
