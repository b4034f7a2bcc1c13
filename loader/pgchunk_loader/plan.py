"""What a load or a document would give, worked out by the core alone: no server, no socket, no write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from pgchunk import STRATEGIES, Chunk, Strategy, chunk
from pgchunk.errors import PgchunkError, TokenizerDataMissing
from pgchunk.frontmatter import FrontMatterError
from pgchunk.title import derive_title
from pgchunk_loader.files import File, Source
from pgchunk_loader.metadata import STRATEGY_KEY, metadata_of
from pgchunk_loader.options import HOW_TO_WRITE
from pgchunk_loader.problems import SkipError, UnusableError
from pgchunk_loader.report import Screen, plural, printable, table

#: How many heading paths of a file a person is shown.
MOST_PATHS: Final = 20


@dataclass(frozen=True, slots=True)
class Part:
    """The chunks of a document that stand under one heading path; tokens are of what would be embedded."""

    heading_path: tuple[str, ...]
    chunks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a file would become.

    Attributes:
        tokens: of the chunks' raw text.
        embedded_tokens: of what would be embedded, breadcrumbs included.
    """

    file: str
    source_uri: str
    title: str
    format: str
    strategy: str
    chunks: int
    tokens: int
    embedded_tokens: int
    parts: tuple[Part, ...]


def find_strategy(name: str, overrides: Mapping[str, Any] | None = None) -> Strategy:
    """One of the shipped strategies, changed by some options.

    Raises:
        UnusableError: no shipped strategy has this name, or an option is wrong.
    """
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise UnusableError(
            f"there is no shipped strategy {name!r}",
            f"Without a server these are known: {known}. Change them with --option NAME=VALUE.",
        )
    try:
        return STRATEGIES[name].with_overrides(**(overrides or {}))
    except PgchunkError as error:
        problem = unusable(error)
        if overrides:
            problem.hint = f"{problem.hint} {HOW_TO_WRITE}" if problem.hint else HOW_TO_WRITE
        raise problem from error


def unusable(error: PgchunkError) -> UnusableError:
    """An error of the core that ends the command."""
    return UnusableError(f"{error.message}; {error.detail}" if error.detail else error.message, error.hint)


def chunks_of(file: File, strategy: Strategy) -> tuple[str, list[Chunk]]:
    """The title and the chunks that the database would make of a file.

    Raises:
        SkipError: the core refuses the document.
        UnusableError: the core cannot count tokens at all.
    """
    title = derive_title(file.text, file.uri, file.format)
    try:
        return title, chunk(file.text, title, strategy, format=file.format)
    except TokenizerDataMissing as error:
        raise unusable(error) from error
    except PgchunkError as error:
        raise SkipError("cannot be chunked", error.message) from error


def plans(source: Source, strategy: str | None, screen: Screen) -> Iterator[Plan]:
    """Chunks the files of a tree one by one; what cannot be chunked is named and counted.

    Args:
        strategy: a shipped strategy for all files; None: what front matter says, else 'default'.
    """
    if strategy is not None:
        find_strategy(strategy)
    for file in source.files(screen.leave_out, screen.skip):
        try:
            yield _plan(file, strategy or _own_strategy(file, screen))
        except SkipError as skipped:
            screen.skip(file.relative, skipped)


def _own_strategy(file: File, screen: Screen) -> str:
    try:
        name = metadata_of(file.text).get(STRATEGY_KEY, "default")
    except FrontMatterError as error:
        screen.warn(file.relative, f"front matter left out of the metadata: {error}")
        return "default"
    if not isinstance(name, str) or name not in STRATEGIES:
        raise SkipError("unknown strategy", f"front matter asks for {name!r}, which is not a shipped one")
    return name


def _plan(file: File, strategy: str) -> Plan:
    title, chunks = chunks_of(file, find_strategy(strategy))
    grouped: dict[tuple[str, ...], list[Chunk]] = {}
    for each in chunks:
        grouped.setdefault(each.heading_path, []).append(each)
    return Plan(
        file=printable(file.relative),
        source_uri=file.uri,
        title=title,
        format=file.format,
        strategy=strategy,
        chunks=len(chunks),
        tokens=sum(each.token_count for each in chunks),
        embedded_tokens=_embedded(chunks),
        parts=tuple(Part(path, len(some), _embedded(some)) for path, some in grouped.items()),
    )


