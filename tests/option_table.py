"""The options of a command as the documentation has them."""

from __future__ import annotations

from typing import Any

import typer

from pgchunk_loader import cli


def option_table(command: str) -> str:
    """The options of a command as markdown, from the code."""
    group: Any = typer.main.get_command(cli.app)
    rows = ["| option | |", "| --- | --- |"]
    for parameter in group.commands[command].params:
        if parameter.param_type_name == "option" and parameter.name != "help":
            names = ", ".join(f"`{name}`" for name in parameter.opts)
            value = f" {parameter.metavar}".replace("|", " or ").rstrip()
            rows.append(f"| {names}{value} | {parameter.help} |")
    return "\n".join(rows)
