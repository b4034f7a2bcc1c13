"""Grapheme clusters (Unicode UAX #29): positions inside one are never cut."""

from __future__ import annotations

from typing import Final

import regex

_CLUSTER: Final = regex.compile(r"\X")
_USUAL_LENGTH: Final = 32
_PLAIN_PAIR: Final = regex.compile(r"\p{Grapheme_Cluster_Break=Other}{2}")
#: How far back a certain boundary is looked for before the text is walked from its start.
_LOOK_BACK: Final = 64


def cluster_end(text: str, position: int, stop: int | None = None) -> int:
    """The end of the cluster that begins at ``position``; of one that reaches behind ``stop``, any offset behind it."""
    reach = _USUAL_LENGTH
    while True:
        # A slice, since the library looks back over all of a run of flags to find out which ones are pairs.
        match = _CLUSTER.match(text[position : position + reach])
        end = position + match.end() if match else position
        if end < position + reach or end >= len(text) or (stop is not None and end > stop):
            return end
        reach *= 2


def is_boundary(text: str, position: int) -> bool:
    """Whether no cluster reaches over ``position``."""
    if not 0 < position < len(text):
        return True
    return boundary_before(text, max(0, position - 8 * _LOOK_BACK), position) == position


def boundary_before(text: str, start: int, position: int) -> int:
    """The last cluster boundary at or before ``position``; ``start`` is a boundary and not behind it."""
    if position >= len(text):
        return len(text)
    at = _certain_boundary(text, start, position)
    while at < position:
        end = cluster_end(text, at, position)
        if end > position:
            return at
        at = end
    return at


def _certain_boundary(text: str, start: int, position: int) -> int:
    """A boundary near ``position`` that needs no context: between two characters that never join anything."""
    for at in range(position, max(start, position - _LOOK_BACK), -1):
        if _PLAIN_PAIR.match(text, at - 1) or text[at - 1] == "\n":
            return at
    return start
