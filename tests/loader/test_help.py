"""The command explains itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

import pgchunk
from pgchunk_loader import cli

Command = Callable[..., Any]
COMMANDS = sorted(command.callback.__name__ for command in cli.app.registered_commands if command.callback)


def plain(text: str) -> str:
    """A help screen as words in order, without frames and line breaks."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


STATUSES = {
    "inspect": "0 all well; 1 the file cannot be chunked; 2 wrong usage, no such file or document",
    "load": "0 all well; 1 some files were skipped; 2 wrong usage",
    "preview": "0 all well; 1 the file cannot be chunked; 2 wrong usage",
    "status": "0 all well; 2 wrong usage",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_and_names_its_own_exit_statuses(offline: Command, command: str) -> None:
    ran = offline(command, "--help")
    assert ran.status == 0
    shown = plain(ran.out)
    assert f"Examples: pgchunk {command}" in shown
    assert f"Exit status: {STATUSES[command]}" in shown


def test_preview_promises_nothing_that_only_a_load_does(offline: Command) -> None:
    shown = plain(offline("preview", "--help").out)
    assert not re.search("metadata|[Ss]kip|what went wrong", shown)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_without_a_value_name_no_type(command: str) -> None:
    group: Any = typer.main.get_command(cli.app)
    for parameter in group.commands[command].params:
        if getattr(parameter, "is_flag", False):
            assert parameter.metavar == "", f"{parameter.name} of {command}"


def test_the_rights_that_a_role_needs_are_in_the_help(offline: Command) -> None:
    assert "USAGE on schema pgchunk and SELECT, INSERT and UPDATE on the table of documents" in plain(
        offline("load", "--help").out
    )
    assert "USAGE on schema pgchunk and SELECT on both tables" in plain(offline("status", "--help").out)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_text(command: str) -> None:
    group: Any = typer.main.get_command(cli.app)
    for parameter in group.commands[command].params:
        if parameter.name != "help":
            assert getattr(parameter, "help", None), f"{parameter.name} of {command} has no help"


def test_the_examples_of_the_help_texts_parse() -> None:
    group: Any = typer.main.get_command(cli.app)
    examples = [
        line.split("<")[0].strip().split()[1:]
        for command in group.commands.values()
        for line in command.help.splitlines()
        if line.startswith("pgchunk ")
    ]
    assert len(examples) >= 8
    for name, *arguments in examples:
        command = group.commands[name]
        command.make_context(name, [argument.strip("'") for argument in arguments])


def test_version_and_no_arguments(offline: Command) -> None:
    assert offline("--version").out == f"pgchunk {pgchunk.__version__}\n"
    for command in COMMANDS:
        assert command in offline().out + offline().err


@pytest.mark.parametrize("arguments", [["load"], ["load", "a", "b"], ["load", ".", "-j", "0"], ["nope"], ["--nope"]])
def test_wrong_usage_is_status_2(offline: Command, arguments: list[str]) -> None:
    ran = offline(*arguments)
    assert ran.status == 2
    assert ran.err


def test_the_shell_completes_strategies() -> None:
    program = Path(sys.executable).with_name("pgchunk")
    words = "pgchunk load --strategy s"
    environment = {"_PGCHUNK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "3"}
    ran = subprocess.run([program], env=os.environ | environment, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["sections"]


@pytest.mark.parametrize(
    ("text", "expected"), [("10", 10), ("1k", 1024), ("2 kB", 2048), ("3MiB", 3 * 1024**2), ("1G", 1024**3)]
)
def test_sizes(text: str, expected: int) -> None:
    assert cli._size(text) == expected
