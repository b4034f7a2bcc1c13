"""Front matter: metadata between delimiter lines at the very start, and what only looks like it."""

from __future__ import annotations

import pytest
from checking import LINE_ENDS, outlined, separate

from pgchunk import STRATEGIES, chunk
from pgchunk.frontmatter import FrontMatter, body_start, split_front_matter
from pgchunk.laws import problems

YAML = [
    "title: T\n",
    "title: T\ntags: [a, b]\n",
    "# a comment first\n\ntitle: T\n",
    "list:\n- a\n- b: c\n",
    "list:\n  - a\n\n  - b\n",
    "text: |\n  # not a heading\n\n  more\nnext: 1\n",
    "text: >-\n  folded\n  words\n",
    '"quoted key": 1\n',
    "'q': 1\n",
    "map: {\n  a: 1\n}\n",
    "seq: [\n  1,\n  2\n]\n",
    "url: https://host.example/a:b\n",
    "größe: 1\n",
    "標題: 東京\n",
    "a.b/c-d_e: 1\n",
    "empty:\n",
]
TOML = [
    'title = "T"\n',
    "# note\ntitle = 'T'\n[params]\nx = 1\n",
    "a.b = 1\n",
    '"k k" = 1\n',
    "[[menu.main]]\nname = 'x'\n",
    "list = [\n  1,\n  2,\n]\n",
    "date = 2024-01-01\n",
]
CASES = [*(("---", body) for body in YAML), *(("+++", body) for body in TOML)]


@pytest.mark.parametrize("end", LINE_ENDS)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(("fence", "body"), CASES)
def test_front_matter_is_found_and_skipped(fence, body, mark, end):
    text = (f"{mark}{fence}\n{body}{fence}\n# H\n\nwords\n").replace("\n", end)
    kind = "yaml" if fence == "---" else "toml"
    found = split_front_matter(text)
    assert found == FrontMatter(
        len(mark), text.index("# H\r" if "\r" in end else "# H\n"), kind, body.replace("\n", end)
    )
    assert body_start(text) == found.end
    assert outlined(text) == [(1, "H")]
    assert [c.raw_content for c in separate(text)] == ["words"]


@pytest.mark.parametrize("opening", ["--- ", "---\t", "---"])
@pytest.mark.parametrize("closing", ["---", "--- \t", "...", "... "])
@pytest.mark.parametrize("tail", ["", "\n", "\nwords\n"])
def test_delimiter_lines_may_have_blanks_and_yaml_may_end_with_dots(opening, closing, tail):
    text = f"{opening}\ntitle: T\n{closing}{tail}"
    assert split_front_matter(text).body == "title: T\n"
    assert [c.raw_content for c in separate(text)] == (["words"] if "words" in tail else [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\ntitle: T\n",
        "---\ntitle: T\n----\n",
        "----\ntitle: T\n----\n",
        "\n---\ntitle: T\n---\n",
        " ---\ntitle: T\n---\n",
        "x\n---\ntitle: T\n---\n",
        "---\n\nJust prose.\n\n---\n",
        "---\n# A heading\n\nProse.\n---\n",
        "---\n- a list\n- of two\n---\n",
        "---\ntitle: T\nthis line reads like prose\n---\n",
        "--- a\ntitle: T\n---\n",
        "+++\ntitle: T\n---\n",
        "+++\nprose here.\n+++\n",
        "***\ntitle: T\n***\n",
        "++\na = 1\n++\n",
    ],
)
def test_what_does_not_read_like_metadata_is_text(text):
    assert split_front_matter(text) is None
    for strategy in STRATEGIES.values():
        chunks = chunk(text, "", strategy)
        assert problems(text, "", strategy, chunks) == []
    whole = "".join(c.content for c in chunk(text, ""))
    assert all(line.lstrip("# ") in whole for line in text.split("\n"))


@pytest.mark.parametrize("body", ["", "\n", "# only a comment\n"])
def test_an_empty_block_is_front_matter_and_holds_nothing(body):
    found = split_front_matter(f"---\n{body}---\nwords\n")
    assert found is None or found.body == body
    assert "words" in "".join(c.raw_content for c in separate(f"---\n{body}---\nwords\n"))


def test_a_rule_after_text_is_what_commonmark_says():
    text = "words\n\n---\n\nmore\n---\n\nend\n"
    assert outlined(text) == [(2, "more")]
    assert [c.raw_content for c in separate(text)] == ["words\n\n---", "end"]


def test_a_second_block_is_text():
    text = "---\na: 1\n---\n---\nb: 2\n---\n"
    assert split_front_matter(text).body == "a: 1\n"
    assert "b: 2" in "".join(c.content for c in separate(text))


def test_front_matter_of_plain_text_is_text():
    (only,) = chunk("---\na: 1\n---\nwords\n", "", format="text")
    assert only.raw_content == "---\na: 1\n---\nwords"


def test_offsets_count_from_the_start_of_the_document():
    text = "---\na: 1\n---\n\nwords\n"
    (only,) = separate(text)
    assert (only.char_start, only.char_end) == (14, 19)


def test_a_long_block_that_is_never_closed_costs_little():
    text = "---\n" + "key: value\n" * 20_000
    assert split_front_matter(text) is None
    assert chunk(text, "")[0].char_start == 0
