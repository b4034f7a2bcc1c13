"""The database: connecting, finding the tables, and going on after a lost connection."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_delay,
    wait_random_exponential,
)

from pgchunk_loader import queries
from pgchunk_loader.metadata import STRATEGY_KEY
from pgchunk_loader.problems import UnusableError

T = TypeVar("T")
Note = Callable[[str], None]
Connection = AsyncConnection[tuple[Any, ...]]

#: Seconds for which a lost server is tried again before the command gives up.
RETRY_FOR: Final = 120.0
#: Seconds for one attempt to get a connection.
CONNECT_TIMEOUT: Final = 10.0
LONGEST_PAUSE: Final = 5.0

#: The server ended the session, is starting or stopping, is full, or asks for another try.
_TRY_AGAIN: Final = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01"})
#: No document would fare better: the disk is full, the server is read-only, or something is not installed.
_HOPELESS: Final = frozenset({"53100", "25006", "3F000", "MD005", "MD007"})
_NO_PRIVILEGE: Final = "42501"


@dataclass(frozen=True, slots=True)
class Needs:
    """The rights on the tables that a command cannot do without; USAGE on schema pgchunk it always needs."""

    documents: tuple[str, ...]
    chunks: tuple[str, ...] = ()


TO_LOAD: Final = Needs(("SELECT", "INSERT", "UPDATE"))
TO_PRUNE: Final = Needs(("SELECT", "INSERT", "UPDATE", "DELETE"))
TO_READ: Final = Needs(("SELECT",), ("SELECT",))


@dataclass(frozen=True, slots=True)
class Collection:
    """A pair of tables, found by name.

    Attributes:
        names: identifiers that the statements of `queries` are composed with.
        metadata_column: the jsonb column for front matter; None when there is none.
        format_column: None when all documents are markdown.
    """

    name: str
    names: dict[str, sql.Composable]
    metadata_column: str | None
    format_column: str | None
    may_select_chunks: bool

    def compose(self, query: LiteralString, **more: sql.Composable) -> bytes:
        """A statement of `queries` for these tables, to be executed with parameters, even if none: {}."""
        return sql.SQL(query).format(**self.names, **more).as_bytes(None)


def identifier(*names: str) -> sql.Identifier:
    """A quoted name for a statement with parameters, in which a lone % would begin a placeholder."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))


def is_lost(error: BaseException) -> bool:
    """Whether a connection, not a statement, failed: the same work may go well on the next one."""
    if not isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return False
    state = error.sqlstate
    return state is None or state.startswith("08") or state in _TRY_AGAIN


def is_hopeless(error: psycopg.Error) -> bool:
    """Whether every other document would be refused for the same reason."""
    state = error.sqlstate or ""
    return state in _HOPELESS or (state.startswith("42") and state != _NO_PRIVILEGE)


def words(error: psycopg.Error) -> tuple[str, str | None]:
    """The server's message with its SQLSTATE and detail, and its hint."""
    diag = error.diag
    message = (diag.message_primary or str(error).strip() or type(error).__name__).removeprefix("plpy.Error: ")
    if diag.message_detail:
        message += f"; {diag.message_detail}"
    if error.sqlstate:
        message += f" [{error.sqlstate}]"
    return message, diag.message_hint


def as_unusable(error: psycopg.Error) -> UnusableError:
    """An error of the server that ends the command."""
    message, hint = words(error)
    return UnusableError(message, hint)


