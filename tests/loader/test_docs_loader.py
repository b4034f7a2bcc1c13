"""docs/loader.md: its commands run as they stand, its output and its lists are what the command gives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from option_table import option_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "loader.md"
BLOCK = re.compile(r"^```sh\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
Tree = Callable[[dict[str, str | bytes]], Path]

FILES: dict[str, str | bytes] = {
    "README.md": "# Readme\n\nAbout coffee.\n",
    "docs/guide.md": (
        "# Guide\n\n## Grinding\n\nGrind right before you brew: ground coffee goes stale within minutes.\n\n"
        "## Water\n\nAim for about 70 mg of calcium carbonate per litre of water.\n"
    ),
    "docs/notes.txt": "Ask Ann about the new grinder.\n",
    "docs/drafts/idea.md": "# Idea\n\nA page on roasting at home, with pictures of each stage.\n",
    "docs/diagram.png": b"\x89PNG",
}


def page() -> str:
    return PAGE.read_text("utf-8")


def run(line: str, directory: Path, dsn: str) -> str:
    """The standard output of a command line of the page, against this test's database."""
    line = re.sub(r"(--dsn |PGCHUNK_DSN=)('[^']*'|\S+)", r'\1"$DSN"', line)
    if "--watch" in line:
        line = f"timeout --preserve-status --signal=INT 6 {line}"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PGCHUNK_DSN": dsn, "DSN": dsn, "COLUMNS": "200"}
    done = subprocess.run(
        ["bash", "-c", line], cwd=directory, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "no longer watching\n" if "--watch" in line else ""), line
    return done.stdout


def shown(output: str) -> list[str]:
    """Lines without blanks at their ends and without the time it took."""
    return [re.sub(r"^time .*", "time", line).rstrip() for line in output.splitlines()]


def test_every_command_runs_and_prints_what_is_shown(tree: Tree, dsn: str) -> None:
    directory = tree(FILES)
    blocks = BLOCK.findall(page())
    commands = 0
    for lines, text in blocks:
        for line in lines.splitlines():
            commands += 1
            out = run(line, directory, dsn)
        if text:
            assert shown(text) == shown(out), lines
    assert commands == sum(line.count("pgchunk ") for lines, _ in blocks for line in lines.splitlines())
    assert sum(bool(text) for _, text in blocks) >= 4


def test_connection_strings_that_are_shown_are_ones() -> None:
    found = re.findall(r"(?:--dsn |PGCHUNK_DSN=)(?:'([^']*)'|(\S+))", page())
    assert len(found) >= 2
    for quoted, plain in found:
        assert psycopg.conninfo.conninfo_to_dict(quoted or plain)


def test_the_grants_are_enough_and_each_is_needed(
    tree: Tree, dsn: str, db: psycopg.Connection[Any], make_role: Callable[..., str], pgchunk: Callable[..., Any]
) -> None:
    role = make_role()
    (block,) = re.findall(r"```sql\n(.*?)```", page(), re.DOTALL)
    grants = [line for line in block.splitlines() if line]
    account = ["--dsn", f"{dsn} user={role} password={role}"]
    directory = tree(FILES) / "docs"
    commands = [["load", directory], ["load", directory, "--prune"], ["status"]]
    reached = []
    for grant in grants:
        reached.append([pgchunk(*command, *account).status for command in commands])
        db.execute(grant.replace("TO app", f"TO {role}"))
    reached.append([pgchunk(*command, *account).status for command in commands])
    assert reached == [[2, 2, 2], [2, 2, 2], [0, 2, 2], [0, 0, 2], [0, 0, 0]]


@pytest.mark.parametrize("command", ["load", "preview", "status"])
def test_the_options_are_those_of_the_command(command: str) -> None:
    (found,) = re.findall(rf"<!-- options of {command} -->\n(.*?)\n?<!-- end -->", page(), re.DOTALL)
    assert found == option_table(command)


def keys_of(pgchunk: Callable[..., Any], directory: Path) -> dict[str, list[str]]:
    """The keys of what each command writes as JSON."""
    commands: dict[str, list[Any]] = {
        "load": ["load", directory],
        "load --dry-run": ["load", "--dry-run", directory],
        "preview": ["preview", directory / "README.md"],
        "status": ["status"],
    }
    written = {name: json.loads(pgchunk(*each, "-f", "json").out) for name, each in commands.items()}
    written["preview"] = written["preview"][0]
    return {name: list(value) for name, value in written.items()}


def test_the_keys_of_json_are_all_named(tree: Tree, pgchunk: Callable[..., Any]) -> None:
    for command, keys in keys_of(pgchunk, tree(FILES)).items():
        (row,) = re.findall(rf"^\| `{command}` \| (.*) \|$", page(), re.MULTILINE)
        assert re.findall(r"`(\w+)`", row) == keys


def test_the_limits_on_the_page_are_the_codes() -> None:
    from pgchunk_loader import db, files, prune, walk

    for said, value in [
        ("Up to 32 documents share a transaction", files.BATCH_DOCUMENTS == 32),
        ("tried again for two minutes", db.RETRY_FOR == 120),
        ("a fifth of them needs your consent", prune.ASK_ABOVE == 0.2),
        ("`*.md`, `*.markdown`, `*.mdx` and `*.txt`", walk.EXTENSIONS == (".md", ".markdown", ".mdx", ".txt")),
    ]:
        assert value
        assert said in " ".join(page().split())
