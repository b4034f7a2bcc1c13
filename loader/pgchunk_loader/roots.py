"""The identity of a document: what its source_uri is, and which file a source_uri stands for."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote_to_bytes, urlsplit

from pgchunk_loader.problems import SkipError, UnusableError

BAD_NAME: Final = "name is not UTF-8"
#: Characters that stand for themselves in a path segment of a URL (RFC 3986, pchar).
_PLAIN_IN_URL: Final = "!$&'()*+,;=:@"


@dataclass(frozen=True, slots=True)
class Root:
    """A directory and the prefix that the source_uri of everything below it has.

    Attributes:
        directory: absolute, with no symbolic link in it, so that it is the same from every working directory.
        base_url: what stands for the directory in a source_uri, without a trailing slash; None: its own path.
    """

    directory: Path
    base_url: str | None = None

    @property
    def prefix(self) -> str:
        """What the source_uri of each document of this root begins with, and of no other document."""
        if self.base_url is not None:
            return self.base_url + "/"
        return os.path.join(_utf8(os.fspath(self.directory)), "")

    def uri(self, relative: str) -> str:
        """The source_uri of a file.

        Args:
            relative: its path below the root.

        Raises:
            SkipError: the path is not UTF-8 and there is no base URL to percent-encode it for.
        """
        if self.base_url is None:
            return self.prefix + _utf8(relative)
        return self.prefix + "/".join(quote(os.fsencode(part), safe=_PLAIN_IN_URL) for part in relative.split("/"))

    def relative(self, uri: str) -> str | None:
        """The path below the root that a source_uri stands for; None when it stands for none."""
        if not uri.startswith(self.prefix):
            return None
        rest = uri.removeprefix(self.prefix)
        relative = rest if self.base_url is None else os.fsdecode(unquote_to_bytes(rest))
        ours = "\0" not in relative and not {"", ".", ".."} & set(relative.split("/")) and self.uri(relative) == uri
        return relative if ours else None

    def is_gone(self, uri: str) -> bool:
        """Whether no regular file is left for a source_uri of this root.

        A file that may be there but cannot be looked at is not gone, nor is one that the walk leaves out.
        """
        relative = self.relative(uri)
        if relative is None:
            return False
        path = self.directory
        for part in relative.split("/"):
            path = path / part
            try:
                mode = path.lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                return True
            except OSError:
                return False
            if stat.S_ISLNK(mode):
                return True
        return not stat.S_ISREG(mode)


def open_root(path: Path, base_url: str | None) -> tuple[Root, str | None]:
    """The root for a path on the command line, and the file's name when the path is one file.

    Raises:
        UnusableError: there is no such file or directory, or the base URL is not one.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableError(f"cannot read {os.fspath(path)!r}: {reason[:1].lower()}{reason[1:]}") from None
    base = None if base_url is None else _checked_url(base_url)
    if base is None and not _is_utf8(os.fspath(real)):
        raise UnusableError(f"{os.fspath(path)!r} is not UTF-8", "Rename it, or load with --base-url.")
    if stat.S_ISDIR(mode):
        if not os.access(real, os.R_OK | os.X_OK):
            raise UnusableError(f"cannot read {os.fspath(path)!r}: permission denied")
        return Root(real, base), None
    if stat.S_ISREG(mode):
        return Root(real.parent, base), real.name
    raise UnusableError(f"{os.fspath(path)!r} is neither a directory nor a regular file")


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UnusableError(f"invalid --base-url {url!r}: {error}") from None
    if not parts.scheme or parts.query or parts.fragment or url != url.strip():
        raise UnusableError(
            f"invalid --base-url {url!r}",
            "Give scheme, host and path, for instance https://example.org/docs, without '?' or '#'.",
        )
    return url.rstrip("/")


def _utf8(path: str) -> str:
    if not _is_utf8(path):
        raise SkipError(BAD_NAME, "it has no source_uri; rename it, or load with --base-url")
    return path


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
