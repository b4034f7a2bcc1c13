"""Bytes to text, and reading what does not stand still."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from pgchunk_loader import text
from pgchunk_loader.problems import SkipError
from pgchunk_loader.text import decode, read_text


@pytest.mark.parametrize("content", ["", "plain", "ö 大 🙂", "a\r\nb\rc\u2028d\x0c", "\ufeff twice marked"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_what_is_marked_as_unicode_is_decoded_verbatim(content: str, encoding: str) -> None:
    mark = b"" if encoding == "utf-8-sig" else "\ufeff".encode(encoding)
    assert decode(mark + content.encode(encoding)) == content


def test_utf8_needs_no_mark() -> None:
    assert decode("ö 大 🙂".encode()) == "ö 大 🙂"


@pytest.mark.parametrize(
    "data",
    [
        "Größe".encode("latin-1"),
        "日本語".encode("shift_jis"),
        b"\xed\xa0\x80",  # a surrogate in UTF-8
        b"\xc0\x80",  # an overlong NUL
        b"\xff\xfea",  # half a UTF-16 character
        b"\xff\xfe\x00\xd8",  # a lone surrogate in UTF-16
        "\ufeffx".encode("utf-32-le"),
        "\ufeffx".encode("utf-32-be"),
        b"\x89PNG\r\n\x1a\n",
    ],
)
def test_what_is_not_text_is_refused(data: bytes) -> None:
    with pytest.raises(SkipError) as caught:
        decode(data)
    assert caught.value.reason == text.NOT_TEXT
    assert caught.value.detail


@pytest.mark.parametrize("data", [b"a\0b", "\ufeffa\0b".encode("utf-16-le"), "a".encode("utf-16-be")])
def test_a_nul_is_refused_in_every_encoding(data: bytes) -> None:
    with pytest.raises(SkipError) as caught:
        decode(data)
    assert caught.value.reason == text.HOLDS_NUL


@pytest.mark.parametrize(("size", "fits"), [(9, True), (10, True), (11, False)])
def test_the_limit_counts_bytes(tmp_path: Path, size: int, fits: bool) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * size)
    if fits:
        assert read_text(path, 10) == "x" * size
    else:
        with pytest.raises(SkipError, match=text.TOO_LARGE):
            read_text(path, 10)


def reason(path: Path) -> str:
    with pytest.raises(SkipError) as caught:
        read_text(path, 1000)
    return caught.value.reason


def test_what_is_no_longer_a_file_is_not_opened(tmp_path: Path) -> None:
    target = tmp_path / "target.md"
    target.write_text("x")
    (tmp_path / "link.md").symlink_to(target)
    (tmp_path / "directory.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    assert reason(tmp_path / "link.md") == text.NOT_A_FILE
    assert reason(tmp_path / "directory.md") == text.NOT_A_FILE
    assert reason(tmp_path / "pipe.md") == text.NOT_A_FILE
    assert reason(tmp_path / "gone.md") == text.VANISHED
    assert reason(target / "below a file.md") == text.VANISHED


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, (text.DENIED, "")),
        (errno.EPERM, (text.DENIED, "Operation not permitted")),
        (errno.ENOENT, (text.VANISHED, "No such file or directory")),
        (errno.EIO, (text.UNREADABLE, "Input/output error")),
    ],
)
def test_the_systems_words_are_given_unless_they_are_ours(number: int, said: tuple[str, str]) -> None:
    found = text.reason_of(OSError(number, os.strerror(number)))
    assert (found.reason, found.detail) == said


def test_a_file_that_grows_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    real, times = os.read, iter([1])

    def read_and_write(descriptor: int, length: int) -> bytes:
        data = real(descriptor, length)
        if next(times, None):
            path.write_text("old and new")
        return data

    monkeypatch.setattr(text.os, "read", read_and_write)
    assert read_text(path, 1000) == "old and new"


def test_a_file_that_never_stands_still_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.md"
    path.write_text("x")
    real = os.read

    def read_and_write(descriptor: int, length: int) -> bytes:
        data = real(descriptor, length)
        if not data:
            path.write_text(path.read_text() + "x")
        return data

    monkeypatch.setattr(text.os, "read", read_and_write)
    assert reason(path) == text.CHANGING


def test_a_reader_never_sees_half_of_two_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    whole = {"a" * 50_000, "b" * 70_000}
    path.write_text("a" * 50_000)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            for content in whole:
                new = tmp_path / "new"
                new.write_text(content)
                new.replace(path)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {read_text(path, 100_000) for _ in range(100)} <= whole
    finally:
        stop.set()
        writer.join()