class Database:
    """A pool of connections to one database and the tables of one collection in it."""

    def __init__(self, pool: AsyncConnectionPool[Connection], collection: Collection, note: Note) -> None:
        self._pool = pool
        self.collection = collection
        self._note = note

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Does some work on a connection, and again on another one when that is lost.

        Args:
            work: must be safe to do twice: the first time may have been committed without our hearing of it.

        Raises:
            UnusableError: the server stays away, or refuses what does not depend on one document.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception(is_lost),
            wait=wait_random_exponential(multiplier=0.2, max=LONGEST_PAUSE),
            stop=stop_after_delay(RETRY_FOR),
            before_sleep=self._say_lost,
            reraise=True,
        )
        try:
            return await retrying(self._once, work)
        except psycopg.Error as error:
            raise as_unusable(error) from error

    async def _once(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._pool.connection() as connection:
            try:
                return await work(connection)
            except psycopg.Error as error:
                if connection.broken and not is_lost(error):
                    raise psycopg.OperationalError(words(error)[0]) from error
                raise

    def _say_lost(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if state.attempt_number == 1 and isinstance(error, psycopg.Error):
            self._note(f"connection lost, trying again: {' '.join(words(error)[0].split())}")


@asynccontextmanager
async def open_database(
    dsn: str, name: str | None, connections: int, note: Note, *, needs: Needs = TO_LOAD
) -> AsyncIterator[Database]:
    """Connects, finds the collection, and keeps a pool open while the block runs.

    Args:
        dsn: a libpq connection string; empty: the PG* variables and libpq's defaults.
        name: of the collection; None: 'default', or the only one.
        connections: how many may be open at the same time.
        note: takes a line for a person.
        needs: what this role must be allowed to do.

    Raises:
        UnusableError: no server, no extension, no tables, or no right to use them; the hint says what to run.
    """
    conninfo = checked_dsn(dsn)
    collection = await _look_up(conninfo, name, needs)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    pool = AsyncConnectionPool(
        conninfo,
        connection_class=AsyncConnection[tuple[Any, ...]],
        kwargs={"autocommit": True},
        min_size=1,
        max_size=connections,
        timeout=CONNECT_TIMEOUT,
        reconnect_timeout=LONGEST_PAUSE,
        check=AsyncConnectionPool.check_connection,
        open=False,
    )
    async with pool:
        yield Database(pool, collection, note)


def checked_dsn(dsn: str) -> str:
    """The connection string with the name that pg_stat_activity shows.

    Raises:
        UnusableError: it is not a connection string.
    """
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise UnusableError(f"not a connection string: {str(error).strip()}", _DSN_HINT) from None
    defaults: dict[str, Any] = {
        "application_name": "pgchunk",
        "connect_timeout": int(CONNECT_TIMEOUT),
        "client_encoding": "utf8",
    }
    return make_conninfo(**{**defaults, **given})


_DSN_HINT: Final = (
    "Give --dsn, PGCHUNK_DSN or libpq's PG* variables, for instance --dsn 'host=/tmp dbname=app' or "
    "--dsn postgresql://user@host/app. `make -s serve | tail -1` in a checkout of pgchunk prints one."
)


async def _look_up(conninfo: str, name: str | None, needs: Needs) -> Collection:
    try:
        connection = await AsyncConnection.connect(conninfo, autocommit=True, row_factory=dict_row)
    except psycopg.OperationalError as error:
        raise UnusableError(f"no connection: {' '.join(str(error).split())}", _DSN_HINT) from None
    try:
        async with connection:
            return await _find_collection(connection, name, needs)
    except psycopg.Error as error:
        raise as_unusable(error) from error


async def _find_collection(connection: AsyncConnection[dict[str, Any]], name: str | None, needs: Needs) -> Collection:
    installed = await (await connection.execute(queries.INSTALLED)).fetchone()
    if installed is None:
        database = connection.info.dbname
        raise UnusableError(
            f"the extension pgchunk is not installed in database {database!r}",
            f"In {database!r} run: CREATE EXTENSION pgchunk CASCADE; SELECT pgchunk.create_tables();",
        )
    if not installed["may_use"]:
        raise UnusableError(
            f"role {installed['role']!r} may not use schema pgchunk",
            f"As an administrator run: GRANT USAGE ON SCHEMA pgchunk TO {quoted(installed['role'])}",
        )
    rows = await (await connection.execute(queries.COLLECTION)).fetchall()
    row = _choose(rows, name)
    _check_rights(row, needs, installed["role"])
    return _collection(row)


def _check_rights(row: dict[str, Any], needs: Needs, role: str) -> None:
    """Looks for each right that is needed before it is used, to name them all at once."""
    lacking, grants = [], []
    for table, rights, suffix in (("documents", needs.documents, ""), ("chunks", needs.chunks, "_chunks")):
        schema = quoted(row[f"{table}_schema"])
        name = f"{schema}.{quoted(row[f'{table}_table'])}"
        if rights and not row[f"may_use_{table}"]:
            lacking.append(f"USAGE on schema {schema}")
            grants.append(f"GRANT USAGE ON SCHEMA {schema} TO {quoted(role)}")
        if missing := [right for right in rights if not row[f"may_{right.lower()}{suffix}"]]:
            lacking.append(f"{', '.join(missing)} on table {name}")
            grants.append(f"GRANT {', '.join(rights)} ON {name} TO {quoted(role)}")
    if lacking:
        raise UnusableError(
            f"role {role!r} lacks {' and '.join(dict.fromkeys(lacking))}",
            f"As the owner run: {'; '.join(dict.fromkeys(grants))}",
        )


def _choose(rows: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    """The collection of that name whose tables are there; without a name 'default', or the only one."""
    there = {row["name"]: row for row in rows if row["documents_table"] and row["chunks_table"]}
    if name is None and len(there) == 1:
        return next(iter(there.values()))
    if (name or "default") in there:
        return there[name or "default"]
    if not there:
        raise UnusableError("there are no tables for documents yet", "Run: SELECT pgchunk.create_tables()")
    known = ", ".join(repr(each) for each in there)
    if name is None:
        raise UnusableError(
            "there are several collections and none is called 'default'", f"Give --collection: {known}."
        )
    raise UnusableError(f"there is no collection {name!r}", f"The collections are {known}.")


def _collection(row: dict[str, Any]) -> Collection:
    if row["uri_column"] is None:
        raise UnusableError(
            f"collection {row['name']!r} has no column for source_uri",
            "The loader knows a document by it; load into another collection.",
        )
    names: dict[str, sql.Composable] = {
        "documents": identifier(row["documents_schema"], row["documents_table"]),
        "chunks": identifier(row["chunks_schema"], row["chunks_table"]),
        "key": identifier(row["key_column"]),
        "uri": identifier(row["uri_column"]),
        "content": identifier(row["content_column"]),
    }
    hashed = sql.SQL("encode(sha256(convert_to(d.{}, 'UTF8')), 'hex')").format(names["content"])
    names["hash"] = identifier("d", row["hash_column"]) if row["hash_column"] else hashed
    for name in ("title", "format", "metadata"):
        column = row[f"{name}_column"]
        names[name] = identifier("d", column) if column else sql.NULL
    choice = sql.SQL("({} ->> {})").format(names["metadata"], sql.Literal(STRATEGY_KEY))
    names["choice"] = choice if row["metadata_column"] else sql.SQL("NULL::text")
    return Collection(
        name=row["name"],
        names=names,
        metadata_column=row["metadata_column"],
        format_column=row["format_column"],
        may_select_chunks=row["may_select_chunks"],
    )


def quoted(name: str) -> str:
    """A name as SQL takes it, for statements that a person is asked to run."""
    plain = name.isidentifier() and name == name.lower() and name.isascii()
    return name if plain else '"' + name.replace('"', '""') + '"'
