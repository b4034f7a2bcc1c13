"""Sections to pieces: a section that is over budget is cut at the highest boundary that helps."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pgchunk.blocks import PROSE_KINDS
from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.graphemes import cluster_end, is_boundary
from pgchunk.ladder import Unit, take_apart
from pgchunk.meter import Meter
from pgchunk.sections import Section
from pgchunk.strategy import Strategy
from pgchunk.windows import furthest_cut, overlap_start

_BLANKS: Final = re.compile(r"\s*")
_BLANK_LINES: Final = re.compile(r"(?:[^\S\r\n]*(?:\r\n|\r|\n))*")
_SPLIT_FLAGS: Final = {"table": "split_table", "fence": "split_code", "code": "split_code"}
#: How text is said to be cut when one of these is taken apart.
_BLOCK_KINDS: Final = frozenset({"list", "item", "quote", "paragraph", "html", "definition", "heading"})
_START_CHARS_PER_TOKEN: Final = 3.0
_SURE_MARGIN: Final = 8
#: an offset at which no piece begins with its section's heading line
ANYWHERE: Final = -1


@dataclass(slots=True)
class Piece:
    """A verbatim slice of a section; offsets in characters of the document, no blanks at the ends."""

    start: int
    end: int
    section: Section
    prefix: str = ""
    suffix: str = ""
    flags: set[str] = field(default_factory=set)
    continuation: bool = False


def trimmed_end(text: str, start: int, end: int) -> int:
    """The end of the text in text[start:end], trailing blanks left out."""
    return start + len(text[start:end].rstrip())


def text_start(text: str, start: int, end: int) -> int:
    """Where the first line with text in text[start:end] begins, its indentation included; ``end`` if all is blank."""
    match = _BLANK_LINES.match(text, start, end)
    at = match.end() if match else start
    return at if text[at:end].strip() else end


class Splitter:
    """Fills the pieces of one section, from units that are taken apart only as far as they have to be.

    Args:
        meter: counts the document.
        strategy: the options.
        section: the section.
        head: what stands before a piece that begins at an offset: its breadcrumb and the gap behind it.
        checkpoint: called often; may raise to stop the work.
    """

    def __init__(
        self,
        meter: Meter,
        strategy: Strategy,
        section: Section,
        head: Callable[[int], str],
        checkpoint: Checkpoint = no_checkpoint,
    ) -> None:
        self._checkpoint = checkpoint
        self.meter = meter
        self.text = meter.text
        self.strategy = strategy
        self.section = section
        self.head = head
        self.pieces: list[Piece] = []
        self._ratio = _START_CHARS_PER_TOKEN
        self._context: list[str] = []
        #: the piece that was last asked about, and the offset up to which it surely fits
        self._sure_piece: tuple[int, str, str] | None = None
        self._sure_end = 0
        #: the prose at the end of the piece before: where it begins, where that piece begins, where both end
        self._said: tuple[int, int, int] | None = None
        self._clear()

    def split(self, units: list[Unit]) -> list[Piece]:
        """The pieces of the section's units, none over budget but where a single grapheme cluster is."""
        whole = self._whole(units)
        if whole is not None:
            return [whole]
        for unit in units:
            self._feed(unit)
        self._close(carry=False)
        return self.pieces

    # -- the piece being filled

    def _clear(self) -> None:
        self.start: int | None = None
        self.end = 0
        self.lead = ""
        self.trail = ""
        self.bare = False  # it goes on in a fence or table, and has no room to say in which
        self.flags: set[str] = set()
        self.hold: int | None = None  # start of headings at the piece's end: they belong to what follows
        self.prose: int | None = None  # start of the prose at the piece's end

    def _whole(self, units: list[Unit]) -> Piece | None:
        start = text_start(self.text, units[0].start, units[-1].end)
        end = trimmed_end(self.text, start, units[-1].end)
        most_likely_fits = end - start <= self.meter.characters_per_token * self.strategy.target
        if not most_likely_fits and self._surely_fits(start, units[-1].end, "", ""):
            return Piece(start, end, self.section)
        return Piece(start, end, self.section) if self._cost(start, end, "", "") <= self.strategy.target else None

    def _surely_fits(self, start: int, end: int, lead: str, trail: str) -> bool:
        """Whether a piece is within the target by so much that neither its joints nor blanks at its end matter.

        It costs no tokenizing, and most questions are answered by it.
        """
        piece = (start, lead, trail)
        if self._sure_piece != piece:
            self._sure_piece = piece
            fixed = self.meter.tokens(self.head(start) + lead) + self.meter.tokens(trail)
            self._sure_end = self.meter.reach(start, self.strategy.target - fixed - _SURE_MARGIN)
        return end <= self._sure_end

    def _cost(self, start: int, end: int, lead: str, trail: str) -> int:
        return self.meter.estimate(self.head(start) + lead, start, end, trail, self.strategy.max_tokens)

    def _feed(self, unit: Unit) -> None:
        self._checkpoint()
        start = text_start(self.text, unit.start, unit.end)
        if start == unit.end:
            return
        end = trimmed_end(self.text, start, unit.end)
        if self.start is not None:
            trail = self._closing(unit.trail)
            if (
                self._surely_fits(self.start, unit.end, self.lead, trail)
                or self._cost(self.start, end, self.lead, trail) <= self.strategy.target
            ):
                self._extend(unit, start, end)
                return
        limit = self.strategy.target if unit.kind == "group" else self.strategy.max_tokens
        if not self._only_heading() and self._cost(start, end, "", unit.trail) <= limit:
            self._close()
            if self.start is None:
                self._begin(unit, start, end, limit)
            else:
                self._feed(unit)
            return
        self._take_apart(unit)

    def _only_heading(self) -> bool:
        return self.start is not None and self.hold == self.start

    def _take_apart(self, unit: Unit) -> None:
        parts = take_apart(self.text, unit, self._checkpoint)
        flag = _SPLIT_FLAGS.get(unit.kind, "split_block" if unit.kind in _BLOCK_KINDS else "")
        self._close_if_full()
        self._context.append(flag)
        if parts and parts[0] != unit:
            for part in parts:
                self._feed(part)
        else:
            self._cut(unit)
        self._context.pop()

    def _close_if_full(self) -> None:
        """Ends the piece before something that has to be cut, unless it would be left too small."""
        if self.start is None or self._only_heading():
            return
        if self.meter.count(self.start, self.end) >= self.strategy.min:
            self._close()

    def _extend(self, unit: Unit, start: int, end: int) -> None:
        self.end = end
        self.trail = self._closing(unit.trail)
        self._note(unit.kind, start)

    def _begin(self, unit: Unit, start: int, end: int, limit: int) -> None:
        cost = 0
        for lead in self._affordable(unit.leads, unit.trail):
            self._set_lead(lead, unit.leads)
            cost = self._cost(start, end, lead, self._closing(unit.trail))
            if cost <= limit:
                break
        base = self._with_overlap(unit.kind, start, limit - cost)
        if base < start and self._cost(base, end, self.lead, self._closing(unit.trail)) > limit:
            base = start
        self.start = base
        self.prose = base if base < start else None
        self._extend(unit, start, end)

    def _set_lead(self, lead: str, wanted: tuple[str, ...]) -> None:
        self.lead = lead
        self.bare = bool(wanted) and not lead

    def _closing(self, trail: str) -> str:
        """The trail of a piece: a fence that was not re-opened is not closed either."""
        return "" if self.bare else trail

    def _note(self, kind: str, start: int) -> None:
        self.flags.update(filter(None, self._context))
        if kind == "heading":
            self.hold = start if self.hold is None else self.hold
        else:
            self.hold = None
        if kind not in PROSE_KINDS:
            self.prose = None
        elif self.prose is None:
            self.prose = start

    def _affordable(self, leads: tuple[str, ...], trail: str) -> list[str]:
        """What may be repeated at the start of a piece: what leaves half of the room to the text, and nothing."""
        if self._context and self._context[-1] == "split_table" and not self.strategy.repeat_table_header:
            return [""]
        tokens = self.meter.tokens
        room = self.strategy.target - tokens(self.head(ANYWHERE))
        return [*(lead for lead in leads if 2 * (tokens(lead) + tokens(trail)) <= room), ""]

    def _with_overlap(self, kind: str, start: int, tokens: int) -> int:
        """Where a piece that goes on at ``start`` begins: inside the prose before it when overlap is asked for.

        Args:
            kind: the kind of unit it goes on with.
            start: where the new text begins.
            tokens: what the overlap may cost.
        """
        if self._said is None or kind not in PROSE_KINDS or not self.strategy.overlap_limit:
            return start
        prose, before, end = self._said
        if self.text[end:start].strip():
            return start
        tokens = min(self.strategy.overlap_limit, tokens)
        at_sentence = self.strategy.overlap == "sentence"
        guess = max(1, int(tokens * self._ratio))
        at = overlap_start(
            self.text, prose, before, end, self.meter.exact_count, tokens, at_sentence=at_sentence, guess=guess
        )
        return at if at < end else start

    def _close(self, *, carry: bool = True) -> None:
        """Ends the piece; headings at its end are carried over into the next one."""
        if self.start is None:
            return
        start, end, hold, held_end = self.start, self.end, self.hold, self.end
        carried = carry and hold is not None and hold > start
        if carried and hold is not None:
            end = trimmed_end(self.text, start, hold)
        prose = None if carried else self.prose
        self._emit(start, end, self.lead, "" if carried else self.trail, self.flags)
        self._clear()
        self._said = (prose, start, end) if prose is not None else None
        if carried:
            self.start, self.end, self.hold = hold, held_end, hold
            self.flags.update(filter(None, self._context))

    def _emit(self, start: int, end: int, lead: str, trail: str, flags: set[str]) -> None:
        meter = self.meter
        if not meter.exact and meter.joined(self.head(start) + lead, start, end, trail) > self.strategy.max_tokens:
            meter.exact = True
            self._clear()
            self._said = None
            self._context.append("split_block")
            self._cut(Unit("line", start, end))
            self._context.pop()
            self._close(carry=False)
            return
        continuation = bool(self.pieces)
        self.pieces.append(Piece(start, end, self.section, lead, trail, flags, continuation))
        self._learn_ratio(start, end)

    def _learn_ratio(self, start: int, end: int) -> None:
        tokens = self.meter.count(start, end)
        if tokens > 8:
            self._ratio = (end - start) / tokens

    # -- cutting where there is no finer rung

    def _cut(self, unit: Unit) -> None:
        start = text_start(self.text, unit.start, unit.end)
        end = trimmed_end(self.text, start, unit.end)
        at = start
        while at < end:
            if self.start is None:
                self._open_window(unit, at, first=at == start)
            at = self._fill_window(unit, at, end)

    def _open_window(self, unit: Unit, at: int, *, first: bool) -> None:
        """Begins a piece for text from ``at`` on."""
        leads = unit.leads if first else unit.cut_leads
        self._set_lead(self._affordable(leads, unit.cut_trail)[0], leads)
        room = self.strategy.target - self._fixed_cost(at, self._closing(unit.cut_trail))
        self.start = self.end = self._with_overlap(unit.kind, at, room // 2)
        if self.start < at:
            self.prose = self.start

    def _fixed_cost(self, start: int, trail: str) -> int:
        """Tokens of a piece beside its own text, about."""
        return self.meter.tokens(self.head(start) + self.lead) + self.meter.tokens(trail)

    def _fill_window(self, unit: Unit, at: int, end: int) -> int:
        """Takes as much of text[at:end] as fits into the piece; returns where the rest begins."""
        self._checkpoint()
        base = at if self.start is None else self.start
        limit = self.strategy.target

        def cost(to: int) -> int:
            trimmed = trimmed_end(self.text, at, to)
            trail = self._closing(unit.trail if to == end else unit.cut_trail)
            return self._cost(base, max(base + 1, trimmed), self.lead, trail)

        guess = base + int((limit - self._fixed_cost(base, self._closing(unit.cut_trail))) * self._ratio)
        to, inside_word = furthest_cut(self.text, unit.kind, base, at, end, cost, limit, guess)
        if base == at < to and not self.text[at:to].strip():
            self._clear()
            return self._next_text(to, end)
        if to <= at:
            return self._without_room(unit, at, end)
        self._take(unit, at, to, end)
        if to < end:
            flag = "hard_split" if inside_word else "split_sentence"
            self.flags.add(flag)
            self._close()
            self.flags.add(flag)
        return self._next_text(to, end)

    def _without_room(self, unit: Unit, at: int, end: int) -> int:
        """Nothing more fits: gives up, in this order, an overlap, the piece as it is, what is repeated, the budget."""
        if self.end == self.start and self.start is not None and self.start < at:
            self.start = self.end = at
        elif self.start is not None and self.start < at:
            self._close(carry=not self._only_heading())
        elif self.lead:
            self._set_lead("", (self.lead,))
        else:
            to = max(at + 1, min(cluster_end(self.text, at), end))
            if self.text[at:to].isspace():
                self._clear()
                return self._next_text(to, end)
            self._take(unit, at, to, end)
            self.flags.add("hard_split")
            self._close()
            return self._next_text(to, end)
        return at

    def _take(self, unit: Unit, at: int, to: int, end: int) -> None:
        self.end = trimmed_end(self.text, at, to)
        self.trail = self._closing(unit.trail if to >= end else unit.cut_trail)
        self._note(unit.kind, at)

    def _next_text(self, at: int, end: int) -> int:
        """The first character behind the blanks at ``at``, not inside a grapheme cluster."""
        blanks = _BLANKS.match(self.text, at, end)
        start = blanks.end() if blanks else at
        return start if start == at or start >= end or is_boundary(self.text, start) else start - 1
