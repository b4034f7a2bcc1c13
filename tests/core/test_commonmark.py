"""The examples of the CommonMark specification: the same headings as a full parse, and the laws."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from checking import LINE_ENDS, chunked, levels_and_titles
from markdown_it import MarkdownIt
from markdown_it.token import Token

EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n.*?^`{32}$", re.MULTILINE | re.DOTALL)
TEXT = {"text", "code_inline", "text_special"}
BREAKS = {"softbreak", "hardbreak"}
#: What titles leave out by rules of their own; such examples are compared by level only.
SPECIAL = re.compile(r"!\[|\{[#.:]|\[[#¶§]?\]\(#")


@pytest.fixture(scope="module")
def examples(corpora: Path) -> list[str]:
    """The markdown of each example; the specification writes → for a tab."""
    path = corpora / "commonmark" / "spec.txt"
    if not path.is_file():
        pytest.skip("the corpora have no CommonMark specification")
    spec = path.read_text("utf-8")
    return [source.replace("→", "\t") for source in EXAMPLE.findall(spec)]


def headings_of_a_full_parse(text: str) -> list[tuple[int, str]]:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return [
        (int(opening.tag[1]), plain(inline))
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and opening.level == 0
    ]


def plain(inline: Token) -> str:
    parts = (t.content if t.type in TEXT else " " if t.type in BREAKS else "" for t in inline.children or ())
    return " ".join("".join(parts).split())


def without_special_titles(text: str, found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [(level, "") for level, _ in found] if SPECIAL.search(text) else found


def looks_like_front_matter(text: str) -> bool:
    return text.startswith(("---\n", "+++\n"))


def test_the_specification_has_its_examples(examples):
    assert len(examples) > 640
    assert sum(bool(headings_of_a_full_parse(text)) for text in examples) > 30


@pytest.mark.parametrize("end", LINE_ENDS, ids=["lf", "crlf", "cr"])
def test_headings_are_those_of_a_full_parse(examples, end):
    wrong = []
    for text in examples:
        expected = headings_of_a_full_parse(text)
        found = levels_and_titles(text.replace("\n", end))
        if without_special_titles(text, found) != without_special_titles(text, expected):
            wrong.append((text, found, expected))
    assert not wrong


def test_headings_are_the_same_below_a_byte_order_mark(examples):
    wrong = [text for text in examples if levels_and_titles("\ufeff" + text) != levels_and_titles(text)]
    assert not wrong


def test_no_example_is_taken_for_front_matter(examples):
    fenced = [text for text in examples if looks_like_front_matter(text)]
    assert fenced
    assert not [text for text in fenced if levels_and_titles(text) != headings_of_a_full_parse(text)]


@pytest.mark.parametrize("name", ["default", "sections", "packed", "focused"])
def test_the_laws_hold_for_each_example(examples, name):
    for text in examples:
        chunked(text, "T", name)


@pytest.mark.parametrize("size", [16, 24])
def test_the_laws_hold_for_each_example_at_tiny_budgets(examples, size):
    for text in examples:
        chunked(text, "", max_tokens=size)


def test_all_examples_in_one_document(examples):
    text = "\n\n".join(examples)
    assert [level for level, _ in levels_and_titles(text)] == [level for level, _ in headings_of_a_full_parse(text)]
    chunked(text, "T", max_tokens=128)
