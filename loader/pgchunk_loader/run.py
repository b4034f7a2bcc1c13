"""One run against a server from start to summary, with its event loop and its questions to the person."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import typer

from pgchunk_loader.db import TO_LOAD, TO_PRUNE, TO_READ, open_database
from pgchunk_loader.files import Source
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.stored import from_database
from pgchunk_loader.inspect.wanted import Wanted
from pgchunk_loader.load import Loading, load
from pgchunk_loader.problems import UnusableError
from pgchunk_loader.prune import Prunable, check_can_prune, delete_gone, find_gone
from pgchunk_loader.report import Screen, plural, printable
from pgchunk_loader.status import status
from pgchunk_loader.target import Target

#: How many of the documents to be pruned are shown before the question.
_SHOWN = 10


def load_once(source: Source, target: Target, screen: Screen) -> None:
    """Loads, prunes when asked to, and writes the summary; also when interrupted.

    Raises:
        UnusableError: no server, nothing installed, or a prune that a person has to allow first.
    """
    worth_telling = True
    try:
        gone = asyncio.run(_load(source, target, screen))
        if gone is not None and gone.uris and _may_prune(gone, target, screen):
            screen.report.pruned = asyncio.run(_delete(source, target, screen, gone.uris))
    except KeyboardInterrupt:
        screen.report.interrupted = True
        raise
    except UnusableError:
        worth_telling = screen.report.done > 0
        raise
    finally:
        screen.report.finish()
        if worth_telling:
            screen.summary()


async def _load(source: Source, target: Target, screen: Screen) -> Prunable | None:
    needs = TO_PRUNE if target.prune else TO_LOAD
    async with open_database(target.dsn, target.collection, target.connections, screen.tell, needs=needs) as database:
        if target.prune:
            check_can_prune(database, source.root)
        with screen.progress(source) as bar:
            await load(Loading(source, database, screen, target.strategy), target.connections, bar)
        return await find_gone(database, source.root) if target.prune else None


async def _delete(source: Source, target: Target, screen: Screen, uris: list[str]) -> int:
    async with open_database(target.dsn, target.collection, 1, screen.tell, needs=TO_PRUNE) as database:
        return await delete_gone(database, source.root, uris)


def _may_prune(gone: Prunable, target: Target, screen: Screen) -> bool:
    """Whether documents may be deleted; asks a person when they are more than a fifth."""
    if target.yes or not gone.needs_consent:
        return True
    question = f"--prune would delete {gone_of(gone)} whose files are gone"
    if not is_interactive():
        raise UnusableError(question, "Look whether the directory is complete; then run again with --yes.")
    for uri in gone.uris[:_SHOWN]:
        screen.tell(f"  {printable(uri)}")
    if len(gone.uris) > _SHOWN:
        screen.tell(f"  and {len(gone.uris) - _SHOWN:,} more")
    return typer.confirm(f"{question}. Delete them?", err=True)


def is_interactive() -> bool:
    """Whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def gone_of(gone: Prunable) -> str:
    """The size of a prune in words."""
    return f"{len(gone.uris):,} of {plural(gone.of, 'document')}"


def read_status(dsn: str, collection: str | None, screen: Screen) -> dict[str, Any]:
    """What the database holds.

    Raises:
        UnusableError: no server, or nothing installed.
    """

    async def read() -> dict[str, Any]:
        async with open_database(dsn, collection, 1, screen.tell, needs=TO_READ) as database:
            return await status(database)

    return asyncio.run(read())


def read_document(
    dsn: str, collection: str | None, name: str, wanted: Sequence[Wanted], screen: Screen
) -> tuple[Document, list[Cut]]:
    """A document of the database and its chunks by each strategy.

    Raises:
        UnusableError: no server, nothing installed, or no such document or strategy.
    """

    async def read() -> tuple[Document, list[Cut]]:
        async with open_database(dsn, collection, 1, screen.tell, needs=TO_READ) as database:
            return await from_database(database, name, wanted)

    return asyncio.run(read())
