"""What options and flags are called and what they mean, for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pgchunk import Strategy

#: What each flag says happened; the table of docs/chunking.md in the same words.
FLAGS: Final = {
    "preamble": "text before the first splitting heading",
    "merged": "several sections in one chunk",
    "heading_only": "nothing but a heading",
    "undersized": "fewer than min_tokens tokens in raw_content",
    "breadcrumb_truncated": "the breadcrumb was cut from the left",
    "split_table": "a table was cut",
    "split_code": "a code block was cut",
    "split_block": ("another block was cut: a paragraph between sentences, a list between items, HTML between lines"),
    "split_sentence": "a sentence, a table row or a line was cut between words",
    "hard_split": "a word was cut",
}


def settings_of(strategy: Strategy) -> Iterator[tuple[str, str]]:
    """The options that decide what the chunks are, with the values in force."""
    yield "max_tokens", f"{strategy.max_tokens:,}"
    yield "target_tokens", f"{strategy.target:,}"
    yield "min_tokens", f"{strategy.min:,}"
    yield "overlap", f"{strategy.overlap}, {strategy.overlap_limit:,}" if strategy.overlap_limit else "none"
    yield "heading_path_tokens", f"{strategy.heading_path_limit:,}"
    yield "split_levels", _levels(strategy.split_levels)
    for name in ("heading_line", "merge", "include_preamble", "include_title", "repeat_table_header"):
        yield name, _plain(getattr(strategy, name))
    yield "separator", repr(strategy.separator)
    yield "tokenizer", strategy.tokenizer


def _plain(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _levels(levels: tuple[int, ...]) -> str:
    found = sorted(set(levels))
    if len(found) > 2 and found == list(range(found[0], found[-1] + 1)):
        return f"{found[0]} to {found[-1]}"
    return ", ".join(map(str, found)) or "none"
