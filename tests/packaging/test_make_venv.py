"""When .venv is made anew, and when it is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import make_venv
from servers import chosen, chosen_python


def test_the_environment_in_use_is_current_and_has_the_servers_python() -> None:
    python = chosen_python(chosen())
    assert make_venv.is_current(make_venv.fingerprint(python))
    assert make_venv.is_made_from(python)


def test_it_is_left_alone_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_venv, "run", lambda command: pytest.fail(f"ran {command}"))
    make_venv.main()


@pytest.mark.parametrize(
    ("old", "new", "matters"),
    [
        ("[tool.ruff]\n", "[tool.ruff]\nfix = false\n", False),
        ('"typer>=', '"typer >=', True),
        ('"hypothesis>=', '"hypothesis >=', True),
    ],
)
def test_only_what_is_installed_matters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, matters: bool
) -> None:
    before = make_venv.fingerprint(Path("/usr/bin/python3"))
    text = make_venv.PYPROJECT.read_text()
    assert old in text
    (tmp_path / "pyproject.toml").write_text(text.replace(old, new))
    monkeypatch.setattr(make_venv, "PYPROJECT", tmp_path / "pyproject.toml")
    assert (make_venv.fingerprint(Path("/usr/bin/python3")) != before) is matters


def test_another_python_is_noticed() -> None:
    assert make_venv.fingerprint(Path("/usr/bin/python3")) != make_venv.fingerprint(Path("/usr/bin/python3.99"))
    assert not make_venv.is_made_from(Path("/bin/sh"))