def _embedded(chunks: Iterable[Chunk]) -> int:
    return sum(each.content_token_count for each in chunks)


def show_plans(some: Iterable[Plan], screen: Screen) -> None:
    """Writes plans as they come, and the totals; nothing is held back but the counts."""
    totals = {"files": 0, "chunks": 0, "tokens": 0, "embedded_tokens": 0}
    write = _JsonPlans() if screen.as_json else _TablePlans(quiet=screen.quiet, whole=screen.verbose)
    for plan in some:
        totals["files"] += 1
        for name in ("chunks", "tokens", "embedded_tokens"):
            totals[name] += getattr(plan, name)
        write.plan(plan)
    write.end(totals, screen)


class _TablePlans:
    """A line per file and, below it, one per heading path; tokens are those of what would be embedded."""

    def __init__(self, *, quiet: bool, whole: bool) -> None:
        self._quiet = quiet
        self._most = None if whole else MOST_PATHS
        self._line("chunks", "tokens", "file and heading path")

    def plan(self, plan: Plan) -> None:
        self._line(plan.chunks, plan.embedded_tokens, plan.file)
        for part in plan.parts[: self._most]:
            self._line(
                part.chunks,
                part.tokens,
                "    " + (printable(" > ".join(part.heading_path)) or "(no heading)"),
            )
        if self._most is not None and len(plan.parts) > self._most:
            self._line("", "", f"    ... and {len(plan.parts) - self._most:,} more heading paths (-v shows all)")

    def end(self, totals: dict[str, int], screen: Screen) -> None:
        self._line(totals["chunks"], totals["embedded_tokens"], f"in {plural(totals['files'], 'file')}")
        if not self._quiet:
            skipped, left_out = len(screen.report.skipped), screen.report.left_out.total()
            print(f"Tokens are those to embed, breadcrumbs included; {skipped:,} skipped, {left_out:,} left out.")
            print("Nothing was written, no server was asked.")

    @staticmethod
    def _line(chunks: int | str, tokens: int | str, what: str) -> None:
        print(f"{_number(chunks):>8}{_number(tokens):>10}  {what}")


def _number(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


class _JsonPlans:
    """One JSON object, written while the files are read."""

    def __init__(self) -> None:
        self._before = '{"files": [\n'

    def plan(self, plan: Plan) -> None:
        print(self._before + json.dumps(asdict(plan), ensure_ascii=False), end="")
        self._before = ",\n"

    def end(self, totals: dict[str, int], screen: Screen) -> None:
        opening = self._before if self._before.startswith("{") else "\n"
        report = screen.report.as_json()
        rest = {"totals": totals} | {name: report[name] for name in ("skipped", "warnings", "left_out")}
        print(opening + "], " + json.dumps(rest, ensure_ascii=False).removeprefix("{"))


def show_chunks(title: str, chunks: list[Chunk], screen: Screen, *, full: bool) -> None:
    """Writes the chunks of one document: as JSON, or a line for each, or the whole embedded text."""
    if screen.as_json:
        print(json.dumps([asdict(each) for each in chunks], ensure_ascii=False, indent=2))
        return
    if full:
        for each in chunks:
            print(f"----- {each.ordinal}: {_sizes(each)}{_flags(each)}\n{each.content}")
    else:
        table([_row(each) for each in chunks])
    if not screen.quiet:
        tokens = sum(each.content_token_count for each in chunks)
        print(f"{plural(len(chunks), 'chunk')}, {tokens:,} tokens to embed, title {printable(title)!r}")


def _row(each: Chunk) -> dict[str, Any]:
    return {
        "ordinal": each.ordinal,
        "tokens": each.token_count,
        "embedded": each.content_token_count,
        "characters": f"{each.char_start}-{each.char_end}",
        "heading path": printable(" > ".join(each.heading_path)),
        "flags": " ".join(each.flags),
        "begins": printable(" ".join(each.raw_content[:200].split())[:50]),
    }


def _sizes(each: Chunk) -> str:
    return f"{each.content_token_count:,} tokens, characters {each.char_start:,}-{each.char_end:,}"


def _flags(each: Chunk) -> str:
    return f", {' '.join(each.flags)}" if each.flags else ""
