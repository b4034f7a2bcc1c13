"""Exact token counts of slices of one document, which is tokenized about once."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.tokenizers import Tokenizer

#: How far a seam is looked for, in characters, before a text is tokenized whole instead.
_SEAM_REACH: Final = 96
#: Sections longer than the one fall into stretches of about the other, in characters.
_LONGEST_STRETCH: Final = 32_768
_STRETCH: Final = 8192
#: Remembered measurements; a document of any length keeps the meter small.
_MEMORY: Final = 4096
#: Shorter texts, in tokens, say little about the rest of a document.
_TELLING: Final = 32


class Meter:
    """Counts slices of a text by looking up where its tokens end, between seams (see `pgchunk.tokenizers`).

    The text falls into stretches that begin and end at seams. Of a stretch whose text will be counted in many ways the
    offsets are kept at which its tokens end; the tokens between two seams are then a matter of looking up. What lies
    outside of the outermost seams of a slice is short, and tokenized by itself.

    Args:
        text: the document.
        tokenizer: counts the tokens.
        sections: ascending offsets at which sections begin.
        checkpoint: called before a text is tokenized; may raise to stop the work.
    """

    def __init__(
        self,
        text: str,
        tokenizer: Tokenizer,
        sections: Iterable[int] = (),
        checkpoint: Checkpoint = no_checkpoint,
    ) -> None:
        self.text = text
        self.tokenizer = tokenizer
        self._is_seam = tokenizer.is_seam
        self._checkpoint = checkpoint
        self._starts = self._stretches(sections)
        self._ends: dict[int, Sequence[int]] = {}
        self._slices: dict[tuple[int, int], int] = {}
        #: where the slice began that was counted last among those with an end
        self._by_end: dict[int, int] = {}
        self._grown: dict[int, tuple[int, int]] = {}
        self._strings: dict[str, int] = {}
        #: of the text that was tokenized last
        self.characters_per_token = 3.0
        #: estimates are no longer allowed: one of them was too far off
        self.exact = tokenizer.additive

    def count(self, start: int, end: int) -> int:
        """Tokens of text[start:end]; an estimate when the tokenizer is not additive."""
        if start >= end:
            return 0
        n = self._slices.get((start, end))
        if n is None:
            n = self._count(start, end)
            if len(self._slices) >= _MEMORY:
                self._slices.clear()
                self._by_end.clear()
            self._slices[start, end] = n
        return n

    def reach(self, start: int, tokens: int) -> int:
        """An offset up to which the text from ``start`` on has about ``tokens`` tokens; ``start`` if none is known.

        A slice that ends there or before may have a few tokens more, as its end may be inside a token.
        """
        first = start if self._at_seam(start) else self._seam_after(start, len(self.text))
        stretch = bisect_right(self._starts, first) - 1
        ends = self._token_ends(stretch) if first >= start else None
        if ends is None:
            return start
        tokens -= self._string(self.text[start:first])
        if tokens <= 0:
            return start
        last = bisect_right(ends, first) + tokens - 1
        return ends[last] if last < len(ends) else self._starts[stretch + 1]

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
        if end - start > limit * self.tokenizer.longest:
            return end - start  # over the limit whatever the text is
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

    def _count(self, start: int, end: int) -> int:
        known = self._by_end.get(end)
        self._by_end[end] = start
        rest = self._slices.get((known, end)) if known is not None and start < known else None
        if known is not None and rest is not None and self._at_seam(known):
            return self.count(start, known) + rest
        first = start if self._at_seam(start) else self._seam_after(start, end)
        last = end if self._at_seam(end) else self._seam_before(start, end)
        n = self._between_seams(first, last, self._ends.get) if start <= first < last else None
        if n is None:
            return self._whole(start, end)
        return self._string(self.text[start:first]) + n + self._string(self.text[last:end])

    def _at_seam(self, at: int) -> bool:
        return not 0 < at < len(self.text) or self._is_seam(self.text[at - 1], self.text[at])

    # -- stretches

    def _stretches(self, sections: Iterable[int]) -> list[int]:
        """Where stretches begin, and the end of the text: with sections, and at seams inside of long ones."""
        starts = [0]
        for at in [*sections, len(self.text)]:
            if not self._at_seam(at):
                continue
            while at - starts[-1] > _LONGEST_STRETCH:
                inside = self._seam_in(starts[-1] + _STRETCH, at)
                if not inside:
                    break
                starts.append(inside)
            if at > starts[-1]:
                starts.append(at)
        return starts

    def _seam_in(self, low: int, high: int) -> int:
        """A seam in (low, high), looked for in few places; 0 if there is none."""
        for near in range(low, high, _STRETCH):
            if at := self._seam_before(near - _SEAM_REACH, near):
                return at
        return 0

    def _between_seams(self, first: int, last: int, ends_of: Callable[[int], Sequence[int] | None]) -> int | None:
        """Tokens between two seams; None where the ends of tokens are not at hand."""
        starts = self._starts
        total = 0
        for stretch in range(bisect_right(starts, first) - 1, bisect_left(starts, last)):
            ends = ends_of(stretch)
            if ends is None:
                return None
            low, high = max(first, starts[stretch]), min(last, starts[stretch + 1])
            total += bisect_right(ends, high) - bisect_right(ends, low)
        return total

    def _token_ends(self, stretch: int) -> Sequence[int] | None:
        """Offsets at which the tokens of a stretch end; None if it is too long to be tokenized at once."""
        ends = self._ends.get(stretch)
        if ends is None:
            start, end = self._starts[stretch : stretch + 2]
            if end - start > _LONGEST_STRETCH:
                return None
            self._checkpoint()
            ends = self._ends[stretch] = array("l", self.tokenizer.ends(self.text[start:end], start))
            self._learn_ratio(end - start, len(ends))
        return ends

    # -- what has no seams

    def _whole(self, start: int, end: int) -> int:
        """Tokens of a slice: grown or shrunk from the last slice with the same start."""
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
            self._learn_ratio(end - start, n)
        if len(self._grown) >= _MEMORY:
            self._grown.clear()
        self._grown[start] = (end, n)
        return n

    def _encode(self, start: int, end: int) -> int:
        self._checkpoint()
        return self.tokenizer.count(self.text[start:end]) - self.tokenizer.overhead if start < end else 0

    def _learn_ratio(self, characters: int, tokens: int) -> None:
        if tokens >= _TELLING:
            self.characters_per_token = characters / tokens

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
