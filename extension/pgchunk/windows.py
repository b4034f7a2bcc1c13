"""Cuts inside a sentence, a row or a line: between words where it can be, between grapheme clusters where it must."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pgchunk.graphemes import boundary_before, cluster_end, is_boundary
from pgchunk.sentences import sentence_starts

#: What a cut comes after, best first, by kind of unit. A cut is moved back at most to the middle of its window.
_WORD: Final = re.compile(r"\s+")
_PHRASE: Final = re.compile(r"[、，；：・—…。！？]+[」』）】》〉”’)\]}»]*")
_BREAKS: Final[dict[str, tuple[re.Pattern[str], ...]]] = {
    "row": (re.compile(r"(?<!\\)\|[ \t]*"), _WORD),
    "code_line": (_WORD,),
}
_PROSE_BREAKS: Final = (re.compile(r"[\r\n]+"), _WORD, _PHRASE)
_TRIES: Final = 24

Cost = Callable[[int], int]


def furthest_cut(
    text: str, kind: str, base: int, start: int, end: int, cost: Cost, limit: int, guess: int
) -> tuple[int, bool]:
    """Where to end a piece that began at ``base`` and has to take in as much as it can of text[start:end].

    Args:
        text: the document.
        kind: the kind of unit that is cut; it decides what a good place is.
        base: where the piece begins; at or before ``start``.
        start, end: what is cut; ``start`` is a cluster boundary.
        cost: tokens of the piece if it ends at an offset.
        limit: tokens it may have.
        guess: an offset near which the limit is expected.

    Returns:
        The offset, ``start`` when nothing fits, and whether it lies inside a word.
    """
    reach = _search(start, end, cost, limit, guess)
    if reach >= end:
        return end, False
    reach = boundary_before(text, start, reach)
    while reach > start and cost(reach) > limit:
        reach = boundary_before(text, start, reach - 1)
    if reach <= start:
        first = cluster_end(text, start)
        return (first if first <= end and cost(first) <= limit else start), True
    return _snapped(text, kind, max(start, base + (reach - base) // 2), reach)


def _search(low: int, end: int, cost: Cost, limit: int, guess: int) -> int:
    """The last offset in (low, end] whose cost is within the limit, closely; ``low`` if none is."""
    high = end + 1
    base, base_cost = low, 0
    at = min(max(guess, low + 1), end)
    for attempt in range(_TRIES):
        n = cost(at)
        if n <= limit:
            low = at
            if at == end or limit - n <= limit // 64:
                break
        else:
            high = at
        if high - low <= 1:
            break
        step = (at - base) * (limit - base_cost) // max(1, n - base_cost) if attempt < 4 else (high - low) // 2
        at = base + step if attempt < 4 else low + step
        at = min(max(at, low + 1), high - 1)
    return low


def _snapped(text: str, kind: str, lowest: int, reach: int) -> tuple[int, bool]:
    """The best place for a cut in (lowest, reach], and whether it is inside a word."""
    between_words = text[reach].isspace() or text[reach - 1].isspace()
    for pattern in _BREAKS.get(kind, _PROSE_BREAKS):
        if pattern is _WORD and between_words:
            return reach, False
        places = [match.end() for match in pattern.finditer(text, lowest, reach)]
        best = next((at for at in reversed(places) if at > lowest and is_boundary(text, at)), None)
        if best is not None:
            return best, False
    return reach, True


def overlap_start(
    text: str,
    prose: int,
    before: int,
    end: int,
    count: Callable[[int, int], int],
    limit: int,
    *,
    at_sentence: bool,
    guess: int,
) -> int:
    """Where to begin so that at most ``limit`` tokens before ``end`` are said again.

    Args:
        text: the document.
        prose: where the prose begins that may be said again.
        before: where the piece before begins; the result lies behind it.
        end: where it ends.
        count: tokens of a slice.
        limit: tokens of the overlap.
        at_sentence: begin at a sentence if one fits, else at a word.
        guess: characters in which ``limit`` tokens are expected.

    Returns:
        An offset; ``end`` for no overlap.
    """
    low = prose if prose > before else cluster_end(text, before)
    if limit <= 0 or low >= end:
        return end
    if at_sentence:
        found = _sentence_start(text, low, end, count, limit, guess)
        if found < end:
            return found
    reach = end - _search(0, end - low, lambda back: count(end - back, end), limit, guess)
    if reach <= low and prose > before:
        return low
    for pattern in (_WORD, _PHRASE):
        for match in pattern.finditer(text, reach - 1, end):
            at = match.end()
            if low <= at < end and is_boundary(text, at) and count(at, end) <= limit:
                return at
    at = boundary_before(text, low, reach)
    while at < reach:
        at = cluster_end(text, at)
    return at if count(at, end) <= limit else end


def _sentence_start(text: str, low: int, end: int, count: Callable[[int, int], int], limit: int, guess: int) -> int:
    """The first sentence from which on at most ``limit`` tokens are left; ``end`` if there is none."""
    window = max(low, end - 4 * guess)
    for at in sentence_starts(text[window:end]):
        start = window + at
        if start > window and count(start, end) <= limit:
            return start
    return end
