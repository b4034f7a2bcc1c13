"""Measures the core against its peers: same documents, same budget, every contender in a process of its own.

Usage: python bench/core.py [FOLDER ...]

Rounds are interleaved: each contender makes one pass over all documents, one after the other, so that a machine that
slows down slows all. BENCH_ROUNDS (5) rounds over BENCH_MB (1.5) megabytes of the documents, 0 for all.
Exit status 1 when a row is short.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from contenders import CONTENDERS, MAX_TOKENS
from documents import ROOT, documents
from environment import CACHE, PYTHON
from rows import Row, finish, ratio

#: Where everything runs: without a network, with the product's package as it stands in the checkout.
SURROUNDINGS = {
    "PYTHONPATH": str(ROOT / "extension"),
    "TIKTOKEN_CACHE_DIR": str(CACHE),
    "HF_HUB_OFFLINE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Contender:
    """A contender's process, which waits while others run."""

    def __init__(self, name: str, texts: Path) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [PYTHON, ROOT / "bench" / "contender.py", name, texts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | SURROUNDINGS,
        )

    def ask(self, question: str) -> Any:
        """Asks, and waits for the answer.

        Raises:
            SystemExit: the process has ended; it has said why.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{question}\n")
            process.stdin.flush()
        except BrokenPipeError:
            answer = ""
        else:
            answer = process.stdout.readline()
        if not answer:
            raise SystemExit(f"{self.name} ended with status {process.wait()}")
        return json.loads(answer)

    def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


def main() -> int:
    rounds = int(os.environ.get("BENCH_ROUNDS", "5"))
    texts = documents([Path(one) for one in sys.argv[1:]], int(float(os.environ.get("BENCH_MB", "1.5")) * 1_000_000))
    size = sum(len(text.encode()) for text in texts) / 1e6
    print(f"{len(texts)} documents, {size:.2f} MB, {MAX_TOKENS} tokens of cl100k_base, {rounds} interleaved rounds")
    checks, times = measure(texts, rounds)
    print_table(size, checks, times)
    return finish(rows(checks, times))


def measure(texts: Sequence[str], rounds: int) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """What the checks of each contender said, and the seconds of its passes."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(texts, file)
        file.flush()
        contenders = [Contender(name, Path(file.name)) for name in CONTENDERS]
        # The check is the pass that warms up.
        checks = {one.name: one.ask("check") for one in contenders}
        times: dict[str, list[float]] = {one.name: [] for one in contenders}
        for _ in range(rounds):
            for one in contenders:
                times[one.name].append(one.ask("time"))
        for one in contenders:
            one.end()
    return checks, times


def print_table(size: float, checks: Mapping[str, Any], times: Mapping[str, Sequence[float]]) -> None:
    print(f"\n{'':<24}{'MB/s':>8}{'x langchain':>13}{'chunks':>9}{'largest':>9}{'covered':>10}")
    for name, seconds in times.items():
        check = checks[name]
        speed, against = size / median(seconds), ratio(seconds, times["langchain"])
        if name == "tiktoken alone":
            print(f"{name:<24}{speed:>8.2f}{against:>13.2f}   (counts only)")
            continue
        wrong = [f"over {MAX_TOKENS} tokens"] * (check["largest"] > MAX_TOKENS) + ["loses text"] * (
            check["covered"] < 1
        )
        print(
            f"{name:<24}{speed:>8.2f}{against:>13.2f}{check['chunks']:>9,}{check['largest']:>9,}"
            f"{check['covered']:>10.3%}  {', '.join(wrong)}".rstrip()
        )


def rows(checks: Mapping[str, Any], times: Mapping[str, Sequence[float]]) -> list[Row]:
    fast = times["pgchunk, fast extras"]
    largest = max(checks[name]["largest"] for name in ("pgchunk", "pgchunk, fast extras"))
    covered = min(checks[name]["covered"] for name in ("pgchunk", "pgchunk, fast extras"))
    return [
        Row("core, default dependencies, against langchain", ratio(times["pgchunk"], times["langchain"]), 1.3),
        Row("core, fast extras, against langchain", ratio(fast, times["langchain"]), 3),
        Row("core, fast extras, against chonkie", ratio(fast, times["chonkie"]), 1),
        Row("core, fast extras, against semantic-text-splitter", ratio(fast, times["semantic-text-splitter"]), 1),
        Row("the core's largest chunk against the budget", largest / MAX_TOKENS, 1, at_most=True),
        Row("characters of the documents in the core's chunks", covered, 1),
    ]


if __name__ == "__main__":
    sys.exit(main())
