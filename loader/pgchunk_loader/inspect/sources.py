"""What is inspected, from a file: chunked by the core alone, no server."""

from __future__ import annotations

from collections.abc import Sequence

from pgchunk import Chunk, Strategy
from pgchunk.errors import PgchunkError
from pgchunk.laws import problems
from pgchunk_loader.files import File
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.wanted import Wanted
from pgchunk_loader.plan import chunks_of, find_strategy

FROM_FILE = "chunked without a server"


def from_file(file: File, wanted: Sequence[Wanted]) -> tuple[Document, list[Cut]]:
    """A file and its chunks by each strategy.

    Raises:
        SkipError: the core refuses the document.
        UnusableError: no shipped strategy has this name, an option is wrong, or tokens cannot be counted.
    """
    strategies = [find_strategy(each.name or "default", each.overrides) for each in wanted]
    results = [chunks_of(file, strategy) for strategy in strategies]
    document = Document(file.text, results[0][0], file.uri or "standard input", file.format)
    cuts = [
        Cut(
            strategy,
            chunks,
            FROM_FILE,
            frozenset(each.overrides),
            problems=checked(document, strategy, chunks),
        )
        for each, strategy, (_, chunks) in zip(wanted, strategies, results, strict=True)
    ]
    return document, cuts


def checked(document: Document, strategy: Strategy, chunks: Sequence[Chunk]) -> list[str] | None:
    """What is wrong with the chunks; None when it cannot be said here, as without the tokenizer's data."""
    try:
        return problems(document.text, document.title, strategy, chunks, document.format)
    except PgchunkError:
        return None
