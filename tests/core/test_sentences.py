"""Where sentences begin, in several languages."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pgchunk.sentences import sentence_starts


def sentences(text: str) -> list[str]:
    starts = sentence_starts(text)
    assert starts == sorted(set(starts))
    return [text[a:b].strip() for a, b in pairwise([*starts, len(text)])]


@pytest.mark.parametrize(
    "expected",
    [
        ["One here.", "Two there!", "Three where?", "Four"],
        ["See Mr. Jones and Dr. Smith now.", "They are in."],
        ["Use it, e.g. at night, i.e. late.", "It works."],
        ["Version 1.2.3 is out.", "Pi is 3.14 or so."],
        ["Get https://host.example/a.b/c?d=e.f today.", "It is free."],
        ["He said “stop.”", "She went on."],
        ["He said it (very low).", "She heard."],
        ["Er wohnt z. B. in Bonn.", "Sie auch."],
        ["Это первое.", "Это второе!"],
        ["Αυτό είναι ένα.", "Αυτό είναι δύο."],
        ["यह पहला है।", "यह दूसरा है।"],
        ["هل هذا سؤال؟", "نعم."],
    ],
)
def test_sentences_with_blanks_between(expected):
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["今日は晴れです。", "散歩に行きます！", "楽しいですか？"],
        ["今天天气很好。", "我们去散步吧！", "好吗？"],
        ["円周率は３．１４です。", "そうだ。"],
        ["彼は「はい。」", "と言った。"],
        ["彼は『そう！』", "彼は来た。"],
    ],
)
def test_sentences_without_blanks_between(expected):
    assert sentences("".join(expected)) == expected


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000"])
def test_blank_text_has_no_sentence(text):
    assert sentence_starts(text) == []


def test_the_first_sentence_begins_at_the_first_word():
    assert sentence_starts("  \n One. Two.") == [4, 9]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_of_one_sentence_are_one_sentence(end):
    assert sentences(f"One long{end}sentence here. Two{end}is here.") == [
        f"One long{end}sentence here.",
        f"Two{end}is here.",
    ]


def test_offsets_are_characters():
    text = "😀 Größe. Zwei 東京. Drei."
    assert [text[at:].split(".")[0] for at in sentence_starts(text)] == ["😀 Größe", "Zwei 東京", "Drei"]
