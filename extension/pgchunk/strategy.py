"""Strategies: named, validated sets of chunking options, and the hash that identifies a recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Final

from pgchunk.errors import InvalidOption
from pgchunk.tokenizers import TOKENIZER_NAMES, is_tokenizer_name

CHUNKER_ID: Final = "pgchunk"
#: Raised whenever the same text and options give other chunks than before.
CHUNKER_VERSION: Final = 1

MIN_MAX_TOKENS: Final = 16
MAX_MAX_TOKENS: Final = 1_000_000
#: PostgreSQL's own limit for one value, less what the row needs.
MAX_DOCUMENT_BYTES: Final = 1_000_000_000
HEADING_LEVELS: Final = (1, 2, 3, 4, 5, 6)
#: What is not part of the recipe: neither changes the chunks of a document that is chunked at all.
_NOT_IN_RECIPE: Final = frozenset({"name", "parser", "max_document_bytes"})

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "overlap": ("tokens", "sentence", "none"),
    "heading_line": ("exclude", "include"),
    "merge": ("next", "previous", "none"),
    "parser": ("auto", "markdown-it-py"),
}


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named set of chunking options, checked when it is made.

    Token counts are those of ``tokenizer``. The options that may be None follow ``max_tokens``; read their values in
    force from ``target``, ``min``, ``overlap_limit`` and ``heading_path_limit``.

    Raises:
        InvalidOption: an option is out of its range; the message names it, the detail the allowed values.
    """

    name: str = "custom"
    #: no chunk's embedded text is longer, in tokens (16 or more)
    max_tokens: int = 512
    #: pieces of a section that has to be cut aim at this, in tokens; None: max_tokens
    target_tokens: int | None = None
    #: smaller sections are merged, in tokens of the raw text; None: an eighth of max_tokens
    min_tokens: int | None = None
    #: at most this much of the piece before is said again, in tokens; None: an eighth of max_tokens
    overlap_tokens: int | None = None
    #: the breadcrumb's own budget, in tokens; None: an eighth of max_tokens
    heading_path_tokens: int | None = None
    #: where an overlap starts: at a word ('tokens'), at a sentence ('sentence'), nowhere ('none')
    overlap: str = "tokens"
    #: the heading levels that open a section
    split_levels: tuple[int, ...] = (1, 2, 3)
    #: whether a section's heading line is part of its raw text
    heading_line: str = "exclude"
    #: whether the text before the first heading makes chunks
    include_preamble: bool = True
    #: what a too small section joins: the next sibling, the chunk before, nothing
    merge: str = "next"
    #: whether header and delimiter row stand before every piece of a split table
    repeat_table_header: bool = True
    #: whether the breadcrumb begins with the document's title
    include_title: bool = True
    #: what stands between the parts of a breadcrumb
    separator: str = " > "
    #: cl100k_base, o200k_base or hf:NAME
    tokenizer: str = "cl100k_base"
    #: which block parser is used; the chunks are the same
    parser: str = "auto"
    #: longer documents are refused, in bytes of UTF-8
    max_document_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        for check in _CHECKS:
            check(self)
        object.__setattr__(self, "split_levels", tuple(sorted(set(self.split_levels))))

    @property
    def target(self) -> int:
        """Tokens that the pieces of a cut section aim at."""
        return self.max_tokens if self.target_tokens is None else self.target_tokens

    @property
    def min(self) -> int:
        """Tokens below which a section is too small."""
        return min(self.max_tokens // 8, self.target) if self.min_tokens is None else self.min_tokens

    @property
    def overlap_limit(self) -> int:
        """Tokens an overlap may have; 0 when there is none."""
        if self.overlap == "none":
            return 0
        return self.max_tokens // 8 if self.overlap_tokens is None else self.overlap_tokens

    @property
    def heading_path_limit(self) -> int:
        """Tokens a breadcrumb may have."""
        return self.max_tokens // 8 if self.heading_path_tokens is None else self.heading_path_tokens

    @property
    def recipe_hash(self) -> str:
        """Hex SHA-256 over chunker, version, options in force and tokenizer."""
        return _recipe_hash(self, CHUNKER_VERSION)

    def with_overrides(self, **overrides: Any) -> Strategy:
        """Returns this strategy with some options changed.

        Raises:
            InvalidOption: a name is unknown or a value out of range.
        """
        return replace(self, **_known_options(overrides)) if overrides else self

    @classmethod
    def from_mapping(cls, name: str, options: Mapping[str, Any]) -> Strategy:
        """Builds a strategy from a table row or a JSON object; what is not given has its default.

        Raises:
            InvalidOption: a name is unknown or a value out of range.
        """
        return cls(name=name, **_known_options(options))


OPTION_NAMES: Final = tuple(f.name for f in fields(Strategy) if f.name != "name")


def _known_options(options: Mapping[str, Any]) -> dict[str, Any]:
    for name in options:
        if name not in OPTION_NAMES:
            raise InvalidOption(
                f"unknown option {name!r}",
                detail=f"The options are {', '.join(OPTION_NAMES)}.",
                hint="Check the spelling; docs/chunking.md explains each option.",
            )
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}


