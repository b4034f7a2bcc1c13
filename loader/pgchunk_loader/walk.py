"""The files of a tree that are to be loaded, in an order that is the same on every run."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from pgchunk_loader.patterns import file_patterns, given_patterns
from pgchunk_loader.problems import SkipError
from pgchunk_loader.text import TOO_LARGE, reason_of

EXTENSIONS: Final = (".md", ".markdown", ".mdx", ".txt")
DEFAULT_MAX_BYTES: Final = 8 * 1024 * 1024

#: Why something is left out by rule. That is what was asked for, so it is counted but is no fault.
SYMLINK: Final = "symbolic link"
HIDDEN: Final = "dotfile"
OTHER_TYPE: Final = "other file type"
EXCLUDED: Final = "excluded"
IGNORED: Final = "in .gitignore"
SPECIAL: Final = "not a regular file"

#: Called with a path below the root and why it is left out, or why it cannot be read.
LeftOut = Callable[[str, str], None]
Failed = Callable[[str, SkipError], None]


@dataclass(frozen=True, slots=True)
class Rules:
    """What belongs to the documents of a tree. Patterns are those of .gitignore, relative to the root.

    Raises:
        UnusableError: a pattern of include or exclude is broken.
    """

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    gitignore: bool = False
    max_bytes: int = DEFAULT_MAX_BYTES
    #: whether dotfiles and dot-directories count too; .git never does
    hidden: bool = False
    _include: GitIgnoreSpec = field(init=False, repr=False)
    _exclude: GitIgnoreSpec = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_include", given_patterns("--include", self.include))
        object.__setattr__(self, "_exclude", given_patterns("--exclude", self.exclude))

    def wants(self, relative: str) -> bool:
        """Whether a file is of a type that is loaded."""
        return relative.lower().endswith(EXTENSIONS) or self._include.match_file(relative)

    def excludes(self, relative: str) -> bool:
        """Whether --exclude names a path; that of a directory ends in a slash."""
        return self._exclude.match_file(relative)


def walk(root: Path, rules: Rules, left_out: LeftOut, failed: Failed) -> Iterator[str]:
    """Yields the files to load as paths below the root; memory grows with the largest directory.

    Args:
        root: an absolute directory.
        left_out: called for what the rules leave out.
        failed: called for what cannot be read and for files that are too large; the walk goes on.
    """
    above = _enclosing_gitignores(root) if rules.gitignore else []
    open_directories = [_open(root, "", rules, above, failed)]
    while open_directories:
        directory = open_directories[-1]
        entry = next(directory.entries, None)
        if entry is None:
            open_directories.pop()
            continue
        path = directory.relative + entry.name
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            failed(path, reason_of(error))
            continue
        is_directory = stat.S_ISDIR(status.st_mode)
        reason = _why_not(entry.name, path, status.st_mode, rules, root, directory.ignores)
        if reason is not None:
            left_out(path, reason)
        elif is_directory:
            open_directories.append(_open(root, path + "/", rules, directory.ignores, failed))
        elif status.st_size > rules.max_bytes:
            failed(path, SkipError(TOO_LARGE, f"{status.st_size:,} bytes"))
        else:
            yield path


@dataclass(frozen=True, slots=True)
class _Directory:
    """A directory that is being walked: what is left of it, and the .gitignore files that hold in it."""

    relative: str
    entries: Iterator[os.DirEntry[str]]
    ignores: list[_Gitignore]


def _open(root: Path, relative: str, rules: Rules, ignores: list[_Gitignore], failed: Failed) -> _Directory:
    try:
        with os.scandir(os.path.join(root, relative)) as entries:
            ordered = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        failed(relative or ".", reason_of(error))
        ordered = []
    if rules.gitignore:
        ignores = [*ignores, *_gitignore_in(root / relative)]
    return _Directory(relative, iter(ordered), ignores)


def _why_not(name: str, path: str, mode: int, rules: Rules, root: Path, ignores: list[_Gitignore]) -> str | None:
    """Why a path is left out; None when it is walked into or loaded."""
    if stat.S_ISLNK(mode):
        return SYMLINK
    if name.startswith(".") and (not rules.hidden or name == ".git"):
        return HIDDEN
    if stat.S_ISDIR(mode):
        path += "/"
    elif not rules.wants(path):
        return OTHER_TYPE
    elif not stat.S_ISREG(mode):
        return SPECIAL
    if rules.excludes(path):
        return EXCLUDED
    return IGNORED if ignores and _ignored(root, path, ignores) else None


@dataclass(frozen=True, slots=True)
class _Gitignore:
    """The patterns of one .gitignore, which hold below its directory."""

    directory: Path
    patterns: GitIgnoreSpec


def _ignored(root: Path, path: str, ignores: list[_Gitignore]) -> bool:
    """Whether git would ignore a path: the last pattern of the deepest .gitignore that knows it decides."""
    absolute = os.path.join(root, path)
    for ignore in reversed(ignores):
        relative = absolute.removeprefix(os.path.join(ignore.directory, ""))
        verdict = ignore.patterns.check_file(relative).include
        if verdict is not None:
            return verdict
    return False


def _gitignore_in(directory: Path) -> list[_Gitignore]:
    path = directory / ".gitignore"
    if path.is_symlink():
        return []
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="surrogateescape").split("\n")
    except OSError:
        return []
    return [_Gitignore(directory, file_patterns(lines))]


def _enclosing_gitignores(root: Path) -> list[_Gitignore]:
    """Those above the root, up to the top of the repository that it lies in; outermost first."""
    if (root / ".git").exists():
        return []
    above = []
    for directory in root.parents:
        above.append(directory)
        if (directory / ".git").exists():
            return [ignore for each in reversed(above) for ignore in _gitignore_in(each)]
    return []
