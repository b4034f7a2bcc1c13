"""Queries through ``plpy``, the module that PL/Python hands to its functions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, NoReturn, Protocol

Row = dict[str, Any]

#: Seconds between two chances for the server to cancel long work.
INTERRUPT_PERIOD: Final = 0.1

#: The plans of this session by query and parameter types. Names stand in the queries, so a renamed table asks
#: for a plan of its own; what else changes, the server's plan cache notices.
_plans: Final[dict[tuple[str, tuple[str, ...]], Any]] = {}


class Plpy(Protocol):
    """What is used of ``plpy``."""

    def prepare(self, query: str, argtypes: Sequence[str]) -> Any: ...
    def execute(self, plan: Any, arguments: Sequence[Any] = ...) -> Iterable[Row]: ...
    def subtransaction(self) -> AbstractContextManager[Any]: ...
    def quote_ident(self, name: str) -> str: ...
    def notice(self, message: str, **fields: str) -> None: ...
    def warning(self, message: str, **fields: str) -> None: ...
    def commit(self) -> None: ...
    def error(self, message: str, **fields: str) -> NoReturn: ...


class Database:
    """The session's database, with the rights of the function that was called."""

    def __init__(self, plpy: Plpy) -> None:
        self._plpy = plpy
        self._next_interrupt = time.monotonic() + INTERRUPT_PERIOD

    def fetch(self, query: str, types: Sequence[str] = (), *arguments: Any) -> list[Row]:
        """Runs a query through a plan that the session keeps.

        Args:
            query: the text, with $1 and so on for values.
            types: SQL types of the values.
            arguments: the values.

        Returns:
            The rows; none for a statement without RETURNING.
        """
        key = (query, tuple(types))
        plan = _plans.get(key)
        if plan is None:
            plan = _plans[key] = self._plpy.prepare(query, list(types))
        return list(self._plpy.execute(plan, list(arguments)))

    def run(self, script: str) -> None:
        """Runs statements that are not worth a plan."""
        self._plpy.execute(script)

    def run_unless(self, sqlstate: str, script: str) -> bool:
        """Runs statements; False, with nothing done, when they fail with this SQLSTATE."""
        try:
            with self._plpy.subtransaction():
                self._plpy.execute(script)
        except Exception as error:  # plpy's own classes are known inside the server only
            if getattr(error, "sqlstate", None) != sqlstate:
                raise
            return False
        return True

    def name(self, *parts: str) -> str:
        """A qualified name, quoted."""
        return ".".join(map(self._plpy.quote_ident, parts))

    def notice(self, message: str) -> None:
        """Tells the client something."""
        self._plpy.notice(message)

    def commit(self) -> None:
        """Commits and begins a transaction; only in a procedure that was called outside of one."""
        self._plpy.commit()

    def pin_search_path(self) -> None:
        """Gives the rest of the transaction the search_path that all our functions have."""
        self.fetch("SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)")

    def warning(self, message: str, hint: str = "") -> None:
        """Warns the client."""
        self._plpy.warning(message, **({"hint": hint} if hint else {}))

    def debug1(self, message: str) -> None:
        """Writes a log line at DEBUG1."""
        self.fetch("SELECT pgchunk._debug1($1)", ["text"], message)

    def checkpoint(self) -> None:
        """Lets the server interrupt: any query does. The core calls this often."""
        now = time.monotonic()
        if now >= self._next_interrupt:
            self._next_interrupt = now + INTERRUPT_PERIOD
            self.fetch("SELECT 1")


def array_literal(items: Iterable[str]) -> str:
    """An SQL array of texts, as its own literal."""
    return "{" + ",".join('"' + re.sub(r'(["\\])', r"\\\1", item) + '"' for item in items) + "}"


def quoted_text(text: str) -> str:
    """A text as it stands between the quotes of a literal."""
    return text.replace("'", "''")
