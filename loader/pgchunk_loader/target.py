"""Where a load goes to and what it may do there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """The database side of a load.

    Attributes:
        dsn: a libpq connection string; empty: the PG* variables.
        collection: a name, or None for the only one or 'default'.
        strategy: a strategy's name for every document, or None.
        connections: how many to write on.
        prune: whether documents of the root whose file is gone are deleted.
        yes: whether that is done without asking, however many there are.
    """

    dsn: str = ""
    collection: str | None = None
    strategy: str | None = None
    connections: int = 1
    prune: bool = False
    yes: bool = False
