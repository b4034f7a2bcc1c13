"""The examples in docs/chunking.md are what the code gives; its tables say what the code says.

The output of examples is written anew with --regenerate-golden, as the golden files are.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from checking import chunked, lines

from pgchunk import STRATEGIES, Chunk, Strategy, chunk
from pgchunk.strategy import OPTION_NAMES
from pgchunk.title import derive_title

PAGE = Path(__file__).parents[2] / "docs" / "chunking.md"
BLOCK = re.compile(r"^`{5}(md|text)\n(.*?)^`{5}$", re.MULTILINE | re.DOTALL)
FLAGS = {
    "preamble",
    "merged",
    "split_block",
    "split_table",
    "split_code",
    "split_sentence",
    "hard_split",
    "breadcrumb_truncated",
    "heading_only",
    "undersized",
}


def examples(page: str) -> list[tuple[str, str, str]]:
    """Document, call and all of the output block, of each example."""
    found = []
    document = ""
    for kind, body in BLOCK.findall(page):
        if kind == "md":
            document = body
        else:
            found.append((document, body.partition("\n")[0], body))
    return found


def arguments(call: str) -> tuple[list[Any], dict[str, Any]]:
    """The literal arguments of a call chunk(text, ...), the text left out."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert ast.unparse(node.func) == "chunk"
    assert ast.unparse(node.args[0]) == "text"
    return (
        [ast.literal_eval(argument) for argument in node.args[1:]],
        {str(k.arg): ast.literal_eval(k.value) for k in node.keywords},
    )


def made(document: str, call: str) -> list[Chunk]:
    """The chunks of an example; they keep the laws."""
    positional, named = arguments(call)
    chunks = chunk(document, *positional, **named)
    title = positional[0] if positional else derive_title(document, "")
    assert chunks == chunked(document, title, *positional[1:], **named)
    return chunks


def output(document: str, call: str) -> str:
    """What the page has to show for an example."""
    shown = [call]
    for one in made(document, call):
        facts = [f"chunk {one.ordinal}", f"{one.content_token_count} tokens"]
        facts += ["continuation"] * one.continuation + list(one.flags)
        shown += ["", f"{', '.join(facts)}: {list(one.heading_path)}"]
        shown += [f"│ {line}".rstrip() for line in lines(one.content)]
    return "\n".join(shown) + "\n"


def with_outputs(page: str) -> str:
    """The page with the output of every example as the code gives it."""
    document = ""

    def replaced(match: re.Match[str]) -> str:
        nonlocal document
        if match[1] == "md":
            document = match[2]
            return match[0]
        return f"`````text\n{output(document, match[2].partition(chr(10))[0])}`````"

    return BLOCK.sub(replaced, page)


def table_under(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of the page, header and delimiter row left out."""
    part = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.split("\n") if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.fixture(scope="module")
def page(regenerate_golden: bool) -> str:
    if regenerate_golden:
        PAGE.write_text(with_outputs(PAGE.read_text("utf-8")), "utf-8", newline="\n")
    return PAGE.read_text("utf-8")


@pytest.mark.parametrize("at", range(len(examples(PAGE.read_text("utf-8")))))
def test_an_example_shows_what_the_code_gives(page, at):
    document, call, shown = examples(page)[at]
    assert shown == output(document, call)


def test_the_page_has_an_example_for_every_rule(page):
    headings = re.findall(r"^##+ (.*)$", BLOCK.sub("", page), re.MULTILINE)
    bare = {"What always holds", "Sections that are too big", "Options", "Strategies", "Flags", "The recipe"}
    parts = re.split(r"^##+ (.*)$", BLOCK.sub(lambda m: f"<{m[1]}>", page), flags=re.MULTILINE)
    with_example = {name for name, body in zip(parts[1::2], parts[2::2], strict=True) if "<text>" in body}
    assert set(headings) - with_example <= bare


def test_every_flag_is_in_the_table_and_in_an_example(page):
    assert {row[0] for row in table_under("Flags")} == FLAGS
    seen = {flag for document, call, _ in examples(page) for one in made(document, call) for flag in one.flags}
    assert seen == FLAGS


def test_every_option_is_in_the_table_in_order():
    assert tuple(row[0] for row in table_under("Options")) == OPTION_NAMES


@pytest.mark.parametrize("row", table_under("Options"), ids=lambda row: row[0])
def test_the_table_gives_the_default(row):
    option, said = row[0], row[1]
    default = {f.name: f.default for f in fields(Strategy)}[option]
    if said.startswith("max_tokens"):
        assert default is None
        in_force = {"target_tokens": "target", "min_tokens": "min"}.get(option, option.replace("tokens", "limit"))
        expected = 512 // int(said.partition("/ ")[2] or 1)
        assert getattr(Strategy(), in_force) == expected
    elif isinstance(default, bool):
        assert said == str(default).lower()
    elif isinstance(default, int):
        assert said == f"{default:,}"
    elif isinstance(default, tuple):
        assert said == ", ".join(map(str, default))
    else:
        assert said == repr(default)


@pytest.mark.parametrize("row", table_under("Options"), ids=lambda row: row[0])
def test_the_table_gives_the_range(row):
    option, allowed = row[0], row[2]
    bounds = re.fullmatch(r"([\d,]+) to (.*)", allowed)
    if option == "separator":
        assert accepted(separator="x" * 16)
        assert not any(accepted(separator=value) for value in ("", "x" * 17, "a\nb"))
    elif bounds:
        low, high = number(bounds[1]), number(bounds[2])
        assert accepted(**{option: low})
        assert accepted(**{option: high})
        assert not accepted(**{option: low - 1})
        assert not accepted(**{option: high + 1})
    elif option == "split_levels":
        assert accepted(split_levels=range(1, 7))
        assert not accepted(split_levels=[0])
        assert not accepted(split_levels=[7])
    else:
        for value in allowed.split(", "):
            assert accepted(**{option: {"true": True, "false": False}.get(value, value.strip("'"))})
        assert not accepted(**{option: "other"})


def number(said: str) -> int:
    """A bound; the names stand for the values they have by default."""
    name, _, divisor = said.partition(" / ")
    value = 512 if name in ("max_tokens", "target_tokens") else int(name.replace(",", ""))
    return value // int(divisor or 1)


def accepted(**options: Any) -> bool:
    try:
        Strategy.from_mapping("tried", options)
    except ValueError:
        return False
    return True


def test_every_strategy_is_in_the_table_as_it_is():
    expected = [
        [
            name,
            f"{s.split_levels[0]}-{s.split_levels[-1]}",
            s.heading_line,
            s.merge,
            str(s.min),
            s.overlap if s.overlap == "none" else f"{s.overlap}, {s.overlap_limit}",
            str(s.target),
            str(s.max_tokens),
        ]
        for name, s in STRATEGIES.items()
    ]
    assert table_under("Strategies") == expected
