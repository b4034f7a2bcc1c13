"""Sentences, by the sentencex library: some 300 languages, abbreviations, CJK and closing quotes."""

from __future__ import annotations

from typing import Final

import regex
from sentencex import get_sentence_boundaries

from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.graphemes import is_boundary

#: The language whose rules serve for a script. Latin script is taken for English: its rules are the most cautious.
_LANGUAGES: Final = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "zh": regex.compile(r"\p{Han}"),
    "ko": regex.compile(r"\p{Hangul}"),
    "ru": regex.compile(r"\p{Cyrillic}"),
    "ar": regex.compile(r"\p{Arabic}"),
    "hi": regex.compile(r"\p{Devanagari}"),
    "el": regex.compile(r"\p{Greek}"),
    "hy": regex.compile(r"\p{Armenian}"),
    "th": regex.compile(r"\p{Thai}"),
    "my": regex.compile(r"\p{Myanmar}"),
    "km": regex.compile(r"\p{Khmer}"),
}
#: How much of a text decides on its language, in characters.
_SAMPLE: Final = 200
#: The library's time grows with the square of a text in scripts other than Latin: it gets this many characters at once.
_WINDOW: Final = 2000
_CLOSING: Final = regex.compile(r"[」』）】》〉”’)\]}»]+")
_BLANKS: Final = regex.compile(r"\s*")
_DIGIT: Final = regex.compile(r"\p{N}")


def sentence_starts(text: str, checkpoint: Checkpoint = no_checkpoint) -> list[int]:
    """Offsets in characters at which the sentences of ``text`` begin, the first being that of the first word.

    Args:
        text: some paragraphs.
        checkpoint: called often; may raise to stop the work.
    """
    language = _language(text)
    starts: list[int] = []
    at, begins_sentence = 0, True
    while at < len(text):
        checkpoint()
        found = _starts_in(text, at, min(len(text), at + _WINDOW), language)
        starts.extend(found if begins_sentence else found[1:])
        if at + _WINDOW >= len(text):
            break
        begins_sentence = len(found) > 1
        if begins_sentence:
            at = starts.pop()  # it is looked at again with what follows it
        else:
            at += _WINDOW
    return starts


def _starts_in(text: str, low: int, high: int, language: str) -> list[int]:
    starts: list[int] = []
    for found in get_sentence_boundaries(language, text[low:high]):
        start = _text_start(text, low + found["start_index"], at_end=found["start_index"] > 0)
        if start < low + found["end_index"] and not _inside_number(text, start) and is_boundary(text, start):
            starts.append(start)
    return starts


def _text_start(text: str, start: int, *, at_end: bool) -> int:
    """The first character of a sentence: marks at the end of the one before, which close it, belong to that one."""
    closing = _CLOSING.match(text, start) if at_end else None
    blanks = _BLANKS.match(text, closing.end() if closing else start)
    return blanks.end() if blanks else start


def _language(text: str) -> str:
    sample = text[:_SAMPLE]
    for language, script in _LANGUAGES.items():
        if len(script.findall(sample)) * 5 > len(sample):
            return language
    return "en"


def _inside_number(text: str, start: int) -> bool:
    """Whether the stop before ``start`` is a decimal point, as in ３．１４."""
    return start >= 2 and bool(_DIGIT.match(text[start])) and bool(_DIGIT.match(text[start - 2]))
