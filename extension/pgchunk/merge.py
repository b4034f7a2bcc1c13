"""Pieces to merged pieces: what is too small joins a neighbour, as a verbatim slice that reaches over both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pgchunk.sections import Section
from pgchunk.split import Piece
from pgchunk.strategy import Strategy


@dataclass(slots=True)
class Span:
    """A piece, or several joined ones; offsets in characters of the document."""

    start: int
    end: int
    #: the section whose path is stored
    section: Section
    #: the section whose path the breadcrumb says; another one only where a heading without text stands in front
    crumb_section: Section
    tokens: int
    prefix: str = ""
    suffix: str = ""
    flags: set[str] = field(default_factory=set)
    continuation: bool = False
    #: whether the slice begins with the heading line of `crumb_section`
    own_heading_line: bool = False
    #: whether there is nothing but headings in it
    heading_only: bool = False

    @classmethod
    def of(cls, piece: Piece, tokens: int, *, heading_only: bool) -> Span:
        heading = piece.section.heading
        return cls(
            piece.start,
            piece.end,
            piece.section,
            piece.section,
            tokens,
            piece.prefix,
            piece.suffix,
            piece.flags,
            piece.continuation,
            heading is not None and piece.section.titled and heading.start <= piece.start < heading.end,
            heading_only,
        )


class Merger:
    """Joins spans that are too small.

    Args:
        strategy: the options.
        count: tokens of a slice.
        fits: whether a span is within the budget.
    """

    def __init__(self, strategy: Strategy, count: Callable[[int, int], int], fits: Callable[[Span], bool]) -> None:
        self.strategy = strategy
        self._count = count
        self._fits = fits
        self._done: list[Span] = []

    def merge(self, spans: Sequence[Span]) -> list[Span]:
        """The spans in order, small ones joined to neighbours wherever rule and budget allow it."""
        for span in spans:
            if not self._joins_last(span):
                self._settle_last()
                self._done.append(span)
        self._settle_last()
        return self._put_headings_in_front()

    def _small(self, span: Span) -> bool:
        if span.heading_only:
            return self.strategy.merge != "none" or self.strategy.heading_line == "exclude"
        return self.strategy.merge != "none" and span.tokens < self.strategy.min

    def _joins_last(self, span: Span) -> bool:
        """Joins a span to the one before, when one of the two is small and the rule lets them meet."""
        if not self._done or span.continuation:
            return False
        last = self._done[-1]
        if self.strategy.merge == "previous" and not last.heading_only:
            return self._small(span) and _same_branch(last, span) and self._join(last, span)
        return self._small(last) and _siblings(last, span) and self._join(last, span)

    def _settle_last(self) -> None:
        """A small span that found no next sibling joins the one before."""
        if len(self._done) < 2 or not self._small(self._done[-1]):
            return
        before, last = self._done[-2:]
        if last.continuation:
            return
        allowed = _siblings(before, last) or (last.heading_only and _same_branch(before, last))
        if self.strategy.merge == "previous":
            allowed = _same_branch(before, last)
        if allowed and self._join(before, last):
            self._done.pop()

    def _put_headings_in_front(self) -> list[Span]:
        """A heading without text that could join nothing stands in front of the next text of its branch."""
        result: list[Span] = []
        for span in self._done:
            last = result[-1] if result else None
            if last is not None and last.heading_only and self._small(last) and not span.continuation:
                joined = _reaching(last, span)
                joined.section = span.section
                if _same_branch(last, span) and self._fits(joined):
                    joined.tokens = self._count(joined.start, joined.end)
                    result[-1] = joined
                    continue
            result.append(span)
        return result

    def _join(self, first: Span, second: Span) -> bool:
        joined = _reaching(first, second)
        if not self._fits(joined):
            return False
        joined.tokens = self._count(joined.start, joined.end)
        for name in ("end", "suffix", "flags", "tokens", "heading_only"):
            setattr(first, name, getattr(joined, name))
        return True


def _reaching(first: Span, second: Span) -> Span:
    """A span from the start of the first to the end of the second, with the first one's path."""
    return Span(
        first.start,
        second.end,
        first.section,
        first.crumb_section,
        0,
        first.prefix,
        second.suffix,
        first.flags | second.flags | {"merged"},
        first.continuation,
        first.own_heading_line,
        first.heading_only and second.heading_only,
    )


def _siblings(first: Span, second: Span) -> bool:
    """Whether two spans are text of children of one heading; the preamble is nobody's sibling."""
    a, b = first.section, second.section
    return not a.is_preamble and not b.is_preamble and a is not b and a.sibling_group == b.sibling_group


def _same_branch(first: Span, second: Span) -> bool:
    a, b = first.section, second.section
    return not a.is_preamble and not b.is_preamble and a.root == b.root
