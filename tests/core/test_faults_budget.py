"""Reported faults with the token budget, overlap, special-token text, and with time that runs away."""

from __future__ import annotations

import itertools
import re
from time import process_time

import pytest
from checking import (
    breadcrumb_of,
    budget_kept,
    chunked,
    disjoint,
    outlined,
    raw_lines,
    separate,
    without_blanks,
)

from pgchunk import STRATEGIES, Strategy, chunk, count_tokens
from pgchunk.errors import InvalidOption


@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize("joint", ["\n\n", "\n", "\n\n\n", " "])
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b41_the_joined_string_is_what_is_counted(size, joint, name):
    text = (
        "# The title of it\n\n## The part of it\n\n"
        + joint.join(f"Paragraph {i} has a few words." for i in range(60))
        + "\n"
    )
    chunks = chunked(text, "A name", name, max_tokens=size, target_tokens=None, min_tokens=0)
    for c in chunks:
        assert count_tokens(c.content) == c.content_token_count <= size
        assert c.content.startswith(breadcrumb_of(c) + "\n\n" + c.raw_prefix + c.raw_content)


@pytest.mark.parametrize("size", [16, 32, 64, 100, 512, 2048])
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base"])
def test_b42_every_given_limit_is_applied_and_used(size, tokenizer):
    text = "# A\n\n" + "one two three four five. " * 150 + "\n"
    chunks = separate(text, max_tokens=size, tokenizer=tokenizer)
    counts = [count_tokens(c.content, tokenizer) for c in chunks]
    assert max(counts) <= size
    assert all(n > size - 10 for n in counts[:-1]), "pieces are well filled"


@pytest.mark.parametrize("length", [60, 600, 5000])
@pytest.mark.parametrize("size", [16, 64])
def test_b43_a_path_longer_than_the_budget_is_shortened(length, size):
    text = "# " + "x" * length + "\n\n## " + "y" * length + "\n\nbody\n"
    assert outlined(text) == [(1, "x" * length), (2, "y" * length)]
    (only,) = separate(text, max_tokens=size)
    assert only.raw_content == "body"
    assert only.heading_path == ("x" * length, "y" * length)
    assert "breadcrumb_truncated" in only.flags
    assert breadcrumb_of(only).startswith("…")
    assert breadcrumb_of(only).endswith("y")
    assert count_tokens(breadcrumb_of(only)) <= size // 8


@pytest.mark.parametrize("size", [32, 64])
def test_b31_headings_that_fill_the_budget_leave_room_for_the_text(size):
    long = "very " * 400 + "long"
    chunks = separate(f"# {long}\n\n## S\n\nbody text\n", max_tokens=size)
    owner = next(c for c in chunks if c.raw_content.endswith("body text"))
    assert owner.heading_path == (long, "S")
    assert breadcrumb_of(owner) == "… > S"
    (lone,) = separate(f"# {long}\n\nbody text\n", max_tokens=size)
    assert lone.raw_content == "body text"
    assert re.fullmatch(r"…(very )*long", breadcrumb_of(lone).replace("… ", "…"))


@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b44_a_long_block_is_cut_further(size, name):
    sentence = "A sentence of seven words stands here."
    text = "# A\n\nshort\n\n" + f"{sentence} " * 150 + "\n\nbrief\n"
    chunks = separate(text, strategy=name, max_tokens=size, target_tokens=None)
    assert budget_kept(chunks, size)
    assert sum(c.raw_content.count(sentence) for c in chunks) == 150, "cuts stand between sentences"
    assert not any({"hard_split", "split_sentence"} & set(c.flags) for c in chunks)


@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize(
    "unit", ["这是一个没有空格的长句子。", "これは空白のない長い文です。", "띄어쓰기없는긴문장입니다。"]
)
def test_b45_text_without_blanks_is_measured_in_tokens(size, unit):
    chunks = separate("# 说明\n\n" + unit * 120 + "\n", max_tokens=size)
    assert budget_kept(chunks, size)
    assert len(chunks) > 5
    assert all(c.raw_content.endswith("。") for c in chunks)
    assert sum(c.raw_content.count(unit) for c in chunks) == 120


@pytest.mark.parametrize("size", [64, 128, 256])
def test_b46_links_and_hashes_are_measured_in_tokens(size):
    links = [f"https://host.example/a/{i * 7919:064x}?q={i * 104729:032x}" for i in range(60)]
    chunks = separate("# Links\n\n" + "\n".join(links) + "\n", max_tokens=size)
    assert budget_kept(chunks, size)
    assert without_blanks("".join(c.raw_content for c in chunks)) == "".join(links)
    if size >= 2 * max(map(count_tokens, links)):
        assert raw_lines(chunks) == links


@pytest.mark.parametrize(
    "stops", ["One. Two. Three. Four? Five! Six.", "一。二！三？四。", "a.\nb.\nc.", "1. x\n2. y\n3. z"]
)
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b47_a_section_that_fits_is_one_chunk(stops, name):
    chunks = separate(f"# A\n\n{stops}\n", strategy=name, max_tokens=64, target_tokens=None)
    assert len(chunks) == 1
    assert chunks[0].raw_content.endswith(stops)


