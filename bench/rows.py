"""Rows of a result: a ratio, what it has to be, and whether it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Row:
    """A ratio that was reached and its bound."""

    what: str
    reached: float
    bound: float
    #: whether the bound is the most, not the least
    at_most: bool = False

    @property
    def ok(self) -> bool:
        return self.reached <= self.bound if self.at_most else self.reached >= self.bound

    def __str__(self) -> str:
        bound = f"{'at most' if self.at_most else 'at least'} {self.bound:.2f} x"
        return f"{self.what:<70} {self.reached:>7.2f} x  {bound:<17} {'ok' if self.ok else 'short'}"


def finish(rows: Sequence[Row]) -> int:
    """Prints the rows; the exit status says whether all are reached."""
    print()
    for row in rows:
        print(row)
    return 0 if all(row.ok for row in rows) else 1


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """How many times longer those took: the median over rounds, as both of a round met the same machine."""
    return median(that / this for this, that in zip(these, those, strict=True))
