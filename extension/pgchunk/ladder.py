"""The ladder: what an oversize unit of text is taken apart into, one rung finer.

A section's text is groups (a deeper heading and what is under it) and blocks; a list is items, an item and a quote are
blocks, a table is rows, code is lines, a paragraph is sentences. What has no finer rung is cut by `pgchunk.windows`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from pgchunk.blocks import Block
from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.lines import line_starts
from pgchunk.sentences import sentence_starts

_FENCE_OPENING: Final = re.compile(r"((?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*)(`{3,}|~{3,})")
_NOT_QUOTE: Final = re.compile(r"[^>\s]")


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of text that stays whole while it fits."""

    kind: str
    start: int
    end: int
    #: what a piece that begins here needs in front, the best first: a table's header rows, a fence's opening line
    leads: tuple[str, ...] = ()
    #: what a piece that ends here needs behind: a fence's closing line
    trail: str = ""
    #: the same for pieces that begin or end inside, when the unit itself has to be cut
    cut_leads: tuple[str, ...] = ()
    cut_trail: str = ""
    children: Sequence[Block] = field(default=())

    @classmethod
    def of(cls, block: Block) -> Unit:
        return cls(block.kind, block.start, block.end, children=block.children)


def group_by_heading(blocks: Sequence[Block]) -> list[Unit]:
    """Blocks as units, each heading of the highest level there in one group with what is under it."""
    levels = [block.level for block in blocks if block.kind == "heading"]
    if not levels:
        return [Unit.of(block) for block in blocks]
    top = min(levels)
    units: list[Unit] = []
    opened: list[Block] = []
    for block in [*blocks, None]:
        if opened and (block is None or block.level == top):
            units.append(Unit("group", opened[0].start, opened[-1].end, children=tuple(opened)))
            opened = []
        if block is None:
            break
        if opened or block.level == top:
            opened.append(block)
        else:
            units.append(Unit.of(block))
    return units


def take_apart(text: str, unit: Unit, checkpoint: Checkpoint = no_checkpoint) -> list[Unit]:
    """The parts of a unit, one rung down; fewer than two when there is no such rung."""
    kind = unit.kind
    if kind == "group":
        return [Unit.of(unit.children[0]), *group_by_heading(unit.children[1:])]
    if kind in ("list", "item", "quote") and unit.children:
        return _children(unit)
    if kind == "table":
        return _rows(text, unit)
    if kind == "head_rows":
        return _head_rows(text, unit)
    if kind == "fence":
        return _code_lines(text, unit)
    if kind in ("code", "html", "definition", "list", "item", "quote"):
        return _lines(text, unit, "code_line" if kind == "code" else "line")
    if kind in ("paragraph", "heading"):
        return _sentences(text, unit, checkpoint)
    return []


def _children(unit: Unit) -> list[Unit]:
    """The blocks inside a container, each with the lines up to the next."""
    children = unit.children
    starts = [unit.start, *(child.start for child in children[1:])]
    ends = [*(child.start for child in children[1:]), unit.end]
    return [
        Unit(child.kind, start, end, children=child.children)
        for child, start, end in zip(children, starts, ends, strict=True)
    ]


def _rows(text: str, unit: Unit) -> list[Unit]:
    """The rows of a table; the first comes with header and delimiter row, the others can have these as lead."""
    starts = line_starts(text, unit.start, unit.end)
    if len(starts) < 4:
        return []
    header = text[unit.start : starts[2]]
    first_end = starts[3]
    rows = [Unit("head_rows", unit.start, first_end)]
    rows.extend(Unit("row", start, end, leads=(header,)) for start, end in pairwise(starts[3:]))
    return rows


def _head_rows(text: str, unit: Unit) -> list[Unit]:
    """A table's header, delimiter and first row one by one: together they are over budget."""
    return _lines(text, unit, "row")


def _code_lines(text: str, unit: Unit) -> list[Unit]:
    """The lines of a fenced block; its first line comes with the opening fence, its last with the closing one."""
    starts = line_starts(text, unit.start, unit.end)
    if len(starts) < 3:
        return []
    opening = text[unit.start : starts[1]]
    marker = _FENCE_OPENING.match(opening)
    if marker is None:
        return _lines(text, unit, "code_line")
    closing = _closing_line(text[starts[-2] : unit.end], marker[2])
    indentation = _NOT_QUOTE.sub(" ", marker[1])
    trail = "\n" + (closing or indentation + marker[2])
    leads = (opening, f"{indentation}{marker[2]}\n")
    quote = indentation if ">" in indentation else ""  # a piece that begins inside a line lacks the line's own
    cut_leads = tuple(lead + quote for lead in leads)
    ends = [*starts[2:-2], unit.end] if closing else starts[2:]
    begins = [unit.start, *ends[:-1]]
    last = len(ends) - 1
    return [
        Unit("code_line", start, end, leads if at else (), trail if at < last else "", cut_leads, trail)
        for at, (start, end) in enumerate(zip(begins, ends, strict=True))
    ]


def _closing_line(line: str, marker: str) -> str:
    """The line without its end if it closes a fence opened by ``marker``, else an empty string."""
    bare = line.strip(" \t>\r\n")
    closes = len(bare) >= len(marker) and bare == marker[0] * len(bare)
    return line.rstrip() if closes else ""


def _lines(text: str, unit: Unit, kind: str) -> list[Unit]:
    starts = line_starts(text, unit.start, unit.end)
    return [Unit(kind, start, end) for start, end in pairwise(starts)]


def _sentences(text: str, unit: Unit, checkpoint: Checkpoint) -> list[Unit]:
    starts = [unit.start + at for at in sentence_starts(text[unit.start : unit.end], checkpoint)]
    if len(starts) < 2:
        return []
    starts[0] = unit.start
    return [Unit("sentence", start, end) for start, end in zip(starts, [*starts[1:], unit.end], strict=True)]
