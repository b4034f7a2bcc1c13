"""The text of a document, cut wherever what is to be said about it changes.

The segments of a document, and the parts of each, hold every character of it once and in order.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from pgchunk import Chunk, Heading, Strategy
from pgchunk.blocks import Parsed
from pgchunk.frontmatter import BYTE_ORDER_MARK, body_start
from pgchunk.parse import parse_markdown
from pgchunk.sections import headings
from pgchunk_loader.inspect.document import Cut, Document

#: In a chunk or, where they overlap, in several.
CHUNK: Final = "chunk"
#: A heading line outside the chunks whose title stands in a heading path.
HEADING: Final = "heading"
#: Front matter, which is metadata.
FRONT: Final = "front"
#: A byte-order mark.
MARK: Final = "mark"
#: Text before the first splitting heading, when the strategy leaves it out.
SKIPPED: Final = "skipped"
#: White space between chunks.
BLANK: Final = "blank"
#: Text that is in no chunk though it should be.
LOST: Final = "lost"

#: Top-level blocks with lines that mean something.
_WIDE: Final = frozenset({"table", "fence", "code"})

#: The end of a line that a chunk ends in: it is shown with the line, though it does not belong to that chunk.
_REST_OF_LINE: Final = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n)?")
#: Characters that are not seen, or that turn the order of others round, in runs; and a carriage return that ends a line
#: by itself, which browsers do not take for a line end. Tabs, other line ends and joiners are text.
_SPECIAL: Final = re.compile(
    "([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb])\\1*|\r(?!\n)"
)
#: Invisible runs that get a mark of their own, and returns; a document with more of them is not made to be read.
MOST_MARKS: Final = 2_000
MOST_RETURNS: Final = 50_000


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a segment that is shown in one way.

    Attributes:
        heading: whether it is (part of) a heading.
        in_path: whether that heading's title stands in a heading path.
        invisible: the name of its characters when they cannot be seen, such as 'U+202E' or 'U+0001 × 3'.
        ends_line: whether it is a carriage return that ends a line by itself.
        wide: whether it is in a table or in code, whose lines are easier to read when they are not wrapped.
        outside: whether it is the end of a line that does not belong to all that the segment belongs to.
    """

    text: str
    heading: bool = False
    in_path: bool = False
    invisible: str = ""
    ends_line: bool = False
    wide: bool = False
    outside: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the document with the same chunks all through.

    Attributes:
        start, end: characters of the document, half-open; an end of line behind it (a Part outside) is included.
        kind: one of the words above.
        owners: ordinals of the chunks it is in, in order.
        starts: those of them that begin here.
        cut: whether it ends inside a line.
    """

    start: int
    end: int
    kind: str
    owners: tuple[int, ...]
    starts: tuple[int, ...]
    parts: tuple[Part, ...]
    cut: bool


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str
    owners: tuple[int, ...] = ()


def segments(document: Document, cut: Cut) -> list[Segment]:
    """The segments of a document by the chunks of a strategy; none for an empty document."""
    text = document.text
    parsed = parse_markdown(text) if document.format == "markdown" else None
    marked = _headings(parsed, cut.chunks) if parsed else []
    gaps = _Gaps(text, document.format, cut.strategy, marked)
    spans: list[_Span] = []
    for start, end, owners in _owned(cut.chunks, len(text)):
        spans.extend([_Span(start, end, CHUNK, owners)] if owners else gaps.spans(start, end))
    wide = [_Marked(each.start, each.end) for each in parsed.blocks if each.kind in _WIDE] if parsed else []
    marker = _Marker(text, sorted([*marked, *wide], key=lambda each: each.start))
    return list(_finished(text, spans, cut.chunks, marker))


# What is in which chunk.


def _owned(chunks: Iterable[Chunk], length: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The document in stretches with the same chunks; offsets outside of it are brought inside."""
    opening: dict[int, list[int]] = {}
    closing: dict[int, list[int]] = {}
    for each in chunks:
        start, end = (min(max(offset, 0), length) for offset in (each.char_start, each.char_end))
        if start < end:
            opening.setdefault(start, []).append(each.ordinal)
            closing.setdefault(end, []).append(each.ordinal)
    owners: set[int] = set()
    for start, end in pairwise(sorted({0, length, *opening, *closing})):
        owners.difference_update(closing.get(start, ()))
        owners.update(opening.get(start, ()))
        yield start, end, tuple(sorted(owners))


# Headings, and whether a path says them.


@dataclass(frozen=True, slots=True)
class _Marked:
    """An element of the document that is shown in a way of its own: a heading or, with level 0, a wide block.

    Attributes:
        in_path: whether the heading's title stands in the heading path of a chunk.
    """

    start: int
    end: int
    level: int = 0
    in_path: bool = False


def _headings(parsed: Parsed, chunks: Iterable[Chunk]) -> list[_Marked]:
    said = {each.heading_path[:depth] for each in chunks for depth in range(1, len(each.heading_path) + 1)}
    return [
        _Marked(each.char_start, each.char_end, each.level, path in said)
        for each, path in _with_paths(headings(parsed))
    ]


def _with_paths(found: Iterable[Heading]) -> Iterator[tuple[Heading, tuple[str, ...]]]:
    """Each heading with the titles from the outermost one above it to its own; those without text leave no hole."""
    above: list[Heading] = []
    for heading in found:
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        yield heading, tuple(each.title for each in above if each.title) if heading.title else ()


