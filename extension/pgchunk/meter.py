"""Exact token counts of slices of one document, without tokenizing any text much more often than once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final

from pgchunk.tokenizers import Tokenizer

#: How far a seam is looked for, in characters, before a text is tokenized whole instead.
_SEAM_REACH: Final = 96
#: Remembered measurements; a document of any length keeps the meter small.
_MEMORY: Final = 4096


class Meter:
    """Counts slices of a text by adding up over seams (see `pgchunk.tokenizers`).

    Args:
        text: the document.
        tokenizer: counts the tokens.
        marks: ascending offsets, typically of blocks, at which sums are kept; those that are no seams are passed over.
    """

    def __init__(self, text: str, tokenizer: Tokenizer, marks: Iterable[int]) -> None:
        self.text = text
        self.tokenizer = tokenizer
        self._is_seam = tokenizer.is_seam
        self._marks = [at for at in marks if at == 0 or self._is_seam(text[at - 1], text[at])]
        self._marks.append(len(text))
        self._sums = [0]
        self._grown: dict[int, tuple[int, int]] = {}
        self._strings: dict[str, int] = {}
        #: estimates are no longer allowed: one of them was too far off
        self.exact = tokenizer.additive

    def count(self, start: int, end: int) -> int:
        """Tokens of text[start:end]; an estimate when the tokenizer is not additive."""
        if start >= end:
            return 0
        marks = self._marks
        first = bisect_left(marks, start)
        last = bisect_right(marks, end) - 1
        if first > last:
            return self._between_marks(start, end)
        total = self._sum(first, last)
        if start < marks[first]:
            total += self._between_marks(start, marks[first])
        if marks[last] < end:
            total += self._between_marks(marks[last], end)
        return total

    def up_to_mark(self, start: int, end: int) -> int | None:
        """Tokens from a mark to the first mark at or behind ``end``, a sum at hand; None if there is none."""
        marks = self._marks
        first, last = bisect_left(marks, start), bisect_left(marks, end)
        if last >= len(marks) or marks[first] != start:
            return None
        return self._sum(first, last)

    def exact_count(self, start: int, end: int) -> int:
        """Tokens of text[start:end] on its own, exact with every tokenizer."""
        return self.count(start, end) if self.tokenizer.additive else self.tokenizer.count(self.text[start:end])

    def tokens(self, string: str) -> int:
        """Tokens of a short string that is used again and again, such as a breadcrumb."""
        return self._string(string) + self.tokenizer.overhead

    def joined(self, head: str, start: int, end: int, tail: str = "") -> int:
        """Exact tokens of head + text[start:end] + tail."""
        if not self.tokenizer.additive:
            return self.tokenizer.count(head + self.text[start:end] + tail)
        return self._joined_by_seams(head, start, end, tail)

    def estimate(self, head: str, start: int, end: int, tail: str, limit: int) -> int:
        """As `joined`, but may be inexact where it is far from ``limit`` and exactness is dear."""
        if self.exact:
            return self.joined(head, start, end, tail)
        guess = self.tokenizer.overhead + self._string(head) + self.count(start, end) + self._string(tail)
        near = limit // 6 + 8
        return self.joined(head, start, end, tail) if abs(guess - limit) <= near else guess

    def _joined_by_seams(self, head: str, start: int, end: int, tail: str) -> int:
        text = self.text
        total = self.count(start, end)
        first = start
        if head:
            if not self._is_seam(head[-1], text[start]):
                first = self._seam_after(start, end)
                if not first:
                    return self.tokenizer.count(head + text[start:end] + tail)
            total += self._string(head + text[start:first]) - self._string(text[start:first])
        if tail:
            last = self._seam_before(first, end - 1)  # the seam at the end is one with the document's next character
            if not last:
                return self.tokenizer.count(head + text[start:end] + tail)
            total += self._string(text[last:end] + tail) - self._string(text[last:end])
        return total

    def _sum(self, first: int, last: int) -> int:
        """Tokens between two marks, by their indexes."""
        sums = self._sums
        while len(sums) <= last:
            at = len(sums) - 1
            start, end = self._marks[at], self._marks[at + 1]
            n = self._encode(start, end)
            self._remember(start, end, n)
            sums.append(sums[-1] + n)
        return sums[last] - sums[first]

    def _between_marks(self, start: int, end: int) -> int:
        """Tokens of a slice without a mark inside: grown or shrunk from the last slice with the same start."""
        known = self._grown.get(start)
        n = None
        if known is not None:
            known_end, known_count = known
            if known_end == end:
                return known_count
            seam = self._seam_before(start, min(known_end, end))
            if seam and 2 * (known_end - seam) < end - start + _SEAM_REACH:
                n = known_count - self._encode(seam, known_end) + self._encode(seam, end)
        if n is None:
            n = self._encode(start, end)
        self._remember(start, end, n)
        return n

    def _remember(self, start: int, end: int, n: int) -> None:
        if len(self._grown) >= _MEMORY:
            self._grown.clear()
        self._grown[start] = (end, n)

    def _encode(self, start: int, end: int) -> int:
        return self.tokenizer.count(self.text[start:end]) - self.tokenizer.overhead if start < end else 0

    def _string(self, string: str) -> int:
        if not string:
            return 0
        n = self._strings.get(string)
        if n is None:
            if len(self._strings) >= _MEMORY:
                self._strings.clear()
            n = self._strings[string] = self.tokenizer.count(string) - self.tokenizer.overhead
        return n

    def _seam_before(self, start: int, end: int) -> int:
        """The last seam in (start, end], near the end; 0 if there is none."""
        text = self.text
        for at in range(min(end, len(text) - 1), max(start, end - _SEAM_REACH), -1):
            if self._is_seam(text[at - 1], text[at]):
                return at
        return 0

    def _seam_after(self, start: int, end: int) -> int:
        """The first seam in (start, end), near the start; 0 if there is none."""
        text = self.text
        for at in range(start + 1, min(end, start + _SEAM_REACH)):
            if self._is_seam(text[at - 1], text[at]):
                return at
        return 0
