"""The one place where errors of pgchunk become SQL errors, and the server's own kinds of error.

Where a standard SQLSTATE fits, it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from pgchunk.errors import PgchunkError
from pgchunk.server.database import Database, Plpy

P = ParamSpec("P")
R = TypeVar("R")


class InvalidArgument(PgchunkError, ValueError):
    """An argument of an SQL function is out of range (invalid_parameter_value)."""

    sqlstate = "22023"


class NotOwner(PgchunkError, PermissionError):
    """The caller does not own a table that is to be written to (insufficient_privilege)."""

    sqlstate = "42501"


class MissingSchema(PgchunkError, LookupError):
    """The schema named does not exist (invalid_schema_name)."""

    sqlstate = "3F000"


class StrategyInUse(PgchunkError):
    """Chunks of a strategy are in the way of what is to be done with it (object_in_use)."""

    sqlstate = "55006"


class InTransaction(PgchunkError):
    """What commits was called inside a transaction (invalid_transaction_termination)."""

    sqlstate = "2D000"


class NameTaken(PgchunkError):
    """An object of this name exists and is not ours (duplicate_object)."""

    sqlstate = "42710"


class MissingColumn(PgchunkError, LookupError):
    """A table lacks a column that is needed (undefined_column)."""

    sqlstate = "42703"


class FeatureMissing(PgchunkError):
    """Another extension is missing or too old (feature_not_supported)."""

    sqlstate = "0A000"


def reported(function: Callable[Concatenate[Database, P], R]) -> Callable[Concatenate[Plpy, P], R]:
    """Makes an entry point of a function: it gets a Database for ``plpy``, its errors become SQL errors."""

    @wraps(function)
    def entry(plpy: Plpy, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(Database(plpy), *args, **kwargs)
        except PgchunkError as error:
            caught = error
        fields = {"detail": caught.detail, "hint": caught.hint, "sqlstate": caught.sqlstate}
        plpy.error(caught.message, **{name: value for name, value in fields.items() if value})

    return entry
