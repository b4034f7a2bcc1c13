"""Breadcrumbs: title and heading path in one line, inside a token budget of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pgchunk.graphemes import boundary_before

ELLIPSIS: Final = "…"
#: What stands between breadcrumb and text.
GAP: Final = "\n\n"
#: No token of a known tokenizer has more characters; what lies further left cannot be in the budget.
_CHARS_PER_TOKEN: Final = 128
#: A text has at most as many tokens as bytes, and a few that a model adds to every text.
_SURE_MARGIN: Final = 8


def breadcrumb_parts(title: str, path: Sequence[str], *, own_heading_line: bool = False) -> list[str]:
    """The parts of a breadcrumb: the title, then the path.

    A first heading equal to the title is not said twice, nor is the last one when the text itself begins with that
    heading's line.
    """
    parts = list(path) if not title or (path and path[0] == title) else [title, *path]
    return parts[:-1] if own_heading_line and path else parts


def render(parts: Sequence[str], separator: str, limit: int, count: Callable[[str], int]) -> tuple[str, bool]:
    """Joins the parts; over ``limit`` tokens the left end gives way to an ellipsis.

    Returns:
        The breadcrumb and whether it was cut.
    """
    whole = separator.join(parts)
    if len(whole.encode()) + _SURE_MARGIN <= limit or count(whole) <= limit:
        return whole, False
    for kept in range(1, len(parts)):
        shorter = separator.join([ELLIPSIS, *parts[kept:]])
        if count(shorter) <= limit:
            return shorter, True
    return _tail(parts[-1], limit, count), True


def _tail(title: str, limit: int, count: Callable[[str], int]) -> str:
    """The longest end of one title that fits behind an ellipsis; nothing when not even one character does."""
    low, high = max(0, len(title) - limit * _CHARS_PER_TOKEN), len(title)
    best = ""
    while low < high:
        middle = boundary_before(title, 0, (low + high) // 2)
        candidate = ELLIPSIS + title[middle:].lstrip()
        if count(candidate) <= limit:
            best, high = candidate, middle
        else:
            low = (low + high) // 2 + 1
    return best
