"""The documents that are measured: those below the folders given, or the project's own and generated ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SUFFIXES: Final = frozenset({".md", ".markdown", ".mdx", ".txt"})
#: Bytes of generated documents, when there are no corpora.
GENERATED_BYTES: Final = 1_500_000

_NOUNS: Final = ("index", "table", "server", "document", "chunk", "token", "query", "page", "cache", "plan", "worker")
_VERBS: Final = ("reads", "writes", "keeps", "counts", "splits", "merges", "embeds", "finds", "drops", "checks")
_OTHERS: Final = ("the", "a", "each", "every", "this", "some", "another")


def documents(folders: Sequence[Path], at_most: int) -> list[str]:
    """Markdown documents of about `at_most` bytes in all, the same for the same arguments.

    Args:
        folders: where files are looked for; without any, the project's own documents and generated ones are taken.
        at_most: bytes; of more, every folder gives the same share, taken evenly over its files. 0 takes all.

    Raises:
        SystemExit: a folder has no documents.
    """
    groups = [_read(folder) for folder in folders] or [_read(ROOT / "docs"), list(_generated(GENERATED_BYTES))]
    total = sum(map(_bytes, groups))
    if not at_most or total <= at_most:
        return [text for group in groups for text in group]
    return [text for group in groups for text in _thinned(group, at_most / total)]


def section(rnd: random.Random, number: int) -> str:
    """A section of about 2 kB: heading, prose, now and then a list, a table or code."""
    parts = [f"{'#' * rnd.choice((2, 2, 3, 4))} {_sentence(rnd)[:-1]} {number}"]
    for _ in range(rnd.randint(2, 4)):
        parts.append(" ".join(_sentence(rnd) for _ in range(rnd.randint(3, 7))))
    kind = rnd.randrange(4)
    if kind == 0:
        parts.append("\n".join(f"- {_sentence(rnd)}" for _ in range(rnd.randint(3, 9))))
    elif kind == 1:
        rows = (
            f"| {rnd.choice(_NOUNS)} | {rnd.randrange(10_000)} | {_sentence(rnd)} |" for _ in range(rnd.randint(3, 12))
        )
        parts.append("\n".join(["| name | number | what |", "| --- | --- | --- |", *rows]))
    elif kind == 2:
        lines = (
            f"    {rnd.choice(_NOUNS)}.{rnd.choice(_VERBS)}({rnd.randrange(99)})" for _ in range(rnd.randint(3, 15))
        )
        parts.append("\n".join(["```python", "def main():", *lines, "```"]))
    return "\n\n".join(parts)


def generated(size: int, seed: int) -> str:
    """One generated document of about `size` bytes; all of it is ASCII."""
    rnd = random.Random(seed)
    parts = [f"# Document {seed}"]
    length = len(parts[0])
    while length < size:
        parts.append(section(rnd, len(parts)))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)[: max(size, len(parts[0]))]


def _generated(total: int) -> Iterator[str]:
    size, seed = 1_000, 0
    while total > 0:
        text = generated(size, seed)
        yield text
        total -= len(text)
        size, seed = size * 2 if size < 100_000 else 1_000, seed + 1


def _sentence(rnd: random.Random) -> str:
    words = [w for _ in range(rnd.randint(2, 6)) for w in (rnd.choice(_OTHERS), rnd.choice(_NOUNS), rnd.choice(_VERBS))]
    return " ".join(words).capitalize() + "."


def _read(folder: Path) -> list[str]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not paths:
        raise SystemExit(f"there are no documents below {folder}")
    return [path.read_bytes().decode("utf-8") for path in paths]


def _bytes(texts: Sequence[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def _thinned(texts: Sequence[str], share: float) -> Iterator[str]:
    """Evenly spread documents that have about this share of the bytes; a large one is cut at a line's end."""
    owed = 0.0
    for text in texts:
        size = len(text.encode())
        owed += size * share
        if owed >= size:
            owed -= size
            yield text
    if owed > 4_000:  # one large document, such as a specification
        text = max(texts, key=len)[: int(owed)]
        yield text[: text.rfind("\n") + 1]
