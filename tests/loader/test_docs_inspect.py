"""docs/inspect.md: its commands run as they stand, its options and keys are those of command and page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import psycopg

from option_table import option_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "inspect.md"
Tree = Callable[[dict[str, str | bytes]], Path]


def page() -> str:
    return PAGE.read_text("utf-8")


def test_every_command_runs(tree: Tree, dsn: str, db: psycopg.Connection[Any]) -> None:
    directory = tree({"README.md": "# Readme\n\nAbout coffee.\n", "docs/guide.md": "# Guide\n\nGrind first.\n"})
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('docs/guide.md', '# Guide')")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    lines = [line for block in re.findall(r"```sh\n(.*?)```", page(), re.DOTALL) for line in block.splitlines()]
    for line in lines:
        for old in directory.glob("*.html"):
            old.unlink()
        environment = os.environ | {"PATH": path, "PGCHUNK_DSN": dsn}
        ran = subprocess.run(["bash", "-c", line], cwd=directory, env=environment, capture_output=True, timeout=60)
        assert ran.returncode == 0, (line, ran.stderr)
        (made,) = directory.glob("*.html")
        assert made.read_text("utf-8").startswith("<!doctype html>")
    assert len(lines) == page().count("pgchunk inspect ") >= 6


def test_the_options_are_those_of_the_command() -> None:
    (found,) = re.findall(r"<!-- options of inspect -->\n(.*?)\n?<!-- end -->", page(), re.DOTALL)
    assert found == option_table("inspect")


def test_the_keys_are_those_of_the_pages_legend() -> None:
    template = (ROOT / "loader" / "pgchunk_loader" / "inspect" / "page.html.j2").read_text("utf-8")
    legend = re.findall(r"<div><dt>(.*?)</dt><dd>(.*?)</dd></div>", template)
    on_page = {unescape(words): re.findall(r"<kbd>(.*?)</kbd>", keys) for keys, words in legend}
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", page().partition("| key | |")[2].partition("\n\n")[0], re.MULTILINE)
    documented = {words: re.findall(r"`(.*?)`", keys) for keys, words in rows}
    assert documented.pop("legend") == ["?"]
    assert documented == on_page
