"""Which strategies a page shows, and with which options changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pgchunk_loader.options import parse_options
from pgchunk_loader.problems import UnusableError

MOST: Final = 2
_PLACE: Final = re.compile(r"([12]):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A strategy to show.

    Attributes:
        name: None: the document's own, or the default.
        overrides: options that are changed, by name.
    """

    name: str | None = None
    overrides: dict[str, Any] = field(default_factory=dict)


def parse_wanted(names: Sequence[str], options: Iterable[str]) -> list[Wanted]:
    """The strategies asked for on the command line.

    Args:
        names: none, one or two; none stands for one that is not named.
        options: NAME=VALUE for all of them; 1:NAME=VALUE or 2:NAME=VALUE for the first or the second.

    Raises:
        UnusableError: there are too many names, or an option is for a strategy that is not there or has no '='.
    """
    if len(names) > MOST:
        raise UnusableError(f"{len(names)} strategies do not fit on a page", "Give --strategy once or twice.")
    wanted = [Wanted(name) for name in names] or [Wanted()]
    for option in options:
        match = _PLACE.fullmatch(option)
        place, option = (int(match[1]), match[2]) if match else (None, option)
        if place is not None and place > len(wanted):
            raise UnusableError(
                f"--option '{place}:{option}' is for a second strategy, and there is one",
                "Give --strategy twice; it may be the same twice.",
            )
        for each in wanted if place is None else wanted[place - 1 : place]:
            each.overrides.update(parse_options([option]))
    return wanted
