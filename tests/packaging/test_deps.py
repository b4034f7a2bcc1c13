"""Which PostgreSQL make deps settles on, told from what apt offers, without touching the machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import deps
import servers

DEBIAN_12 = ["postgresql-15", "postgresql-plpython3-15", "postgresql-server-dev-15"]
DEBIAN_13 = [
    "postgresql-17",
    "postgresql-plpython3-17",
    "postgresql-17-pgvector",
    "postgresql-server-dev-17",
]
UBUNTU_24_04 = [
    "postgresql-16",
    "postgresql-plpython3-16",
    "postgresql-16-pgvector",
    "postgresql-server-dev-16",
]
Offer = Callable[..., None]


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Offer:
    """offer(packages, installed) makes apt know these packages, and no server be on the machine."""

    def arrange(packages: list[str], installed: tuple[str, ...] = ()) -> None:
        majors = {int(name.rpartition("-")[2]) for name in packages if "plpython3" in name}
        new_enough = [major for major in majors if major >= deps.OLDEST_MAJOR]
        monkeypatch.setattr(deps, "candidates", lambda names: set(names) & set(packages))
        monkeypatch.setattr(deps, "known_majors", lambda: sorted(new_enough, reverse=True))
        monkeypatch.setattr(deps, "is_installed", lambda name: name in installed)
        monkeypatch.setattr(deps, "packaged_server", lambda major: deps.Server(tmp_path / f"{major}"))

    return arrange


def test_takes_packages_where_the_distribution_has_them(offer: Offer) -> None:
    for packages, major in ((DEBIAN_13, 17), (UBUNTU_24_04, 16)):
        offer(packages)
        plan = deps.choose_plan()
        assert plan is not None
        assert (plan.major, plan.builds_pgvector) == (major, False)
        assert f"postgresql-{major}-pgvector" in plan.packages
        assert "gcc" not in plan.packages


def test_builds_pgvector_where_the_distribution_has_none(offer: Offer) -> None:
    offer(DEBIAN_12)
    plan = deps.choose_plan()
    assert plan is not None
    assert (plan.major, plan.builds_pgvector) == (15, True)
    assert {"postgresql-server-dev-15", "gcc", "make", "dpkg-dev"} <= set(plan.packages)


def test_takes_the_newest_major(offer: Offer) -> None:
    offer(UBUNTU_24_04 + DEBIAN_13)
    plan = deps.choose_plan()
    assert plan is not None
    assert plan.major == 17


def test_prefers_a_packaged_pgvector_to_a_newer_major_without(offer: Offer) -> None:
    offer([*DEBIAN_13, "postgresql-18", "postgresql-plpython3-18", "postgresql-server-dev-18"])
    plan = deps.choose_plan()
    assert plan is not None
    assert (plan.major, plan.builds_pgvector) == (17, False)


def test_asks_only_for_what_is_missing(offer: Offer) -> None:
    offer(DEBIAN_13, installed=("postgresql-17", "python3", "python3-venv"))
    plan = deps.choose_plan()
    assert plan is not None
    assert plan.packages == ("postgresql-plpython3-17", "postgresql-17-pgvector")


def test_finds_nothing_without_a_server_or_a_way_to_pgvector(offer: Offer) -> None:
    for packages in (["postgresql-plpython3-17"], ["postgresql-17", "postgresql-plpython3-17"], []):
        offer(packages)
        assert deps.choose_plan() is None


def test_tells_a_user_who_is_not_root_what_is_missing(
    offer: Offer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(DEBIAN_12)
    plan = deps.choose_plan()
    assert plan is not None
    monkeypatch.setattr(deps.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as stopped:
        deps.carry_out(plan)
    said = capsys.readouterr().err
    assert stopped.value.code == 1
    assert all(package in said for package in plan.packages)
    assert "sudo make deps" in said
    assert "pgvector" in said


def test_what_our_make_was_called_with_does_not_reach_the_make_of_pgvector(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "pgvector"
    source.mkdir()
    lines = ["all install:", '\t@echo "$@:$(DOCS):$(PG_CONFIG)" >> told']
    (source / "Makefile").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("MAKEFLAGS", " -- DOCS=ours")
    monkeypatch.setenv("DOCS", "ours")
    monkeypatch.setattr(deps, "own_mirrors", lambda: ["a mirror"])
    monkeypatch.setattr(deps, "KEYRING", tmp_path)
    monkeypatch.setattr(deps, "fetch_source", lambda *_: source)
    deps.build_pgvector(servers.chosen())
    config = servers.chosen().pg_config
    assert (source / "told").read_text().splitlines() == [f"all::{config}", f"install::{config}"]


def test_lists_are_fetched_anew_only_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Answer:
        returncode = 0

    monkeypatch.setattr(deps.subprocess, "run", lambda command, **_: done.append(command[1]) or Answer)
    monkeypatch.setattr(deps, "run", lambda command, **_: done.append(command[1]))
    deps.apt_install(("a",))
    assert done == ["install"]
    done.clear()
    Answer.returncode = 100
    deps.apt_install(("a",))
    assert done == ["install", "update", "install"]
    done.clear()
    deps.apt_install(())
    assert done == []
