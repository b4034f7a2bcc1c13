"""The page as data: everything that is shown, worked out before anything is written as HTML."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any, Final

from pgchunk import Chunk, __version__
from pgchunk.breadcrumb import GAP
from pgchunk.titles import fold
from pgchunk_loader.inspect import segments as kinds
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.plot import Plot, plot
from pgchunk_loader.inspect.segments import Part, Segment, segments
from pgchunk_loader.inspect.words import FLAGS, settings_of
from pgchunk_loader.report import plural, printable

#: How many problems are written out; a person mends the first before the hundredth.
MOST_PROBLEMS: Final = 50
#: How a problem names a chunk.
_CHUNK: Final = re.compile(r"\bchunk (\d+)\b")
#: Characters of a chunk's beginning that the list shows.
_BEGINNING: Final = 60
#: Characters in a line, roughly: what a browser is told of a segment's height before it is laid out.
_LINE: Final = 90
#: Heights that have a class in the style sheet, in lines: each is about half as much again as the one before.
HEIGHTS: Final = tuple(round(1.5**step) for step in range(1, 25))

#: What stands beside a segment that is in no chunk.
_LABELS: Final = {
    kinds.HEADING: "path",
    kinds.FRONT: "front matter",
    kinds.MARK: "BOM",
    kinds.SKIPPED: "left out",
    kinds.LOST: "in no chunk",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A segment as it is shown.

    Attributes:
        classes: its kind, colour and height.
        ids: what links to its chunks go to.
        owners: the ordinals of its chunks.
        label: what stands beside it.
        size: tokens of the chunk that begins here, behind a dot; empty when none does.
        groups: its parts, those of a table or of code together, each group with whether it is one of these.
    """

    classes: str
    ids: tuple[str, ...]
    owners: str
    label: str
    size: str
    groups: tuple[tuple[bool, tuple[Part, ...]], ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """An option with the value in force.

    Attributes:
        marked: whether it was changed for this page, or differs between the two strategies.
    """

    name: str
    value: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A chunk in the list to jump by.

    Attributes:
        anchor: what to jump to; empty when the chunk is nowhere in the text.
        heading: the last title of its path.
        follows: whether the chunk before it has the same path.
    """

    ordinal: int
    anchor: str
    heading: str
    begins: str
    tokens: int
    follows: bool
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pane:
    """A document by one strategy.

    Attributes:
        key: 'a' or 'b'; what its ids begin with.
        totals: short sentences.
        flags: each with its meaning and how many chunks have it, the most frequent first.
        problems: sentences, each with the anchor of its chunk or an empty string, at most MOST_PROBLEMS; None when the
            laws could not be checked.
        more_problems: how many are left out.
        data: what the page's script needs of the chunks, as JSON has it.
    """

    key: str
    name: str
    origin: str
    totals: tuple[str, ...]
    settings: tuple[Setting, ...]
    flags: tuple[tuple[str, str, int], ...]
    notes: tuple[str, ...]
    problems: tuple[tuple[str, str], ...] | None
    more_problems: int
    segments: tuple[Shown, ...]
    items: tuple[Item, ...]
    plot: Plot
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """All that the template is given.

    Attributes:
        about: what the document is, in a few words each.
    """

    title: str
    source: str
    about: tuple[str, ...]
    panes: tuple[Pane, ...]
    version: str

    @property
    def data(self) -> dict[str, Any]:
        """What the page's script needs, as JSON has it."""
        return {"flags": FLAGS, "panes": [pane.data for pane in self.panes]}


def build_page(document: Document, cuts: Sequence[Cut]) -> Page:
    """A document with its chunks by one or two strategies."""
    tables = [dict(settings_of(cut.strategy)) for cut in cuts]
    panes = []
    for key, cut, table, other in zip("ab", cuts, tables, reversed(tables), strict=False):
        marked = {name for name in table if table[name] != other[name]} | cut.overrides
        settings = tuple(Setting(name, value, name in marked) for name, value in table.items())
        panes.append(_pane(key, document, cut, settings))
    about = (document.format, plural(len(document.text), "character"))
    source = printable(document.source)
    return Page(printable(fold(document.title)) or source, source, about, tuple(panes), __version__)


def _pane(key: str, document: Document, cut: Cut, settings: tuple[Setting, ...]) -> Pane:
    shown = tuple(map(_Shower(key, cut).shown, segments(document, cut)))
    anchors = {anchor for each in shown for anchor in each.ids}
    counts = Counter(flag for each in cut.chunks for flag in each.flags)
    problems = None
    if cut.problems is not None:
        problems = tuple((each, _about(key, each, anchors)) for each in cut.problems[:MOST_PROBLEMS])
    return Pane(
        key=key,
        name=cut.strategy.name,
        origin=cut.origin,
        totals=tuple(_totals(document, cut)),
        settings=settings,
        flags=tuple((flag, FLAGS.get(flag, ""), count) for flag, count in counts.most_common()),
        notes=tuple(cut.notes),
        problems=problems,
        more_problems=len(cut.problems or ()) - len(problems or ()),
        segments=shown,
        items=tuple(_items(key, cut.chunks, anchors)),
        plot=plot(cut.chunks, cut.strategy),
        data=_data(document, cut),
    )


def _about(key: str, problem: str, anchors: set[str]) -> str:
    """The anchor of the chunk that a problem is about; empty when there is none."""
    named = _CHUNK.search(problem)
    anchor = f"{key}{named[1]}" if named else ""
    return anchor if anchor in anchors else ""


# The text.


class _Shower:
    """Tells how segments look."""

    def __init__(self, key: str, cut: Cut) -> None:
        self._key = key
        self._chunks = {each.ordinal: each for each in cut.chunks}
        self._colours = {each.ordinal: index % 2 for index, each in enumerate(cut.chunks)}

    def shown(self, segment: Segment) -> Shown:
        """A segment with what is written beside it."""
        begins = segment.starts[-1:]
        return Shown(
            classes=" ".join(self._classes(segment)),
            ids=tuple(f"{self._key}{ordinal}" for ordinal in segment.starts),
            owners=" ".join(map(str, segment.owners)),
            label=_label(segment),
            size=f" · {self._chunks[begins[0]].content_token_count}" if begins else "",
            groups=tuple((wide, tuple(some)) for wide, some in groupby(segment.parts, lambda part: part.wide)),
        )

    def _classes(self, segment: Segment) -> Iterator[str]:
        yield f"s {segment.kind}"
        if len(segment.owners) > 1:
            yield "both"
        elif segment.owners:
            yield f"k{self._colours[segment.owners[0]]}"
        if segment.cut:
            yield "cut"
        if height := _height(segment.parts):
            yield f"e{height}"


def _label(segment: Segment) -> str:
    """The number of the chunk or, where chunks overlap, of the last one."""
    if not segment.owners:
        return _LABELS.get(segment.kind, "")
    return f"∩ {segment.owners[-1]}" if len(segment.owners) > 1 else str(segment.owners[0])


def _height(parts: Sequence[Part]) -> int:
    """The index of about as many lines as a segment has; 0 for a line or two."""
    lines = sum(
        math.ceil((len(line) or 1) / _LINE) for part in parts if not part.outside for line in part.text.splitlines()
    )
    return bisect_left(HEIGHTS, lines) if lines > HEIGHTS[0] else 0


# The list, the totals.


def _items(key: str, chunks: Sequence[Chunk], anchors: set[str]) -> Iterator[Item]:
    path: tuple[str, ...] = ()
    for each in chunks:
        anchor = f"{key}{each.ordinal}"
        yield Item(
            ordinal=each.ordinal,
            anchor=anchor if anchor in anchors else "",
            heading=each.heading_path[-1] if each.heading_path else "",
            begins=printable(fold(each.raw_content[: 4 * _BEGINNING]))[:_BEGINNING],
            tokens=each.content_token_count,
            follows=bool(path) and each.heading_path == path,
            flags=each.flags,
        )
        path = each.heading_path


def _totals(document: Document, cut: Cut) -> Iterator[str]:
    sizes = [each.content_token_count for each in cut.chunks]
    yield plural(len(sizes), "chunk")
    if not sizes:
        return
    embedded, raw = sum(sizes), sum(each.token_count for each in cut.chunks)
    yield f"{plural(embedded, 'token')} to embed"
    yield f"{embedded - raw:,} of them not in raw_content ({_share(embedded - raw, embedded)})"
    yield f"median {median(sizes):,.0f}, largest {max(sizes):,} of {cut.strategy.max_tokens:,}"
    twice = sum(_repeated(cut.chunks))
    yield f"{plural(twice, 'character')} in two chunks ({_share(twice, len(document.text))})" if twice else "no overlap"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "0 %"


def _repeated(chunks: Sequence[Chunk]) -> Iterator[int]:
    """Characters that each chunk has in common with what was before it."""
    end = 0
    for each in chunks:
        yield max(0, min(end, each.char_end) - each.char_start)
        end = max(end, each.char_end)


# What the script needs.


def _data(document: Document, cut: Cut) -> dict[str, Any]:
    """Chunks without their text, which the script takes from the page; paths and breadcrumbs are said once each."""
    position = _utf16(document.text)
    paths: dict[tuple[str, ...], int] = {}
    crumbs: dict[str, int] = {}
    chunks = []
    for each in cut.chunks:
        crumb = _crumb(document.text, each)
        entry: dict[str, Any] = {
            "n": each.ordinal,
            "from": each.char_start,
            "to": each.char_end,
            "at": position(each.char_start),
            "till": position(each.char_end),
            "tokens": each.token_count,
            "embedded": each.content_token_count,
            "path": paths.setdefault(each.heading_path, len(paths)),
        }
        if crumb is None:
            entry["content"] = each.content
        else:
            entry["crumb"] = crumbs.setdefault(crumb, len(crumbs))
        entry |= _if_any(each, cut.facts.get(each.ordinal, {}))
        chunks.append(entry)
    return {
        "name": cut.strategy.name,
        "max": cut.strategy.max_tokens,
        "paths": list(paths),
        "crumbs": list(crumbs),
        "chunks": chunks,
    }


def _if_any(chunk: Chunk, facts: Mapping[str, str]) -> dict[str, Any]:
    most = {
        "prefix": chunk.raw_prefix,
        "suffix": chunk.raw_suffix,
        "flags": chunk.flags,
        "goes_on": chunk.continuation,
        "facts": list(facts.items()),
    }
    return {name: value for name, value in most.items() if value}


def _crumb(text: str, chunk: Chunk) -> str | None:
    """The breadcrumb of the embedded text, with the blank line; None when that is not made of slice and wrapping."""
    raw = text[max(chunk.char_start, 0) : max(chunk.char_end, 0)]
    body = chunk.raw_prefix + raw + chunk.raw_suffix
    crumb = chunk.content.removesuffix(body)
    ok = chunk.content.endswith(body) and (not crumb or crumb.endswith(GAP))
    return crumb if ok else None


def _utf16(text: str) -> Callable[[int], int]:
    """Turns offsets in characters into JavaScript's, which counts characters beyond U+FFFF twice."""
    wide = [] if text.isascii() else [index for index, char in enumerate(text) if char > "\uffff"]
    return lambda offset: offset + bisect_left(wide, offset)
