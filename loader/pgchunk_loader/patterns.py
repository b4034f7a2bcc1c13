"""Patterns of .gitignore: those that a person gives, which must be right, and those of a file, of which git ignores
the broken ones."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

from pgchunk_loader.problems import UnusableError


def given_patterns(option: str, patterns: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of an option, in which each has to mean something.

    Raises:
        UnusableError: one is broken, empty or a comment; it would match nothing, and nobody would be told.
    """
    patterns = list(patterns)
    for pattern in patterns:
        if not _is_pattern(pattern):
            raise UnusableError(
                f"{option} {pattern!r} is not a pattern",
                f"For instance {option} '*.rst' or {option} 'drafts/'; write \\[ for a bracket, \\# and \\! for"
                " the first character of a name.",
            )
    return GitIgnoreSpec.from_lines(patterns)


def file_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of a .gitignore; as for git, a broken line matches nothing."""
    return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    """Whether a line is a pattern, not blank, a comment or broken."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # a bracket in a bracket is read in another way than meant
            return any(each.include is not None for each in GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error, FutureWarning):
        return False
