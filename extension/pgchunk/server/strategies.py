"""Strategies as rows of ``pgchunk.strategies``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final

from pgchunk.errors import InvalidOption, UnknownStrategy
from pgchunk.server import recipes
from pgchunk.server.database import Database, Row
from pgchunk.server.errors import reported
from pgchunk.strategy import OPTION_NAMES, STRATEGIES, Strategy
from pgchunk.tokenizers import get_tokenizer

_ROWS: Final = "SELECT s.name, to_jsonb(s) AS options FROM pgchunk.strategies AS s WHERE "


class _Ours:
    """Whether pgchunk itself writes: its rows are not customised, and no default is looked for."""

    writing = False

    @classmethod
    @contextmanager
    def write(cls) -> Iterator[None]:
        cls.writing = True
        try:
            yield
        finally:
            cls.writing = False


def are_shipped() -> bool:
    """Whether it is pgchunk itself that writes strategies just now."""
    return _Ours.writing


def active(db: Database) -> list[Strategy]:
    """The strategies that documents without a choice of their own are chunked with."""
    return _strategies(db.fetch(_ROWS + "s.is_active ORDER BY s.name"))


def default(db: Database) -> Strategy:
    """The strategy used when none is named."""
    return _strategies(db.fetch(_ROWS + "s.is_default"))[0]


def known(db: Database, names: Iterable[str]) -> list[Strategy]:
    """Those of the named strategies that exist."""
    return _strategies(db.fetch(_ROWS + "s.name = ANY ($1) ORDER BY s.name", ["text[]"], list(names)))


def named(db: Database, name: str) -> Strategy:
    """The strategy of this name.

    Raises:
        UnknownStrategy: there is none.
    """
    found = known(db, [name])
    if not found:
        names = db.fetch("SELECT name FROM pgchunk.strategies ORDER BY name")
        raise UnknownStrategy(
            f"unknown strategy {name!r}",
            detail=f"The strategies are {', '.join(row['name'] for row in names)}.",
            hint="Give one of these names, or add a row to pgchunk.strategies.",
        )
    return found[0]


def chosen(db: Database, name: str | None, overrides: str | None) -> Strategy:
    """The strategy for a preview.

    Args:
        name: a strategy's name; None: the default one.
        overrides: JSON object of options to change; None: none.

    Raises:
        UnknownStrategy: no strategy has this name.
        InvalidOption: an override is unknown or out of range.
    """
    strategy = default(db) if name is None else named(db, name)
    options = json.loads(overrides) if overrides is not None else {}
    if not isinstance(options, dict):
        raise InvalidOption(
            f"overrides are not a JSON object: {overrides}",
            detail=f"The options are {', '.join(OPTION_NAMES)}.",
            hint="""Give an object such as '{"max_tokens": 256}'.""",
        )
    return strategy.with_overrides(**options)


def of_row(row: Row) -> Strategy:
    """The strategy of a row of pgchunk.strategies.

    Raises:
        InvalidOption: an option is out of its range.
    """
    return Strategy.from_mapping(row["name"], {option: row[option] for option in OPTION_NAMES})


def _strategies(rows: Iterable[Row]) -> list[Strategy]:
    return [_parse(row["name"], row["options"]) for row in rows]


@lru_cache(maxsize=64)
def _parse(name: str, options: str) -> Strategy:
    return of_row(json.loads(options) | {"name": name})


@reported
def strategies_before(db: Database, trigger: dict[str, Any]) -> str:
    """Checks the row that is being written and sets what follows from it.

    Raises:
        InvalidOption: an option is out of its range.
        TokenizerDataMissing: the tokenizer hf:NAME is not installed.
    """
    row = trigger["new"]
    strategy = of_row(row)
    restoring = trigger["event"] == "INSERT" and row["customized"]
    if strategy.tokenizer.startswith("hf:") and not restoring:
        get_tokenizer(strategy.tokenizer)  # better refused here than at the next document
    if restoring:
        # A dump being restored: its row takes the place of the shipped one that CREATE EXTENSION wrote.
        with _Ours.write():
            db.fetch("DELETE FROM pgchunk.strategies WHERE name = $1 AND NOT customized", ["text"], row["name"])
    trigger["new"] = {
        "split_levels": list(strategy.split_levels),
        "recipe_hash": strategy.recipe_hash,
        "customized": not _Ours.writing,
    }
    return "MODIFY"


@reported
def strategies_after(db: Database) -> None:
    """Checks, at the end of a statement, that there is a default.

    Raises:
        InvalidOption: no strategy is the default.
    """
    if _Ours.writing:
        return
    if not db.fetch("SELECT 1 FROM pgchunk.strategies WHERE is_active"):
        db.warning("no strategy is active: documents get no chunks until one is, unless their metadata pick one")
    if not db.fetch("SELECT 1 FROM pgchunk.strategies WHERE is_default"):
        raise InvalidOption(
            "no strategy is the default",
            detail="preview() and others use the default strategy when none is named.",
            hint="Move the mark in one statement: UPDATE pgchunk.strategies SET is_default = (name = '...').",
        )


@reported
def ship_strategies(db: Database) -> None:
    """Writes the shipped strategies; rows that somebody has customised keep their options."""
    with _Ours.write():
        recipes.forget_shipped(db)
        for strategy in STRATEGIES.values():
            _ship(db, strategy)
    # An update of the chunker changes the recipe of every row; the trigger sets it anew.
    db.fetch("UPDATE pgchunk.strategies SET name = name WHERE customized")


def _ship(db: Database, strategy: Strategy) -> None:
    options = ", ".join(OPTION_NAMES)
    columns = ", ".join(["name", *OPTION_NAMES])
    row = {name: getattr(strategy, name) for name in ("name", *OPTION_NAMES)} | {
        "split_levels": list(strategy.split_levels)
    }
    db.fetch(
        f"INSERT INTO pgchunk.strategies AS s ({columns}) SELECT {columns}"
        " FROM jsonb_populate_record(NULL::pgchunk.strategies, $1)"
        f" ON CONFLICT (name) DO UPDATE SET ({options}) ="
        f" ROW ({', '.join('excluded.' + name for name in OPTION_NAMES)}) WHERE NOT s.customized",
        ["jsonb"],
        json.dumps(row),
    )
    if strategy.name == "default":
        db.fetch(
            "UPDATE pgchunk.strategies SET is_active = true, is_default = true"
            " WHERE name = $1 AND NOT customized"
            " AND NOT EXISTS (SELECT 1 FROM pgchunk.strategies WHERE is_default)",
            ["text"],
            strategy.name,
        )
