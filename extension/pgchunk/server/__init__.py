"""What the SQL functions call: each takes ``plpy`` first, as PL/Python hands it out.

A shim in ``sql/code`` is a declaration and one call of a function named here. Errors of pgchunk reach the
client as SQL errors, with SQLSTATE, DETAIL and HINT.
"""

from __future__ import annotations

from typing import Any

from pgchunk import server
from pgchunk._version import __version__
from pgchunk.errors import VersionMismatch
from pgchunk.server.adoption import adopt
from pgchunk.server.changes import rechunk, remove_chunks, strategies_written, what_if
from pgchunk.server.checks import problems
from pgchunk.server.comparison import compare, compare_total
from pgchunk.server.database import Database
from pgchunk.server.errors import reported
from pgchunk.server.previews import count_tokens, outline, preview, preview_document
from pgchunk.server.recipes import has_text
from pgchunk.server.row_security import carry_row_security, drop_row_security
from pgchunk.server.strategies import ship_strategies, strategies_after, strategies_before
from pgchunk.server.tables import create_tables
from pgchunk.server.triggers import after, before
from pgchunk.server.upgrade import upgrade_tables
from pgchunk.server.worker import work

__all__ = [
    "adopt",
    "after",
    "before",
    "carry_row_security",
    "compare",
    "compare_total",
    "count_tokens",
    "create_tables",
    "drop_row_security",
    "has_text",
    "load",
    "outline",
    "preview",
    "preview_document",
    "problems",
    "rechunk",
    "remove_chunks",
    "ship_strategies",
    "strategies_after",
    "strategies_before",
    "strategies_written",
    "upgrade_tables",
    "what_if",
    "work",
]


@reported
def load(_db: Database, session: dict[str, Any], sql_version: str) -> None:
    """Puts this module into PL/Python's ``GD``, once a session.

    Args:
        session: the dict that all functions of the session share.
        sql_version: version of the SQL function that asks.

    Raises:
        VersionMismatch: the session has the package of another version.
    """
    if __version__ != sql_version:
        raise VersionMismatch(
            f"the Python package of pgchunk is {__version__}, its SQL functions are {sql_version}",
            detail="The package was loaded before an update of the extension, or only one was installed.",
            hint="Open a new session. If the error stays, run make install on the server and then "
            "ALTER EXTENSION pgchunk UPDATE.",
        )
    session["pgchunk"] = server
    session["pgchunk_version"] = __version__
