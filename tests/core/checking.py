"""What the tests of the core share: chunking with the laws checked, and short views of the chunks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from pgchunk import Chunk, Strategy, chunk, count_tokens, outline
from pgchunk.chunker import resolve_strategy
from pgchunk.laws import problems
from pgchunk.lines import line_starts

LINE_ENDS = ("\n", "\r\n", "\r")
#: Every section a chunk of its own, nothing said twice.
SEPARATE: dict[str, Any] = {"min_tokens": 0, "overlap_tokens": 0}
Path = tuple[str, ...]


def chunked(
    text: str,
    title: str = "",
    strategy: str | Strategy = "default",
    *,
    format: str = "markdown",
    **options: Any,
) -> list[Chunk]:
    """The chunks of a document, which keep the laws L1 to L4 and come out the same again (L5)."""
    chosen = resolve_strategy(strategy).with_overrides(**options)
    chunks = chunk(text, title, chosen, format=format)
    broken = problems(text, title, chosen, chunks, format)
    assert not broken, broken[:5]
    assert chunk(text, title, chosen, format=format) == chunks, "a second run gave other chunks"
    return chunks


def separate(text: str, title: str = "", strategy: str | Strategy = "default", **options: Any) -> list[Chunk]:
    """The same without merging and without overlap."""
    return chunked(text, title, strategy, **{**SEPARATE, **options})


def outlined(text: str) -> list[tuple[int, str]]:
    """Level and title of each heading, the same for every kind of line end."""
    if "\r" not in text:
        for end in LINE_ENDS:
            assert levels_and_titles(text.replace("\n", end)) == levels_and_titles(text)
    return levels_and_titles(text)


def levels_and_titles(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in outline(text)]


def with_text(chunks: list[Chunk], text: str) -> Chunk:
    """The only chunk whose raw_content has the text."""
    found = [c for c in chunks if text in c.raw_content]
    assert len(found) == 1, f"{text!r} is in {len(found)} chunks"
    return found[0]


def paths(chunks: list[Chunk]) -> list[Path]:
    return [c.heading_path for c in chunks]


def raw_lines(chunks: list[Chunk]) -> list[str]:
    """All lines of the raw contents, in order, without their ends."""
    return [line.rstrip("\r\n") for c in chunks for line in lines(c.raw_content)]


def lines(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return [text[a:b] for a, b in pairwise(line_starts(text))]


def breadcrumb_of(one: Chunk) -> str:
    """What content has before the text, without the blank line; '' when there is no breadcrumb."""
    embedded = one.raw_prefix + one.raw_content + one.raw_suffix
    return one.content.removesuffix(embedded).removesuffix("\n\n")


def budget_kept(chunks: list[Chunk], max_tokens: int) -> bool:
    """Whether every embedded text, counted as it stands, is within the budget."""
    return all(count_tokens(c.content) <= max_tokens for c in chunks)


def disjoint(chunks: list[Chunk]) -> bool:
    return all(a.char_end <= b.char_start for a, b in pairwise(chunks))


def without_blanks(text: str) -> str:
    return "".join(text.split())