@pytest.mark.parametrize("spare", [0, 1, 5])
def test_b47_a_section_of_exactly_the_budget_is_one_chunk(spare):
    body = "Yes. No! " * 30
    size = count_tokens("A\n\n" + body.strip()) + spare
    assert len(separate(f"# A\n\n{body}\n", max_tokens=size)) == 1
    assert len(separate(f"# A\n\n{body}\n", max_tokens=size - spare - 1)) == 2


@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b48_a_single_oversize_paragraph_or_fence_is_cut(size, name):
    code = [f"code line {i}" for i in range(200)]
    text = "# A\n\n" + "word " * 900 + "\n\n```\n" + "\n".join(code) + "\n```\n"
    chunks = separate(text, strategy=name, max_tokens=size, target_tokens=None)
    assert budget_kept(chunks, size)
    assert sum(len(re.findall(r"\bword\b", c.raw_content)) for c in chunks) == 900
    assert [line for line in raw_lines(chunks) if "code" in line] == code


@pytest.mark.parametrize("size", [48, 256])
def test_b49_a_huge_fence_gives_every_line_once(size):
    data = [line for i in range(300) for line in (f"- name: item{i}", f"  size: {i}")]
    chunks = separate("# Conf\n\n```yaml\n" + "\n".join(data) + "\n```\n", max_tokens=size)
    assert raw_lines(chunks) == ["```yaml", *data, "```"]
    assert [c.continuation for c in chunks] == [False] + [True] * (len(chunks) - 1)
    assert all(c.raw_content.startswith(("- name", "  size", "```")) for c in chunks), "indentation is kept"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_tokens": 100, "overlap_tokens": 100}, "overlap_tokens"),
        ({"max_tokens": 100, "overlap_tokens": 150}, "overlap_tokens"),
        ({"max_tokens": 100, "overlap_tokens": 51}, "overlap_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 100, "min_tokens": 101}, "min_tokens"),
        ({"min_tokens": -1}, "min_tokens"),
        ({"overlap_tokens": -1}, "overlap_tokens"),
        ({"heading_path_tokens": -1}, "heading_path_tokens"),
        ({"max_tokens": None}, "max_tokens"),
        ({"overlap": None}, "overlap"),
    ],
)
def test_b50_bad_settings_are_refused_up_front(options, named):
    with pytest.raises(InvalidOption, match=named) as caught:
        chunk("# A\n\ntext\n", **options)
    assert caught.value.detail
    assert caught.value.hint


MARKERS = ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>", "<|im_start|>", "<|im_end|><|endoftext|>"]


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base"])
def test_b51_special_token_text_is_ordinary_text(marker, tokenizer):
    (only,) = separate(f"# A\n\nThe marker {marker} ends a text.\n", tokenizer=tokenizer)
    assert only.raw_content == f"The marker {marker} ends a text."
    assert count_tokens(marker, tokenizer) > 1


@pytest.mark.parametrize("marker", MARKERS)
@pytest.mark.parametrize("size", [16, 64])
def test_b52_special_token_text_in_titles_headings_and_code(marker, size):
    text = f"# About {marker}\n\n`{marker}` is used here.\n\n```\n{marker}\n```\n\n" + f"{marker} " * 60 + "\n"
    assert outlined(text) == [(1, f"About {marker}")]
    chunks = separate(text, f"Title {marker}", max_tokens=size)
    assert budget_kept(chunks, size)
    assert {c.heading_path for c in chunks} == {(f"About {marker}",)}


@pytest.mark.parametrize(("size", "overlap"), [(128, 32), (64, 16), (64, 8), (256, 100)])
@pytest.mark.parametrize("words", ["word ", "several short words ", "mixed lengths of unpunctuated wording "])
def test_b61_windows_overlap_by_about_the_limit_from_a_word_on(size, overlap, words):
    text = "# A\n\n" + words * 300 + "\n"
    chunks = chunked(text, min_tokens=0, max_tokens=size, overlap_tokens=overlap)
    assert len(chunks) > 1
    for before, after in itertools.pairwise(chunks):
        said = text[after.char_start : before.char_end]
        assert overlap - 8 <= count_tokens(said) <= overlap
        assert text[after.char_start - 1].isspace()


@pytest.mark.parametrize("overlap", [8, 32])
@pytest.mark.parametrize("word", ["internationalization ", "Donaudampfschifffahrtsgesellschaft ", "ab "])
def test_b62_size_and_overlap_are_both_in_tokens(overlap, word):
    text = "# A\n\n" + word * 400 + "\n"
    chunks = chunked(text, min_tokens=0, max_tokens=128, overlap_tokens=overlap)
    assert budget_kept(chunks, 128)
    for before, after in itertools.pairwise(chunks):
        assert 0 < count_tokens(text[after.char_start : before.char_end]) <= overlap
        assert overlap - count_tokens(text[after.char_start : before.char_end]) <= count_tokens(word) + 1


