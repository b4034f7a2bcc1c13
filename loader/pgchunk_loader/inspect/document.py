"""What is inspected: a document, and its chunks by one or two strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pgchunk import Chunk, Strategy


@dataclass(frozen=True, slots=True)
class Document:
    """A text with a name.

    Attributes:
        source: its file, or its source_uri.
        format: 'markdown' or 'text'.
    """

    text: str = field(repr=False)
    title: str
    source: str
    format: str = "markdown"


@dataclass(frozen=True, slots=True)
class Cut:
    """The chunks of a document by one strategy.

    Attributes:
        strategy: what they were made with.
        origin: where they come from, in words.
        overrides: the names of options that were changed for this page.
        facts: by ordinal, what else is known of a chunk: name and value, both for a person.
        notes: what to know about the chunks as a whole, a sentence each.
        problems: which laws of chunking do not hold, a sentence each; None when that could not be checked.
    """

    strategy: Strategy
    chunks: Sequence[Chunk] = field(repr=False)
    origin: str
    overrides: frozenset[str] = frozenset()
    facts: Mapping[int, Mapping[str, str]] = field(default_factory=dict, repr=False)
    notes: Sequence[str] = ()
    problems: Sequence[str] | None = ()
