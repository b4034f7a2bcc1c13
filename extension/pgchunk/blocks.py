"""Blocks: the markdown elements of a document with their place in the text, as the parser back ends deliver them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

#: kinds whose text is prose: cut between sentences, and said again in overlaps
PROSE_KINDS: Final = frozenset({"paragraph", "sentence"})


@dataclass(slots=True)
class Block:
    """One markdown element; it covers whole lines.

    Kinds of top-level blocks: heading, paragraph, list, quote, table, fence, code (indented), html, rule, definition
    (link reference definitions). Inside lists: item. While an oversize block is taken apart: group (a heading and
    what is under it), row, line, sentence.
    """

    kind: str
    #: offsets in characters of the document, half-open
    start: int
    end: int
    #: 1 to 6 for headings, else 0
    level: int = 0
    #: the raw text of a heading without its markers
    raw_title: str = ""
    #: the blocks inside a list, an item, a quote or a group
    children: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Parsed:
    """The blocks of a document in order, and a function that turns a heading's raw text into plain text."""

    blocks: list[Block]
    plain_title: Callable[[str], str]