@pytest.mark.parametrize(("size", "overlap"), [(32, 15), (32, 16), (16, 8), (17, 8), (64, 32)])
@pytest.mark.parametrize("unit", ["aa  bb  cc  dd   ", "One two. ", "猫が好き。"])
@pytest.mark.parametrize("kind", ["tokens", "sentence"])
def test_b63_the_overlap_is_inside_the_budget(size, overlap, unit, kind):
    chunks = chunked("# A\n\n" + unit * 80 + "\n", max_tokens=size, overlap_tokens=overlap, min_tokens=0, overlap=kind)
    assert len(chunks) > 3
    assert budget_kept(chunks, size)
    for before, after in itertools.pairwise(chunks):
        assert after.char_end > before.char_end, "each piece says something new"


@pytest.mark.parametrize("size", [24, 48, 128])
@pytest.mark.parametrize("options", [{"overlap_tokens": 0}, {"overlap": "none"}])
def test_b64_without_overlap_nothing_is_said_twice(size, options):
    body = "\n\n".join(f"Para {i}. It has two sentences." for i in range(80))
    chunks = chunked(f"# A\n\n{body}\n", max_tokens=size, min_tokens=0, **options)
    assert disjoint(chunks)
    assert without_blanks("".join(c.raw_content for c in chunks)) == without_blanks(body)


@pytest.mark.parametrize("size", [16, 64, 512])
@pytest.mark.parametrize("letter", ["y", "é", "猫", "0", "=", "\u200b"])
def test_b65_a_long_unbroken_word_is_cut_into_full_pieces(size, letter):
    body = "x " + letter * 2000
    chunks = separate(f"# A\n\n{body}\n", max_tokens=size)
    assert without_blanks("".join(c.raw_content for c in chunks)) == "x" + letter * 2000
    assert len(chunks) == 1 or all("hard_split" in c.flags for c in chunks)
    middle = [c.content_token_count for c in chunks[1:-1]]
    assert all(n >= size * 3 // 4 for n in middle), "pieces are full"


def test_b66_a_very_wide_table_takes_no_time():
    row = "|" + " c |" * 300 + "\n"
    text = "# T\n\n" + row + "|" + "---|" * 300 + "\n" + ("|" + " 1 |" * 300 + "\n") * 20
    began = process_time()
    chunks = chunk(text, "", max_tokens=256)
    assert process_time() - began < 1
    assert budget_kept(chunks, 256)
    chunked(text, max_tokens=256)


@pytest.mark.parametrize("letter", ["a", "-", "é", "\n", " ", "\t", "\u00a0", " \t"])
@pytest.mark.parametrize("format", ["markdown", "text"])
def test_b67_a_very_long_run_of_one_character_takes_no_time(letter, format):
    text = "# A\n\nx" + letter * (50_000 // len(letter)) + "x\n"
    count_tokens("warm up")
    began = process_time()
    chunks = chunk(text, "", format=format)
    assert process_time() - began < 2
    assert budget_kept(chunks, 512)


def test_b68_time_grows_in_line_with_length():
    line = "A line of text that goes on.\n"

    def seconds(lines: int) -> float:
        began = process_time()
        chunk("# A\n\n" + line * lines + "\n\nThe end.\n", "", max_tokens=128)
        return process_time() - began

    seconds(100)
    small = min(seconds(2_000) for _ in range(3))
    big = min(seconds(4_000) for _ in range(3))
    assert big < 2.5 * small + 0.1


def test_b70_a_fitting_section_is_never_cut():
    for count in (60, 90, 115):
        text = "# A\n\n" + "w " * count + "\n\n# B\n\n" + "v " * count + "\n"
        chunks = chunked(text, max_tokens=128, overlap_tokens=16)
        assert [c.raw_content for c in chunks] == [("w " * count).strip(), ("v " * count).strip()]
        assert all(c.flags in ((), ("undersized",)) for c in chunks)


def test_b79_a_picture_as_data_uri_is_bounded():
    text = "# Pic\n\nBefore.\n\n![p](data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 1500 + ")\n\nAfter.\n"
    began = process_time()
    chunks = chunk(text, "", max_tokens=256)
    assert process_time() - began < 2
    chunks = separate(text, max_tokens=256)
    assert budget_kept(chunks, 256)
    assert without_blanks("".join(c.raw_content for c in chunks)) == without_blanks(text.removeprefix("# Pic"))


@pytest.mark.parametrize("size", [64, 512])
def test_b80_token_counts_are_stored_per_chunk(size):
    chunks = chunked("# A\n\n" + "many tokens here " * 2000 + "\n", max_tokens=size)
    for c in chunks:
        assert c.content_token_count == count_tokens(c.content) <= size
        assert c.token_count == count_tokens(c.raw_content)


def test_strategies_are_valid_at_their_smallest_budget():
    assert Strategy(max_tokens=16).overlap_limit == 2
