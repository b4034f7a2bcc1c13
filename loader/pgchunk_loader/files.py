"""Files of a tree as documents, in batches small enough to hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pgchunk_loader.problems import SkipError
from pgchunk_loader.roots import Root
from pgchunk_loader.text import read_text
from pgchunk_loader.walk import Failed, LeftOut, Rules, walk

#: A batch is compared with one query and written in one transaction, closed by either limit. Larger ones would save
#: little, show progress rarely and lose more when cut off; over 64 savepoints would not fit a backend's own cache.
BATCH_DOCUMENTS: Final = 32
BATCH_CHARS: Final = 250_000


@dataclass(frozen=True, slots=True)
class File:
    """A file that has been read.

    Attributes:
        relative: its path below the root.
        uri: its source_uri.
        text: what is stored as content.
        format: 'markdown' or 'text'.
    """

    relative: str
    uri: str
    text: str = field(repr=False)
    format: str

    @property
    def content_hash(self) -> str:
        """Lower-case hex SHA-256 of the text in UTF-8, as the database keeps it."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Source:
    """What is loaded: the root, the rules, and the name of the one file when it is not a directory."""

    root: Root
    rules: Rules
    only: str | None = None

    def paths(self, left_out: LeftOut, failed: Failed) -> Iterator[str]:
        """The paths below the root, in stable order."""
        if self.only is not None:
            return iter([self.only])
        return walk(self.root.directory, self.rules, left_out, failed)

    def files(self, left_out: LeftOut, failed: Failed) -> Iterator[File]:
        """Reads the files one by one; what cannot be read is handed to `failed`."""
        for relative in self.paths(left_out, failed):
            try:
                uri = self.root.uri(relative)
                text = read_text(self.root.directory / relative, self.rules.max_bytes)
            except SkipError as skipped:
                failed(relative, skipped)
            else:
                yield File(relative, uri, text, format_of(relative))

    def count(self) -> int:
        """How many files there are to read now; the walk alone, nothing is opened."""
        return sum(1 for _ in self.paths(_ignore, _ignore))


def _ignore(_path: str, _why: object) -> None:
    """Takes a report of the walk and does nothing with it."""


def format_of(path: str | Path) -> str:
    """The format of a document by its file's name."""
    return "text" if str(path).lower().endswith(".txt") else "markdown"


def batches(files: Iterator[File]) -> Iterator[list[File]]:
    """Groups files for the database; a file over the limit is a batch of its own."""
    batch: list[File] = []
    chars = 0
    for file in files:
        if batch and (len(batch) >= BATCH_DOCUMENTS or chars + len(file.text) > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(file)
        chars += len(file.text)
    if batch:
        yield batch
