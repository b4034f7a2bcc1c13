"""Bytes of a file to text: UTF-8 or, with a byte-order mark, UTF-16; nothing else passes for text."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from pathlib import Path
from typing import Final

from pgchunk_loader.problems import SkipError

NOT_TEXT: Final = "not text"
HOLDS_NUL: Final = "holds a NUL character"
TOO_LARGE: Final = "over --max-bytes"
DENIED: Final = "permission denied"
VANISHED: Final = "vanished while being read"
CHANGING: Final = "kept changing while being read"
UNREADABLE: Final = "not readable"
NOT_A_FILE: Final = "no longer a regular file"

#: How often a file that changes while it is read is read again.
READ_ATTEMPTS: Final = 3

_OPEN_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_REASONS: Final = {
    errno.EACCES: DENIED,
    errno.EPERM: DENIED,
    errno.ENOENT: VANISHED,
    errno.ENOTDIR: VANISHED,
    errno.ELOOP: NOT_A_FILE,
    errno.ENXIO: NOT_A_FILE,
}


def decode(data: bytes) -> str:
    """The text in the bytes of a file, without its byte-order mark.

    Raises:
        SkipError: the bytes are in no encoding that is taken, or hold a NUL, which PostgreSQL cannot store.
    """
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        known = encoding.removesuffix("-sig").upper()
        detail = f"byte {error.start} is not {known}; convert it first, for instance with iconv, or --exclude it"
        raise SkipError(NOT_TEXT, detail) from None
    position = text.find("\0")
    if position >= 0:
        raise SkipError(
            HOLDS_NUL, f"at character {position}; PostgreSQL cannot store that: remove it or --exclude the file"
        )
    return text


def _encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise SkipError(NOT_TEXT, "its byte-order mark is that of UTF-32; UTF-8 and UTF-16 are taken")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


def reason_of(error: OSError) -> SkipError:
    """The words for a file or directory that the system does not let us read."""
    reason = _REASONS.get(error.errno or 0, UNREADABLE)
    detail = error.strerror or str(error)
    return SkipError(reason, "" if detail.lower() == reason else detail)


def read_text(path: Path, max_bytes: int) -> str:
    """Reads a whole file as text, the state of one moment.

    Args:
        path: a regular file; a symbolic link or a pipe that has taken its place is not opened.
        max_bytes: what a longer file is refused by, in bytes.

    Raises:
        SkipError: it is too large, not text, not readable, gone, or never stood still.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            data = _read_at_rest(path, max_bytes)
        except OSError as error:
            raise reason_of(error) from None
        if data is not None:
            return decode(data)
    raise SkipError(CHANGING, f"{READ_ATTEMPTS} times in a row")


def _read_at_rest(path: Path, max_bytes: int) -> bytes | None:
    """The bytes of the file; None when it changed while they were read."""
    descriptor = os.open(path, _OPEN_FLAGS)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise SkipError(NOT_A_FILE)
        data = _read_up_to(descriptor, max_bytes + 1)
        if max(len(data), before.st_size) > max_bytes:
            raise SkipError(TOO_LARGE, f"{max(len(data), before.st_size):,} bytes")
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if same and len(data) == after.st_size else None


def _read_up_to(descriptor: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(descriptor, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
