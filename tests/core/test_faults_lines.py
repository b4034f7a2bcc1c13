"""Reported faults with line ends, byte-order marks, verbatim text and offsets."""

from __future__ import annotations

import itertools
import re

import pytest
from checking import disjoint, outlined, paths, separate

from pgchunk import STRATEGIES, outline


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("size", [16, 24, 64, 512])
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b17_other_line_ends_change_nothing_but_themselves(end, size, name):
    text = (
        "# A title\n\nx\n\n***\n\n## B\n\n- y\n- z\n\n"
        + "line of text that goes on\n" * 20
        + "\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n\n```\n\nSet\nText\n---\n\nEnd.\n"
    )
    other = text.replace("\n", end)
    assert outlined(other) == outlined(text) == [(1, "A title"), (2, "B"), (2, "Set Text")]
    options = {"max_tokens": size, "target_tokens": None}
    chunks = separate(other, strategy=name, **options)
    assert all("\r" not in part for path in paths(chunks) for part in path)
    for c in chunks:
        if end == "\r\n":
            assert not re.search(r"\r(?!\n)|(?<!\r)\n", c.raw_content), "a pair was cut or changed"
    if size == 512:
        assert [c.raw_content.replace(end, "\n") for c in chunks] == [
            c.raw_content for c in separate(text, strategy=name, **options)
        ]


def test_b17_blank_lines_at_a_budget_of_blank_lines_never_part_the_pair():
    text = "# A\r\n\r\n" + "a\r\n\r\n\r\n" * 200 + "b" + "\r\n" * 50 + "c\r\n"
    for c in separate(text, max_tokens=16):
        assert not re.search(r"\r(?!\n)|(?<!\r)\n", c.raw_content)


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b18_a_byte_order_mark_counts_as_one_character_and_hides_nothing(name):
    plain = "# First\n\nx\n\n# Second\n\ny\n"
    marked = "\ufeff" + plain
    assert outlined(marked) == outlined(plain) == [(1, "First"), (1, "Second")]
    assert outline(marked)[0].char_start in (0, 1)
    assert [h.char_start for h in outline(marked)[1:]] == [h.char_start + 1 for h in outline(plain)[1:]]
    before = separate(plain, strategy=name, min_tokens=0)
    after = separate(marked, strategy=name, min_tokens=0)
    assert [(c.content, c.char_start + 1, c.char_end + 1) for c in before] == [
        (c.content, c.char_start, c.char_end) for c in after
    ]
    assert not any("\ufeff" in part for path in paths(after) for part in path)


def test_b18_a_mark_in_front_of_prose_or_front_matter_shifts_by_one():
    first, second = separate("\ufeffOpening.\n\n# A\n\nx\n")
    assert (first.raw_content.lstrip("\ufeff"), second.raw_content) == ("Opening.", "x")
    assert outlined("\ufeff---\ntitle: T\n---\n# A\n\nx\n") == [(1, "A")]


ODD_ENDS = ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x1d", "\x1e", "\u2028b\x0bc\x0cd\x85e"]


@pytest.mark.parametrize("odd", ODD_ENDS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_b19_only_three_line_ends_end_a_line(odd, end):
    text = f"a{odd}b\n\n# Head{odd}line\n\nbody{odd}text\n\n## Next\n\nmore\n".replace("\n", end)
    first, second = outline(text)
    assert first.char_start == text.index("# Head")
    assert second.char_start == text.index("## Next")
    assert first.title == " ".join(f"Head{odd}line".split())
    chunks = separate(text)
    assert [c.raw_content for c in chunks] == [f"a{odd}b", f"body{odd}text", "more"]
    assert chunks[1].char_start == text.index("body")


def test_b19_a_heading_behind_an_odd_character_is_no_heading():
    for odd in ODD_ENDS:
        assert outlined(f"text{odd}# no\n") == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_b32_indentation_is_kept(end, indent):
    body = f"- a\n{indent}- b\n{indent * 2}- c\n{indent * 2}  text of c\n- d\n\n{indent}tail".replace("\n", end)
    (only,) = separate(f"# L{end}{end}{body}{end}")
    assert only.raw_content == body


@pytest.mark.parametrize("size", [16, 24])
def test_b32_a_cut_list_keeps_indentation_at_the_start_of_pieces(size):
    body = "".join(f"- item {i}\n    - deeper one {i}\n        - deepest {i}\n" for i in range(30))
    text = f"# L\n\n{body}"
    chunks = separate(text, max_tokens=size)
    assert "\n".join(c.raw_content for c in chunks) + "\n" == body


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_b33_blank_lines_are_kept(end):
    body = "one\n\ntwo\n\n\nthree\nfour\n \n\t\n\nfive  \nsix".replace("\n", end)
    (only,) = separate(f"# P{end}{end}{body}{end}{end}")
    assert only.raw_content == body


@pytest.mark.parametrize("size", [16, 24, 64])
def test_b33_pieces_and_what_is_between_them_make_the_source(size):
    text = "# P\n\n" + "".join(f"word {i}" + "\n" * (i % 4 + 1) for i in range(200))
    chunks = separate(text, max_tokens=size)
    assert disjoint(chunks)
    assert all(not text[a.char_end : b.char_start].strip() for a, b in itertools.pairwise(chunks))


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("line", ["same line.", "a", "| a |\n|---|\n| 1 |", "```\ncode\n```"])
def test_b58_equal_texts_have_places_of_their_own(name, line):
    text = "".join(f"# H{i}\n\n{line}\n\n" for i in range(5))
    chunks = separate(text, strategy=name)
    starts = [match.start() for match in re.finditer(re.escape(line), text)]
    assert len(chunks) == 5
    for c, start in zip(chunks, starts, strict=True):
        assert c.char_start <= start
        assert c.char_end == start + len(line)
        assert c.raw_content.endswith(line)


@pytest.mark.parametrize("size", [16, 32, 128])
@pytest.mark.parametrize("unit", ["Yes. No. ", "Again and again. ", "- same\n", "same\n\n"])
@pytest.mark.parametrize("overlap", [0, 8])
def test_b59_repeated_text_gives_strictly_increasing_starts(size, unit, overlap):
    text = unit * 150 + "\n"
    chunks = separate(text, max_tokens=size, overlap_tokens=overlap)
    starts = [c.char_start for c in chunks]
    assert len(chunks) > 1
    assert starts == sorted(set(starts))
    assert all(c.raw_content == text[c.char_start : c.char_end] for c in chunks)


def test_b60_offsets_count_code_points():
    text = "# É\n\nnaïve café 東京 😀 e\u0301 end.\n\n## B 😀\n\nx\n"
    first, second = separate(text)
    assert (first.char_start, first.char_end) == (5, text.index("\n\n## B"))
    assert second.char_start == text.rindex("x")
    assert second.raw_content == "x"
    assert [h.char_start for h in outline(text)] == [0, text.index("## B")]
