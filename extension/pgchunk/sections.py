"""Blocks to sections: a heading that splits, what is under it, and the path of headings above."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from pgchunk.blocks import Block, Parsed

NO_SECTION: Final = -1


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading; offsets in characters, the heading's line or lines with their end."""

    level: int
    title: str
    char_start: int
    char_end: int


@dataclass(slots=True)
class Section:
    """A splitting heading with its own text, up to the next splitting heading."""

    index: int
    #: titles of the headings above and of its own, outermost first; headings without text leave no hole
    path: tuple[str, ...] = ()
    heading: Block | None = None
    #: whether `path` ends with the section's own title
    titled: bool = False
    #: the section around this one, as an index; NO_SECTION: the document
    parent: int = NO_SECTION
    #: the outermost section around this one, itself included
    root: int = NO_SECTION
    has_children: bool = False
    #: the blocks under the heading, the heading itself not among them
    blocks: list[Block] = field(default_factory=list)

    @property
    def is_preamble(self) -> bool:
        """Whether this is the text before the first splitting heading, or all of it when there is none."""
        return self.heading is None

    @property
    def sibling_group(self) -> int:
        """What the section's text has to share with another's to be merged with it.

        The text directly under a heading counts as the first child of that heading.
        """
        return self.index if self.has_children else self.parent


def headings(parsed: Parsed) -> list[Heading]:
    """The top-level headings of a document, H1 to H6, in order."""
    return [
        Heading(block.level, parsed.plain_title(block.raw_title), block.start, block.end)
        for block in parsed.blocks
        if block.kind == "heading"
    ]


def build_sections(parsed: Parsed, split_levels: tuple[int, ...]) -> list[Section]:
    """Cuts the blocks at the headings of ``split_levels``; the first section is the preamble, which may be empty.

    On a heading of level n every entry of the stack at n or deeper is cleared. Headings that do not split are body
    text, but stand in the paths of the sections below them.
    """
    sections = [Section(0)]
    stack: list[tuple[int, str, int]] = []  # level, title, index of the section it opened
    for block in parsed.blocks:
        if block.kind != "heading":
            sections[-1].blocks.append(block)
            continue
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        title = parsed.plain_title(block.raw_title)
        if block.level in split_levels:
            sections.append(_open_section(len(sections), block, title, stack, sections))
            stack.append((block.level, title, sections[-1].index))
        else:
            sections[-1].blocks.append(block)
            stack.append((block.level, title, NO_SECTION))
    return sections


def _open_section(
    index: int, block: Block, title: str, stack: list[tuple[int, str, int]], sections: list[Section]
) -> Section:
    above = tuple(title for _, title, _ in stack if title)
    parent = next((opened for _, _, opened in reversed(stack) if opened != NO_SECTION), NO_SECTION)
    section = Section(
        index,
        path=(*above, title) if title else above,
        heading=block,
        titled=bool(title),
        parent=parent,
        root=index if parent == NO_SECTION else sections[parent].root,
    )
    if parent != NO_SECTION:
        sections[parent].has_children = True
    return section
