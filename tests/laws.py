"""Checks the laws L1 to L5 on every document below a directory, for every shipped strategy and several budgets.

Usage: make laws CORPORA="DIRECTORY [DIRECTORY ...]"

Prints a table and exits with status 1 if any law is broken, 2 if there is nothing to check.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from pgchunk import STRATEGIES, Strategy, chunk
from pgchunk.laws import problems
from pgchunk.title import derive_title

SETTINGS = [(name, budget) for name in STRATEGIES for budget in (64, 256, 512)]
#: Fewer files than these, counted once for each setting, are not worth processes of their own.
FEW_FILES = 500
Row = tuple[str, str, int, list[Path]]
SUFFIXES = {".md", ".markdown", ".mdx", ".txt"}
LAWS = ("L1", "L2", "L3", "L4", "L5")


@dataclass
class Tally:
    """What was seen of one corpus, strategy and budget."""

    documents: int = 0
    chunks: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def at_budget(strategy: Strategy, budget: int) -> Strategy:
    """The strategy with another max_tokens; a target of its own keeps its share of it."""
    target = strategy.target_tokens and budget * strategy.target_tokens // strategy.max_tokens
    low = None if strategy.min_tokens is None else min(strategy.min_tokens, budget // 8)
    return strategy.with_overrides(max_tokens=budget, target_tokens=target, min_tokens=low)


def check(path: Path, strategy: Strategy, tally: Tally) -> None:
    """Adds what one file shows to a tally."""
    text = path.read_bytes().decode()
    title = derive_title(text, str(path))
    chunks = chunk(text, title, strategy)
    tally.documents += 1
    tally.chunks += len(chunks)
    found = problems(text, title, strategy, chunks)
    if chunk(text, title, strategy) != chunks:
        found.append("L5: the second run gave other chunks")
    for problem in found:
        tally.broken[problem[:2]] += 1
        tally.examples.append(f"{path}: {problem}")


def documents_below(directory: Path) -> list[Path]:
    """The files that are checked, in a fixed order."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix in SUFFIXES)


def tally_row(row: Row) -> Tally:
    """What all files of one corpus show, with one strategy at one budget."""
    _, name, budget, files = row
    tally = Tally()
    for path in files:
        check(path, at_budget(STRATEGIES[name], budget), tally)
    return tally


def tallies(rows: list[Row]) -> Iterator[Tally]:
    """The tallies of the rows in order; those of many files are made side by side."""
    if sum(len(files) for *_, files in rows) < FEW_FILES:
        yield from map(tally_row, rows)
        return
    with ProcessPoolExecutor() as pool:
        yield from pool.map(tally_row, rows)


def main(directories: list[str]) -> int:
    """Prints the table; returns the exit status."""
    files = {Path(directory): documents_below(Path(directory)) for directory in directories}
    for directory, found in files.items():
        if not found:
            print(f"there is no markdown or text file below {directory}", file=sys.stderr)
            return 2
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    failures: list[str] = []
    began = perf_counter()
    print(
        f"{'corpus':<14}{'strategy':<10}{'max':>5}{'documents':>11}{'chunks':>9}" + "".join(f"{law:>5}" for law in LAWS)
    )
    rows = [(directory.name, name, budget, found) for directory, found in files.items() for name, budget in SETTINGS]
    for (corpus, name, budget, _), tally in zip(rows, tallies(rows), strict=True):
        counts = "".join(f"{tally.broken[law]:>5}" for law in LAWS)
        print(f"{corpus:<14}{name:<10}{budget:>5}{tally.documents:>11}{tally.chunks:>9}{counts}", flush=True)
        failures.extend(tally.examples)
    print(f"\n{len(failures)} violations, {perf_counter() - began:.0f} s")
    for line in failures[:20]:
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
