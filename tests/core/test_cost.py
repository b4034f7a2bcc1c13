"""Work grows in line with the document, whatever is in it: characters tokenized, and processor time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pgchunk import chunk
from pgchunk.laws import problems
from pgchunk.strategy import STRATEGIES
from pgchunk.tokenizers import Tokenizer, get_tokenizer

pytestmark = pytest.mark.timeout(900)  # thousands of examples, on a machine that may be busy

#: The tokenizer may see every character this often: once to count blocks, once or twice more where a block is cut.
MOST_TOKENIZED = 8

HOSTILE: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "words without an end": lambda n: "word " * (n // 5),
    "sentences in one line": lambda n: "A sentence here. " * (n // 17),
    "lines without an end": lambda n: "x\n" * (n // 2),
    "paragraphs": lambda n: "Some words in a line.\n\n" * (n // 23),
    "brackets": lambda n: "[" * n,
    "nested quotes": lambda n: "> " * (n // 2) + "x",
    "nested lists": lambda n: "- " * (n // 2) + "x",
    "quoted lines": lambda n: "> x y\n" * (n // 6),
    "list": lambda n: "- item text\n" * (n // 12),
    "deep list": lambda n: "".join(" " * (2 * (i % 9)) + f"- item {i} words\n" for i in range(n // 20)),
    "one row": lambda n: "| a | b |\n|---|---|\n| " + "x y | " * (n // 6) + "\n",
    "rows": lambda n: "| a | b |\n|---|---|\n" + "| x | y |\n" * (n // 10),
    "tables": lambda n: ("| a | b |\n|---|---|\n" + "| x | y |\n" * 200 + "\n") * (n // 2020),
    "code lines": lambda n: "```\n" + "x = 1\n" * (n // 6) + "```\n",
    "one code line": lambda n: "```\n" + "x" * n + "\n```\n",
    "unclosed fences": lambda n: "```\nx\n\n# a\n\n" * (n // 12),
    "headings": lambda n: "# a\n" * (n // 10),
    "sections": lambda n: "".join(f"## h{i}\n\ntext {i}\n\n" for i in range(n // 20)),
    "headings that do not split": lambda n: "# A\n\n" + "#### x\n\ntext\n\n" * (n // 14),
    "one heading": lambda n: "# " + "x" * n + "\n\nbody\n",
    "heading of brackets": lambda n: "# " + "[" * n + "\n\nbody\n",
    "definitions": lambda n: "".join(f"[r{i}]: /u\n\n" for i in range(n // 13)),
    "html": lambda n: "<div>\n" + "<p>x</p>\n" * (n // 9) + "</div>\n",
    "data URI": lambda n: "![p](data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * (n // 22) + ")",
    "blanks": lambda n: "x" + " " * n + "x",
    "tabs": lambda n: "\t" * n + "x",
    "emoji": lambda n: "👨‍👩‍👧‍👦🇩🇪👍🏽" * (n // 13),
    "flags": lambda n: "🇩" * n,
    "combining marks": lambda n: "e" + "\u0301" * n,
    "joiners": lambda n: "a\u200d" * (n // 2),
    "Chinese sentences": lambda n: "这是一个没有空格的长句子。" * (n // 13),
    "Chinese without marks": lambda n: "这" * n,
    "Thai": lambda n: "สวัสดีชาวโลก" * (n // 12),
    "front matter never closed": lambda n: "---\n" + "a: b\n" * (n // 5),
    "backticks": lambda n: "`" * n,
}


@pytest.fixture
def tokenized(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of all texts that reach the tokenizer."""
    seen: list[int] = []
    tokenizer: Tokenizer = get_tokenizer("cl100k_base")
    count = tokenizer.count

    def counting(text: str) -> int:
        seen.append(len(text))
        return count(text)

    monkeypatch.setattr(tokenizer, "count", counting, raising=True)
    return seen


@pytest.mark.parametrize("name", HOSTILE)
def test_characters_tokenized_are_a_small_multiple_of_the_document(name, tokenized):
    text = HOSTILE[name](30_000)
    chunk(text, "T")
    assert sum(tokenized) <= MOST_TOKENIZED * len(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_in_line_with_the_document(name):
    def seconds(n: int) -> float:
        text = HOSTILE[name](n)
        began = time.process_time()
        chunk(text, "T")
        return time.process_time() - began

    small, large = seconds(15_000), seconds(60_000)
    assert large < 6 * small + 0.5, f"4 x the text took {large / small:.1f} x the time"


@pytest.mark.parametrize("name", HOSTILE)
def test_laws_hold_for_hostile_documents(name):
    text = HOSTILE[name](6_000)
    for strategy in STRATEGIES.values():
        chunks = chunk(text, "T", strategy)
        assert problems(text, "T", strategy, chunks) == []


@pytest.mark.parametrize("name", ["one letter", "emoji", "combining marks", "one row", "headings", "Chinese sentences"])
def test_a_million_characters_are_no_trouble(name):
    text = HOSTILE[name](1_000_000)
    began = time.process_time()
    assert chunk(text, "T")
    assert time.process_time() - began < 60


def test_a_hundred_thousand_levels_of_nesting_are_no_trouble():
    for mark in ("> ", "- ", "[", "1. ", "* > "):
        text = "# A\n\n" + mark * 100_000 + "x\n"
        assert "".join(chunk(text, "T")[0].heading_path) == "A"


def test_a_long_look_ahead_is_never_taken(tokenized):
    """A document of a million characters in many sections: no text that is tokenized is much longer than a block."""
    text = "".join(f"## H{i}\n\n" + "Some words in a line. " * 40 + "\n\n" for i in range(1000))
    chunk(text, "T")
    assert max(tokenized) < 2000
