"""The chunks of a dozen documents, as readable files: a change of boundaries is seen in review.

Write the files anew with ``pytest tests/core/test_golden.py --regenerate-golden`` (or PGCHUNK_REGENERATE_GOLDEN=1).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checking import breadcrumb_of, chunked, lines

from pgchunk import Chunk

GOLDEN = Path(__file__).parent / "golden"
DOCUMENTS = sorted(GOLDEN.glob("*.md"))
RUNS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("default", {}),
    ("default", {"max_tokens": 64}),
    ("sections", {"max_tokens": 96}),
    ("packed", {"max_tokens": 48}),
    ("focused", {"max_tokens": 128, "target_tokens": 64}),
)
VISIBLE = str.maketrans({"\r": "␍", "\u2028": "␤", "\x0b": "␋", "\x85": "␤", "\u200b": "␢"})


def source_of(path: Path) -> str:
    """The document; the files have plain line ends, so that no tool converts them."""
    text = path.read_text("utf-8")
    return text.replace("\n", "\r\n") if path.stem.endswith("-crlf") else text


def shown(text: str, mark: str) -> list[str]:
    return [f"{mark} {line}".rstrip("\r\n ").translate(VISIBLE) for line in lines(text)]


def described(chunk: Chunk) -> list[str]:
    facts = [
        f"#{chunk.ordinal}{' (continuation)' if chunk.continuation else ''}",
        f"characters {chunk.char_start} to {chunk.char_end}",
        f"{chunk.content_token_count} tokens, {chunk.token_count} of them raw",
        *chunk.flags,
    ]
    return [
        " · ".join(facts),
        f"path {list(chunk.heading_path)}",
        f"said {breadcrumb_of(chunk)!r}",
        *shown(chunk.raw_prefix, "+"),
        *shown(chunk.raw_content, "|"),
        *shown(chunk.raw_suffix.removeprefix("\n"), "+"),
        "",
    ]


def run(text: str, strategy: str, options: dict[str, Any]) -> list[str]:
    chunks = chunked(text, "Golden", strategy, **options)
    given = ", ".join(f"{name} {value}" for name, value in options.items())
    found = [line for chunk in chunks for line in described(chunk)]
    return [f"=== {strategy}{', ' if given else ''}{given}: {len(chunks)} chunks", "", *found]


def test_there_are_a_dozen_documents():
    assert len(DOCUMENTS) >= 12


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_chunks_are_those_of_the_golden_file(path, regenerate_golden):
    text = source_of(path)
    found = "\n".join(line for strategy, options in RUNS for line in run(text, strategy, options))
    golden = path.with_suffix(".txt")
    if regenerate_golden:
        golden.write_text(found, "utf-8", newline="\n")
    assert golden.is_file(), "write it with --regenerate-golden"
    assert found == golden.read_text("utf-8")


def test_every_golden_file_has_its_document():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == {path.stem for path in DOCUMENTS}
