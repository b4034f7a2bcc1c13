"""Errors of pgchunk: each has an SQLSTATE, what was wrong, why, and what to do.

The class ``MD`` of SQLSTATEs is ours; docs/errors.md lists them. Clients match on the SQLSTATE, never on the text.
"""

from __future__ import annotations

from typing import ClassVar


class PgchunkError(Exception):
    """Base of every error raised on purpose.

    Args:
        message: what was wrong, with the value in it; lower case, no full stop.
        detail: why it is wrong.
        hint: what to do, if there is something to do.
    """

    sqlstate: ClassVar[str] = "MD000"

    def __init__(self, message: str, *, detail: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.message]
        if self.detail:
            parts.append(f"DETAIL: {self.detail}")
        if self.hint:
            parts.append(f"HINT: {self.hint}")
        return "\n".join(parts)


class InvalidOption(PgchunkError, ValueError):
    """An option of a strategy is unknown, of the wrong type or out of range."""

    sqlstate = "MD001"


class UnknownStrategy(PgchunkError, LookupError):
    """No strategy has this name."""

    sqlstate = "MD002"


class DocumentTooLarge(PgchunkError, ValueError):
    """The content is larger than ``max_document_bytes``."""

    sqlstate = "MD003"


class InvalidFormat(PgchunkError, ValueError):
    """The format is neither 'markdown' nor 'text'."""

    sqlstate = "MD004"


class TokenizerDataMissing(PgchunkError, RuntimeError):
    """The data file of a known tokenizer is not installed."""

    sqlstate = "MD005"


class UnknownTokenizer(PgchunkError, LookupError):
    """No tokenizer has this name."""

    sqlstate = "MD006"


class VersionMismatch(PgchunkError, RuntimeError):
    """Python package and SQL extension are of different versions."""

    sqlstate = "MD007"


class UnknownCollection(PgchunkError, LookupError):
    """No pair of tables is registered under this name, or for this table."""

    sqlstate = "MD008"


class UnknownDocument(PgchunkError, LookupError):
    """No document has this id or source_uri."""

    sqlstate = "MD009"


class InvalidDocument(PgchunkError, ValueError):
    """The content cannot be stored or chunked, for instance because of a NUL character."""

    sqlstate = "MD010"
