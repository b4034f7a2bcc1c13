"""The server's exact pins, the wheel's ranges and the versions that the tests run with agree."""

from __future__ import annotations

import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import checkout

LEFT_OUT = {"requests", "huggingface-hub"}
"""Of the pins' own dependencies, what the server must not have: they would only serve to open connections."""


def pins() -> dict[str, str]:
    lines = checkout.REQUIREMENTS.read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pairs), "every line of extension/requirements.txt is NAME==VERSION"
    return {canonicalize_name(name): version for name, version in pairs}


def ranges() -> dict[str, Requirement]:
    project = tomllib.loads((checkout.ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *project["optional-dependencies"]["hf"]]
    requirements = [Requirement(text) for text in texts]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def own_dependencies(name: str) -> list[Requirement]:
    """What a pinned package asks for itself, on this Python, without extras."""
    requirements = [Requirement(text) for text in metadata.requires(name) or []]
    return [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": ""})]


@pytest.mark.parametrize("name", sorted(pins()))
def test_a_pin_lies_in_the_range(name: str) -> None:
    wanted = ranges().get(name)
    if wanted is None:  # a dependency of a dependency
        assert name in {canonicalize_name(one.name) for pin in pins() for one in own_dependencies(pin)}
    else:
        assert wanted.specifier.contains(pins()[name])


@pytest.mark.parametrize("name", sorted(pins()))
def test_the_tests_run_with_the_pinned_version(name: str) -> None:
    assert metadata.version(name) == pins()[name]


@pytest.mark.parametrize("name", sorted(pins()))
def test_the_pins_are_complete(name: str) -> None:
    for wanted in own_dependencies(name):
        if (needed := canonicalize_name(wanted.name)) not in LEFT_OUT:
            assert needed in pins(), f"{name} needs {needed}"
            assert wanted.specifier.contains(pins()[needed])


def test_nothing_that_is_left_out_is_pinned() -> None:
    assert not LEFT_OUT & set(pins())
