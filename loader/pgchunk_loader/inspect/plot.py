"""The sizes of chunks as paths of a drawing that is stretched to its place: a unit wide per chunk, 100 high."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pgchunk import Chunk, Strategy

HEIGHT: Final = 100
#: How much room there is above the budget line, as a share of it.
_HEADROOM: Final = 1.3
#: With more chunks than this the bars touch each other, and two colours would only mix.
_MOST_APART: Final = 250
#: Lines closer than this share the label of the upper one, in units of the height.
_LABEL_ROOM: Final = 16.0


@dataclass(frozen=True, slots=True)
class Line:
    """A level to compare the bars with.

    Attributes:
        name: 'max', 'target' or 'min'.
        y: from the top, in units of the height.
        label: name and tokens; empty where there is no room.
    """

    name: str
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars and lines.

    Attributes:
        width: number of bars.
        bars: class and path of the bars; those of what is embedded come first, those of the raw text lie over them.
    """

    width: int
    bars: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]


def plot(chunks: Sequence[Chunk], strategy: Strategy) -> Plot:
    """A bar per chunk, as high as its tokens, and the strategy's sizes as lines."""
    top = max([strategy.max_tokens, *(each.content_token_count for each in chunks)]) * _HEADROOM
    crowded = len(chunks) > _MOST_APART
    wide = 1.0 if crowded else 0.84
    bars: dict[str, list[str]] = {"k0": [], "k1": [], "k0 raw": [], "k1 raw": [], "over": []}
    for index, each in enumerate(chunks):
        colour = "k0" if crowded else f"k{index % 2}"
        bars[colour].append(_bar(index, wide, 0, each.content_token_count / top))
        bars[f"{colour} raw"].append(_bar(index, wide, 0, min(each.token_count, each.content_token_count) / top))
        if each.content_token_count > strategy.max_tokens:
            bars["over"].append(_bar(index, wide, strategy.max_tokens / top, each.content_token_count / top))
    paths = tuple((name, "".join(some)) for name, some in bars.items() if some)
    return Plot(len(chunks), paths, tuple(_lines(strategy, top)))


def _bar(index: int, wide: float, low: float, high: float) -> str:
    return (
        f"M{index} {_number(HEIGHT * (1 - low))}V{_number(HEIGHT * (1 - high))}h{wide:g}V{_number(HEIGHT * (1 - low))}z"
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _lines(strategy: Strategy, top: float) -> Iterable[Line]:
    levels = [("max", strategy.max_tokens)]
    if strategy.target != strategy.max_tokens:
        levels.append(("target", strategy.target))
    if 0 < strategy.min < strategy.target:
        levels.append(("min", strategy.min))
    last = -_LABEL_ROOM
    for name, tokens in levels:
        y = round(HEIGHT * (1 - tokens / top), 1)
        roomy = y - last >= _LABEL_ROOM
        yield Line(name, y, f"{name} {tokens:,}" if roomy else "")
        last = y if roomy else last
