"""What can go wrong, in the words and exit statuses of the command."""

from __future__ import annotations

from typing import Final

ALL_WELL: Final = 0
SOME_SKIPPED: Final = 1
CANNOT_WORK: Final = 2
#: What a shell reports for a process that SIGINT ended.
INTERRUPTED: Final = 130


class UnusableError(Exception):
    """The command cannot do its work at all: wrong usage, no server, nothing installed. Exit status 2.

    Args:
        message: what is wrong, with the value in it.
        hint: what to do about it.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class SkipError(Exception):
    """One file cannot be loaded; the others can. Exit status 1.

    Args:
        reason: a few words that are the same for every such file; the summary counts by them.
        detail: what is particular to this file.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
