"""Long work gives its caller a chance to stop it."""

from __future__ import annotations

from collections.abc import Callable

#: Called often during long work; raises to stop it.
Checkpoint = Callable[[], None]


def no_checkpoint() -> None:
    """Goes on."""
