"""Where a page goes."""

from __future__ import annotations

import os
import re
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.model import build_page
from pgchunk_loader.inspect.page import GENERATOR, render
from pgchunk_loader.problems import UnusableError
from pgchunk_loader.report import Screen, printable

ENDING: Final = ".chunks.html"
#: What a name made from a document's keeps of it.
_PLAIN: Final = re.compile(r"[^\w.-]+")
_LONGEST_NAME: Final = 80
#: Our mark stands in the first lines of a page, in bytes.
_HEAD: Final = 2048


@dataclass(frozen=True, slots=True)
class Target:
    """Where a page goes.

    Attributes:
        path: None: standard output.
        open: whether a browser shows it then.
    """

    path: Path | None
    open: bool = False


def target_of(name: str, output: Path | None, *, open_page: bool) -> Target:
    """Where the page of a document goes; known before anything is read.

    Args:
        name: the file, '-' or the source_uri.
        output: what was asked for, '-' for standard output; None: standard output for standard input, else a name
            made of the document's, in the working directory.

    Raises:
        UnusableError: a browser cannot be shown standard output, a terminal cannot show a page, or the name made of
            the document's is that of a file which is not such a page.
    """
    path = output if output is not None else Path("-" if name == "-" else file_name(name))
    if str(path) != "-":
        if output is None and path.exists() and not _is_ours(path):
            raise UnusableError(f"{str(path)!r} exists, and is no page of pgchunk inspect", "Name a file with -o.")
        return Target(path, open_page)
    if open_page:
        raise UnusableError("--open cannot show standard output", "Name a file with -o.")
    if sys.stdout.isatty():
        raise UnusableError("a terminal cannot show the page", "Name a file with -o, or redirect standard output.")
    return Target(None)


def file_name(name: str) -> str:
    """What a page is called that has been given no name."""
    last = re.sub(r"[?#].*\Z", "", name).rstrip("/").rsplit("/", 1)[-1]
    stem = Path(last).stem if Path(last).suffix else last
    return (_PLAIN.sub("-", stem).strip("-.")[:_LONGEST_NAME] or "document") + ENDING


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return f'content="{GENERATOR} '.encode() in file.read(_HEAD)
    except OSError:
        return False


def write_page(document: Document, cuts: Sequence[Cut], target: Target, screen: Screen) -> None:
    """Writes the page and says where it is.

    Raises:
        UnusableError: it cannot be written.
    """
    data = render(build_page(document, cuts)).encode()
    if target.path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        target.path.write_bytes(data)
    except OSError as error:
        raise UnusableError(
            f"{str(target.path)!r} cannot be written: {error.strerror}", "Name another file with -o."
        ) from None
    screen.note(f"wrote {printable(os.fspath(target.path))}")
    if target.open and not webbrowser.open(target.path.resolve().as_uri()):
        screen.note("no browser was found to open it with")