def _refuse(option: str, value: object, allowed: str, hint: str | None = None) -> InvalidOption:
    shown = "NULL" if value is None else repr(list(value) if isinstance(value, tuple) else value)
    return InvalidOption(
        f"invalid value for option {option}: {shown}",
        detail=f"{option} must be {allowed}.",
        hint=hint or f"Give {option} a value in that range.",
    )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_integer(s: Strategy, option: str, low: int, high: int, why_high: str = "") -> None:
    value = getattr(s, option)
    if not _is_int(value) or not low <= value <= high:
        raise _refuse(option, value, f"an integer from {low} to {high}{why_high}")


def _check_max_tokens(s: Strategy) -> None:
    _check_integer(s, "max_tokens", MIN_MAX_TOKENS, MAX_MAX_TOKENS)


def _check_max_document_bytes(s: Strategy) -> None:
    _check_integer(s, "max_document_bytes", 1, MAX_DOCUMENT_BYTES)


def _check_target(s: Strategy) -> None:
    if s.target_tokens is not None:
        _check_integer(s, "target_tokens", 1, s.max_tokens, " (max_tokens)")


def _check_min(s: Strategy) -> None:
    if s.min_tokens is not None:
        _check_integer(s, "min_tokens", 0, s.target, " (target_tokens)")


def _check_overlap_tokens(s: Strategy) -> None:
    if s.overlap_tokens is not None:
        _check_integer(s, "overlap_tokens", 0, s.max_tokens // 2, " (half of max_tokens)")


def _check_heading_path_tokens(s: Strategy) -> None:
    if s.heading_path_tokens is not None:
        _check_integer(s, "heading_path_tokens", 0, s.max_tokens // 2, " (half of max_tokens)")


def _check_choices(s: Strategy) -> None:
    for option, choices in _CHOICES.items():
        value = getattr(s, option)
        if value not in choices:
            allowed = ", ".join(repr(choice) for choice in choices)
            raise _refuse(option, value, f"one of {allowed}", f"Give {option} one of these values.")


def _check_flags(s: Strategy) -> None:
    for option in ("include_preamble", "repeat_table_header", "include_title"):
        value = getattr(s, option)
        if not isinstance(value, bool):
            raise _refuse(option, value, "true or false")


def _check_split_levels(s: Strategy) -> None:
    levels = s.split_levels
    ok = isinstance(levels, Iterable) and not isinstance(levels, str)
    if not ok or not all(_is_int(level) and level in HEADING_LEVELS for level in levels):
        raise _refuse("split_levels", levels, "a list of heading levels from 1 to 6")


def _check_separator(s: Strategy) -> None:
    value = s.separator
    if not isinstance(value, str) or not value or len(value) > 16 or any(c in value for c in "\n\r\0"):
        raise _refuse("separator", value, "1 to 16 characters without line ends")


def _check_tokenizer(s: Strategy) -> None:
    if not isinstance(s.tokenizer, str) or not is_tokenizer_name(s.tokenizer):
        raise _refuse(
            "tokenizer",
            s.tokenizer,
            f"one of {', '.join(TOKENIZER_NAMES)}, or hf:NAME with NAME of letters, digits, '.', '_' and '-'",
            "A tokenizer.json is named, never given as a path: put it into the install directory as NAME.json.",
        )


def _check_name(s: Strategy) -> None:
    if not isinstance(s.name, str) or not s.name.strip() or len(s.name) > 63:
        raise _refuse("name", s.name, "1 to 63 characters, not all blank")


_CHECKS: Final[tuple[Callable[[Strategy], None], ...]] = (
    _check_name,
    _check_max_tokens,
    _check_target,
    _check_min,
    _check_overlap_tokens,
    _check_heading_path_tokens,
    _check_choices,
    _check_split_levels,
    _check_flags,
    _check_separator,
    _check_tokenizer,
    _check_max_document_bytes,
)

#: The shipped strategies by name.
STRATEGIES: Final[dict[str, Strategy]] = {
    s.name: s
    for s in (
        Strategy(name="default"),
        Strategy(name="sections", split_levels=HEADING_LEVELS, heading_line="include", merge="none", overlap="none"),
        Strategy(name="packed", split_levels=HEADING_LEVELS, merge="previous", overlap="sentence"),
        Strategy(name="focused", target_tokens=256, min_tokens=16, split_levels=HEADING_LEVELS, overlap="none"),
    )
}


@lru_cache(maxsize=64)
def _recipe_hash(strategy: Strategy, version: int) -> str:
    names = (field.name for field in fields(strategy) if field.name not in _NOT_IN_RECIPE)
    recipe: dict[str, Any] = {name: getattr(strategy, name) for name in names}
    recipe |= {
        "chunker": [CHUNKER_ID, version],
        "target_tokens": strategy.target,
        "min_tokens": strategy.min,
        "overlap_tokens": strategy.overlap_limit,
        "heading_path_tokens": strategy.heading_path_limit,
    }
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
