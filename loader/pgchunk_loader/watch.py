"""Watching: a load whenever the tree has changed, until it is interrupted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final

from watchfiles import Change, watch

from pgchunk_loader.problems import UnusableError

#: How long a change may wait to be seen, in milliseconds.
_POLL_MS: Final = 200


def changes(directory: Path, stop: Event | None = None, *, hidden: bool = False) -> Iterator[int]:
    """Yields once when the watch is set up, then each time the tree has changed and come to rest.

    Nothing that happens after the first yield is missed, so the first load belongs inside the loop. What is
    yielded, the number of changed paths, is only a sign to load: the load itself finds out what changed.
    Dotfiles and what lies in dot-directories are not documents and wake nobody, but a .gitignore does; with
    ``hidden`` they wake us too, except for what is in .git.

    Raises:
        UnusableError: the system does not let us watch the directory.
    """
    prefix = os.path.join(directory, "")

    def concerns_us(_change: Change, path: str) -> bool:
        dotted = [part for part in path.removeprefix(prefix).split("/") if part.startswith(".")]
        return not dotted or dotted == [".gitignore"] or (hidden and ".git" not in dotted)

    signs = watch(directory, watch_filter=concerns_us, stop_event=stop, rust_timeout=_POLL_MS, yield_on_timeout=True)
    try:
        for number, changed in enumerate(signs):
            if changed or number == 0:
                yield len(changed)
    except OSError as error:
        raise UnusableError(f"cannot watch {os.fspath(directory)!r}: {error}") from error
