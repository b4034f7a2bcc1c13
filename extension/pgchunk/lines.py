"""Lines of a text: they end at \\n, \\r\\n and \\r, and at nothing else."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def line_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Offsets in characters at which the lines of text[start:end] begin, and the end as the last entry."""
    stop = len(text) if end is None else end
    if text.find("\r", start, stop) < 0:
        starts = list(accumulate([len(line) + 1 for line in text[start:stop].split("\n")], initial=start))
        starts.pop()  # where a line behind the last would begin
    else:
        starts = [start]
        starts.extend(match.end() for match in _LINE_END.finditer(text, start, stop))
    if starts[-1] != stop:
        starts.append(stop)
    return starts
