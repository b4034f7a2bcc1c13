"""What a run tells: skipped files and progress on standard error, the summary on standard output."""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pgchunk_loader.files import Source
from pgchunk_loader.problems import ALL_WELL, SOME_SKIPPED, SkipError

#: Seconds between two lines of progress where there is no terminal.
LINE_EVERY: Final = 5.0
#: Control characters, line and paragraph separators, embedded, overriding or isolated directions, surrogates.
_UNPRINTABLE: Final = re.compile(r"[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text on one line of any terminal.

    What would end the line, steer the terminal or turn the order of characters round is escaped, and so are the bytes
    of a name that is not UTF-8, as \\xff. Joiners and rare spaces stay: words and emoji are made with them.
    """
    return _UNPRINTABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode()


def plural(count: int, noun: str) -> str:
    """A count with its noun, for instance '1 file' or '2,830 files'."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@dataclass(slots=True)
class Report:
    """What came of a load; counts are of documents unless they say otherwise.

    Attributes:
        chunks: chunks of the documents written; None when this role may not read the chunk table.
        tokens: the tokens of their raw text.
        skipped: path, reason and detail of each file that was not loaded though it should have been.
        warnings: path and what to know of a document that was loaded.
        left_out: how many paths the rules leave out, by reason.
        seconds: wall-clock time.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    pruned: int = 0
    chunks: int | None = 0
    tokens: int | None = 0
    skipped: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False
    started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Files that need nothing more."""
        return self.added + self.changed + self.unchanged + len(self.skipped)

    @property
    def exit_status(self) -> int:
        """0 when every file is in the database, else 1."""
        return SOME_SKIPPED if self.skipped else ALL_WELL

    def finish(self) -> None:
        """Stops the clock."""
        self.seconds = time.monotonic() - self.started

    def as_json(self) -> dict[str, Any]:
        """The report for a machine."""
        return {
            "added": self.added,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "pruned": self.pruned,
            "chunks": self.chunks,
            "tokens": self.tokens,
            "skipped": [
                {"file": printable(file), "reason": reason, "detail": detail} for file, reason, detail in self.skipped
            ],
            "warnings": [{"file": printable(file), "warning": warning} for file, warning in self.warnings],
            "left_out": dict(sorted(self.left_out.items())),
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
        }


class Screen:
    """Writes what a person or a program reads.

    Args:
        quiet: only what went wrong and what was asked for is written: no progress, no notes, no summary.
        verbose: what the rules leave out is named as well.
        as_json: results are JSON.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, as_json: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose
        self.as_json = as_json
        self.report = Report()
        self._console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)
        self._last_line = time.monotonic()

    def tell(self, line: str) -> None:
        """A line that a person has to see, on standard error, above the progress bar if there is one."""
        self._console.print(line)

    def note(self, line: str) -> None:
        """A line that a person may like to see; not with --quiet."""
        if not self.quiet:
            self.tell(line)

    def problem(self, message: str, hint: str | None = None) -> None:
        """An error and what to do about it."""
        self.tell(f"error: {message}")
        if hint:
            self.tell(f"hint: {hint}")

    def skip(self, path: str, skipped: SkipError) -> None:
        """Names a file that is not loaded though it should be, and counts it."""
        self.report.skipped.append((path, skipped.reason, skipped.detail))
        detail = f" ({skipped.detail})" if skipped.detail else ""
        self.tell(f"skipped: {printable(path)}: {skipped.reason}{detail}")

    def warn(self, path: str, warning: str) -> None:
        """Names a document that was loaded, but not with all that its file says."""
        self.report.warnings.append((path, warning))
        self.tell(f"warning: {printable(path)}: {printable(warning)}")

    def leave_out(self, path: str, reason: str) -> None:
        """Counts a path that the rules leave out; names it with --verbose."""
        self.report.left_out[reason] += 1
        if self.verbose:
            self.note(f"left out: {printable(path)}: {reason}")

    @contextmanager
    def progress(self, source: Source) -> Iterator[Progress | None]:
        """Shows how far the load is while the block runs: a bar on a terminal, else now and then a line."""
        if self.quiet or not self._console.is_terminal:
            yield None
            return
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console, transient=True) as bar:
            bar.add_task("files", total=source.count())
            yield bar

    def advance(self, bar: Progress | None) -> None:
        """Shows that some more files are done."""
        if bar is not None:
            bar.update(bar.task_ids[0], completed=self.report.done)
        elif not self.quiet and time.monotonic() - self._last_line >= LINE_EVERY:
            self._last_line = time.monotonic()
            self.note(f"{plural(self.report.done, 'file')} done")

    def summary(self) -> None:
        """Writes the result of a load on standard output."""
        if self.as_json:
            print(json.dumps(self.report.as_json(), ensure_ascii=False, indent=2))
        elif not self.quiet:
            print("\n".join(_summary_lines(self.report)))
        sys.stdout.flush()


def _summary_lines(report: Report) -> list[str]:
    counts = [("added", report.added), ("changed", report.changed), ("unchanged", report.unchanged)]
    if report.pruned:
        counts.append(("pruned", report.pruned))
    lines = [f"{name:<10} {count:>10,}" for name, count in counts]
    reasons = Counter(reason for _, reason, _ in report.skipped)
    lines.append(f"{'skipped':<10} {len(report.skipped):>10,}{_reasons(reasons)}")
    if report.warnings:
        lines.append(f"{'warnings':<10} {len(report.warnings):>10,}")
    if report.left_out:
        lines.append(f"{'left out':<10} {report.left_out.total():>10,}{_reasons(report.left_out)}")
    if report.chunks is not None and report.tokens is not None:
        lines.append(f"{'chunks':<10} {report.chunks:>10,}   written for the added and changed documents")
        lines.append(f"{'tokens':<10} {report.tokens:>10,}   in them")
    lines.append(f"{'time':<10} {report.seconds:>9.1f}s")
    if report.interrupted:
        lines.append("interrupted: each document is in whole or not at all; run the same command to go on")
    return lines


def _reasons(reasons: Counter[str]) -> str:
    if not reasons:
        return ""
    return "   " + ", ".join(f"{reason}: {count:,}" for reason, count in reasons.most_common())


def table(rows: list[dict[str, Any]], out: TextIO | None = None) -> None:
    """Writes rows as aligned columns: numbers to the right, the rest to the left."""
    if not rows:
        return
    shown = [{name: _cell(value) for name, value in row.items()} for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in shown)) for name in shown[0]}
    right = {name for name, value in rows[0].items() if isinstance(value, int) and not isinstance(value, bool)}
    lines = [{name: name for name in widths}, {name: "-" * width for name, width in widths.items()}, *shown]
    for line in lines:
        cells = (
            line[name].rjust(width) if name in right else line[name].ljust(width) for name, width in widths.items()
        )
        print("  ".join(cells).rstrip(), file=out)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))