# Text between chunks.


class _Gaps:
    """Tells what text outside the chunks is."""

    def __init__(self, text: str, format: str, strategy: Strategy, marked: Sequence[_Marked]) -> None:
        self._text = text
        self._mark = 1 if text.startswith(BYTE_ORDER_MARK) else 0
        self._body = body_start(text) if format == "markdown" else self._mark
        self._headings = marked
        self._starts = [each.start for each in marked]
        self._skipped = 0
        if not strategy.include_preamble:
            self._skipped = next((each.start for each in marked if each.level in strategy.split_levels), 0)

    def spans(self, start: int, end: int) -> list[_Span]:
        """A stretch outside of all chunks, cut where it changes its kind."""
        inside = [each for each in self._near(start, end) if each.start < end and each.end > start]
        offsets = {self._mark, self._body, self._skipped}.union(*({each.start, each.end} for each in inside))
        cuts = [start, *sorted(offset for offset in offsets if start < offset < end), end]
        return [_Span(a, b, self._kind(a, b)) for a, b in pairwise(cuts)]

    def _near(self, start: int, end: int) -> Sequence[_Marked]:
        first = max(0, bisect_right(self._starts, start) - 1)
        return self._headings[first : bisect_left(self._starts, end)]

    def _kind(self, start: int, end: int) -> str:
        if end <= self._mark:
            return MARK
        if end <= self._body:
            return FRONT
        if not self._text[start:end].strip():
            return BLANK
        if end <= self._skipped:
            return SKIPPED
        said = any(each.in_path and each.start <= start and end <= each.end for each in self._near(start, end))
        return HEADING if said else LOST


# Ends of lines, headings and invisible characters inside a segment.


def _finished(text: str, spans: Sequence[_Span], chunks: Iterable[Chunk], marker: _Marker) -> Iterator[Segment]:
    begins: dict[int, list[int]] = {}
    for each in chunks:
        begins.setdefault(max(each.char_start, 0), []).append(each.ordinal)
    taken = 0
    for index, span in enumerate(spans):
        start = max(span.start, taken)
        if start >= span.end:
            continue
        taken = _line_end(text, span, spans[index + 1 : index + 2])
        parts = tuple(marker.parts(start, span.end))
        # A line end that stands alone behind a block would be shown as an empty line.
        rest = (Part(text[span.end : taken], wide=parts[-1].wide, outside=True),) if taken > span.end else ()
        owned = set(span.owners)
        yield Segment(
            start=start,
            end=taken,
            kind=span.kind,
            owners=span.owners,
            starts=tuple(ordinal for ordinal in begins.get(start, ()) if ordinal in owned),
            parts=parts + rest,
            cut=taken < len(text) and text[taken - 1] not in "\r\n" and span.kind != MARK,
        )


def _line_end(text: str, span: _Span, after: Sequence[_Span]) -> int:
    """Where the segment ends: behind the end of its last line, when that begins nothing else."""
    ended = text[span.end - 1] in "\r\n"
    if ended or not after or span.kind == MARK or not set(after[0].owners) <= set(span.owners):
        return span.end
    match = _REST_OF_LINE.match(text, span.end, after[0].end)
    return match.end() if match else span.end


class _Marker:
    """Cuts a segment into parts, from the start of the document to its end."""

    def __init__(self, text: str, marked: Sequence[_Marked]) -> None:
        self._text = text
        self._marked = marked
        self._next = 0
        self._marks_left = MOST_MARKS
        self._returns_left = MOST_RETURNS

    def parts(self, start: int, end: int) -> Iterator[Part]:
        """The parts of text[start:end]; starts must not decrease from call to call."""
        while self._next < len(self._marked) and self._marked[self._next].end <= start:
            self._next += 1
        at, index = start, self._next
        while index < len(self._marked) and self._marked[index].start < end:
            marked = self._marked[index]
            begin, finish = max(marked.start, at), min(marked.end, end)
            yield from self._alike(at, begin, Part(""))
            heading = marked.level > 0
            yield from self._alike(begin, finish, Part("", heading, marked.in_path, wide=not heading))
            at, index = finish, index + 1
        yield from self._alike(at, end, Part(""))

    def _alike(self, start: int, end: int, like: Part) -> Iterator[Part]:
        """A stretch that differs only in what can be seen."""
        at = start
        for match in _SPECIAL.finditer(self._text, start, end):
            ends_line = match[0] == "\r"
            if ends_line and match.end() < len(self._text) and self._text[match.end()] == "\n":
                continue  # the end of this stretch lies inside a line end
            if not self._may_mark(ends_line):
                continue
            if match.start() > at:
                yield replace(like, text=self._text[at : match.start()])
            name = "" if ends_line else _name(match[0])
            yield replace(like, text=match[0], invisible=name, ends_line=ends_line)
            at = match.end()
        if at < end:
            yield replace(like, text=self._text[at:end])

    def _may_mark(self, ends_line: bool) -> bool:
        """Whether there is room for one more mark; takes it."""
        if ends_line:
            self._returns_left -= 1
            return self._returns_left >= 0
        self._marks_left -= 1
        return self._marks_left >= 0


def _name(run: str) -> str:
    return f"U+{ord(run[0]):04X}" + (f" × {len(run):,}" if len(run) > 1 else "")
