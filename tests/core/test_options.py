"""Each option of a strategy: changing it changes what it says and nothing else; wrong values are refused."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import Any

import pytest
from checking import breadcrumb_of, chunked, paths, raw_lines

from pgchunk import STRATEGIES, Chunk, Strategy, chunk, count_tokens
from pgchunk.errors import DocumentTooLarge, InvalidOption
from pgchunk.strategy import OPTION_NAMES

PROSE = " ".join(f"Sentence number {i} is about this." for i in range(60))
CODE = "```py\n" + "".join(f"call({i})\n" for i in range(50)) + "```"
TABLE = "| key | value |\n|---|---|\n" + "".join(f"| k{i} | v{i} |\n" for i in range(40))
TEXT = (
    f"Opening words.\n\n# One\n\n{PROSE}\n\n{TABLE}\n## Two\n\n{CODE}\n\n### Three\n\nshort\n\n"
    "### Four\n\nalso short\n\n#### Five\n\ndeep\n\n# Six\n\nlast\n"
)
BASE: dict[str, Any] = {"max_tokens": 96}


def cut(text: str = TEXT, title: str = "Doc", **options: Any) -> list[Chunk]:
    return chunked(text, title, **(BASE | options))


def places(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(c.char_start, c.char_end) for c in chunks]


def without_recipe(chunks: list[Chunk]) -> list[tuple[Any, ...]]:
    return [
        tuple(getattr(c, f.name) for f in fields(Chunk) if f.name not in ("recipe_hash", "content_hash"))
        for c in chunks
    ]


# max_tokens and what follows from it


@pytest.mark.parametrize("size", [16, 17, 40, 96, 300, 4096])
def test_max_tokens_bounds_every_embedded_text(size):
    chunks = cut(max_tokens=size)
    assert max(c.content_token_count for c in chunks) <= size
    if size == 4096:
        assert not any(c.continuation for c in chunks)


@pytest.mark.parametrize(("size", "eighth"), [(16, 2), (512, 64), (100, 12)])
def test_an_eighth_of_max_tokens_is_the_default_of_three_options(size, eighth):
    left_out, given = Strategy(max_tokens=size), {"min_tokens", "overlap_tokens", "heading_path_tokens"}
    assert (left_out.target, left_out.min) == (size, eighth)
    assert (left_out.overlap_limit, left_out.heading_path_limit) == (eighth, eighth)
    said = left_out.with_overrides(**dict.fromkeys(given, eighth), target_tokens=size)
    assert said.recipe_hash == left_out.recipe_hash
    assert without_recipe(chunk(TEXT, "Doc", left_out)) == without_recipe(chunk(TEXT, "Doc", said))


def test_a_target_below_the_default_of_min_tokens_bounds_it():
    assert Strategy(max_tokens=512, target_tokens=20).min == 20


# target_tokens


def test_target_tokens_is_aimed_at_and_a_block_between_stays_whole():
    blocks = ["Short paragraph here. " * n for n in (4, 4, 16, 4, 4)]
    text = "# A\n\n" + "\n\n".join(block.strip() for block in blocks) + "\n"
    chunks = cut(text, target_tokens=40, min_tokens=0, overlap_tokens=0)
    counts = [c.content_token_count for c in chunks]
    assert max(counts) <= 96
    big = [c for c in chunks if c.content_token_count > 40]
    assert [c.raw_content for c in big] == [blocks[2].strip()]
    assert not any(c.flags for c in big)


def test_target_tokens_alone_changes_no_chunk_of_a_section_within_it():
    chunks = cut("# A\n\nsome words\n\n# B\n\nother words\n", min_tokens=0, target_tokens=90)
    assert places(chunks) == places(cut("# A\n\nsome words\n\n# B\n\nother words\n", min_tokens=0))


def test_pieces_of_a_cut_section_are_within_the_target_where_blocks_allow():
    for c in cut(target_tokens=48, min_tokens=0):
        assert c.content_token_count <= 48


# min_tokens and merge


def test_min_tokens_decides_what_is_too_small():
    text = "# A\n\n" + "".join(f"## S{i}\n\nwords of part {i}\n\n" for i in range(8))
    assert len(cut(text, min_tokens=0)) == 8
    assert [c.heading_path[-1] for c in cut(text, min_tokens=12)] == ["S0", "S2", "S4", "S6"]
    assert len(cut(text, min_tokens=96)) == 1
    for low in (0, 3, 12, 96):
        for c in cut(text, min_tokens=low):
            assert ("undersized" in c.flags) == (c.token_count < low)


def test_merge_next_joins_the_next_sibling_else_the_previous():
    big = "plenty of words " * 20
    text = f"# A\n\n## B\n\n{big}\n\n## C\n\ntiny\n\n## D\n\n{big}\n\n## E\n\nlast\n"
    chunks = cut(text, merge="next", max_tokens=128, min_tokens=12)
    assert paths(chunks) == [("A", "B"), ("A", "C")]
    assert chunks[1].raw_content.endswith("## E\n\nlast")
    assert ["merged" in c.flags for c in chunks] == [False, True]


def test_merge_previous_joins_the_chunk_before_of_the_same_branch():
    text = "# A\n\n## B\n\nsome words\n\n### b1\n\ntiny\n\n## C\n\nx\n\n# D\n\ny\n\n## E\n\nz\n"
    chunks = cut(text, merge="previous")
    assert paths(chunks) == [("A", "B"), ("D",)]
    assert chunks[0].raw_content == "some words\n\n### b1\n\ntiny\n\n## C\n\nx"
    assert chunks[1].raw_content == "y\n\n## E\n\nz"


def test_merge_none_leaves_every_section_alone():
    text = "# A\n\n## B\n\nx\n\n## C\n\ny\n\n# D\n\nz\n"
    chunks = cut(text, merge="none")
    assert paths(chunks) == [("A", "B"), ("A", "C"), ("D",)]
    assert not any("merged" in c.flags for c in chunks)


@pytest.mark.parametrize("merge", ["next", "previous"])
@pytest.mark.parametrize("size", [16, 24, 40])
def test_a_merge_never_exceeds_max_tokens(merge, size):
    text = "# A\n\n" + "".join(f"## S{i}\n\nwords of part {i}\n\n" for i in range(20))
    chunks = cut(text, merge=merge, max_tokens=size, min_tokens=size)
    assert max(c.content_token_count for c in chunks) <= size


# overlap and overlap_tokens


@pytest.mark.parametrize("limit", [0, 5, 12, 48])
def test_overlap_tokens_bounds_what_is_said_again(limit):
    chunks = cut(overlap_tokens=limit, min_tokens=0)
    said = [TEXT[b.char_start : a.char_end] for a, b in pairwise(chunks) if b.char_start < a.char_end]
    assert all(0 < count_tokens(text) <= limit for text in said)
    assert bool(said) == (limit > 0)


def test_overlap_says_where_a_continuation_begins():
    def starts(kind: str) -> list[str]:
        chunks = cut(f"# A\n\n{PROSE}\n", overlap=kind, overlap_tokens=20, min_tokens=0)
        return [c.raw_content.split(".")[0] for c in chunks[1:]]

    assert all(start.startswith("Sentence number") for start in starts("sentence"))
    assert all(start.startswith("Sentence number") for start in starts("none"))
    assert not all(start.startswith("Sentence number") for start in starts("tokens"))
    assert starts("sentence") != starts("none")


def test_overlap_none_makes_overlap_tokens_void():
    one, two = (Strategy(overlap="none", overlap_tokens=n) for n in (None, 30))
    assert one.recipe_hash == two.recipe_hash
    assert one.overlap_limit == two.overlap_limit == 0


@pytest.mark.parametrize("kind", ["tokens", "sentence"])
def test_tables_and_code_have_no_overlap(kind):
    for body in (TABLE, CODE):
        chunks = cut(f"# A\n\n{body}\n", overlap=kind, overlap_tokens=40)
        assert len(chunks) > 2
        assert all(a.char_end <= b.char_start for a, b in pairwise(chunks))


# heading_path_tokens, separator, include_title


@pytest.mark.parametrize("limit", [0, 1, 3, 10, 48])
def test_heading_path_tokens_is_the_breadcrumbs_own_budget(limit):
    chunks = cut(heading_path_tokens=limit, min_tokens=0)
    whole = cut(heading_path_tokens=48, min_tokens=0)
    assert paths([c for c in chunks if not c.continuation]) == paths([c for c in whole if not c.continuation])
    for c in chunks:
        crumb = breadcrumb_of(c)
        assert count_tokens(crumb) <= limit
        full = " > ".join(["Doc", *c.heading_path])
        assert ("breadcrumb_truncated" in c.flags) == (crumb != full)
        if crumb and crumb != full:
            assert crumb.startswith("…")
            assert full.endswith(crumb.removeprefix("…").lstrip(" >"))


@pytest.mark.parametrize("separator", [" / ", "›", " → ", "::", "ab"])
def test_separator_stands_between_the_parts_and_changes_no_cut(separator):
    usual, other = cut(max_tokens=600, min_tokens=0), cut(max_tokens=600, min_tokens=0, separator=separator)
    assert places(usual) == places(other)
    for c in other:
        assert breadcrumb_of(c) == separator.join(["Doc", *c.heading_path])


def test_include_title_puts_the_title_first():
    with_title, without = cut(max_tokens=600), cut(max_tokens=600, include_title=False)
    assert places(with_title) == places(without)
    for a, b in zip(with_title, without, strict=True):
        assert breadcrumb_of(a) == " > ".join(["Doc", *a.heading_path])
        assert breadcrumb_of(b) == " > ".join(b.heading_path)


@pytest.mark.parametrize("title", ["One", " One ", "One\n"])
def test_a_first_heading_equal_to_the_title_is_not_said_twice(title):
    chunks = cut("# One\n\na\n\n## One\n\nb\n", title, min_tokens=0)
    assert [breadcrumb_of(c) for c in chunks] == ["One", "One > One"]


# split_levels, heading_line, include_preamble


def test_split_levels_takes_any_set_and_is_kept_sorted():
    assert Strategy(split_levels=(3, 1, 3)).split_levels == (1, 3)
    assert Strategy(split_levels=[2, 1]).split_levels == (1, 2)
    assert Strategy(split_levels=(3, 1)).recipe_hash == Strategy(split_levels=(1, 3)).recipe_hash


def test_split_levels_of_nothing_makes_one_section_of_all():
    (only,) = cut("# A\n\nx\n\n## B\n\ny\n", split_levels=())
    assert only.raw_content == "# A\n\nx\n\n## B\n\ny"
    assert only.heading_path == ()
    assert "preamble" not in only.flags


def test_a_heading_that_does_not_split_stands_in_the_paths_below_it():
    chunks = cut("# A\n\nx\n\n### B\n\ny\n", split_levels=(3,), min_tokens=0)
    assert paths(chunks) == [(), ("A", "B")]


def test_heading_line_include_makes_it_the_first_line_and_says_it_once():
    excluded, included = cut(min_tokens=0), cut(min_tokens=0, heading_line="include")
    assert not any(line.startswith(("# ", "## ", "### ")) for line in raw_lines(excluded))
    first_of_section = [c for c in included if c.heading_path and not c.continuation]
    for c in first_of_section:
        assert c.raw_content.startswith("#" * len(c.heading_path) + " " + c.heading_path[-1])
        assert breadcrumb_of(c) == " > ".join(["Doc", *c.heading_path[:-1]])
    for c in included:
        if c.continuation:
            assert breadcrumb_of(c) == " > ".join(["Doc", *c.heading_path])
    assert len(first_of_section) == len({c.heading_path for c in excluded if c.heading_path})


def test_include_preamble_keeps_or_leaves_out_the_text_above_the_first_heading():
    kept, left_out = cut(), cut(include_preamble=False)
    assert kept[0].raw_content == "Opening words."
    assert "preamble" in kept[0].flags
    assert places(kept)[1:] == places(left_out)
    assert not any("preamble" in c.flags for c in left_out)


@pytest.mark.parametrize("text", ["Just words.\n", "> # Quoted\n", "#### Deep\n\nwords\n"])
def test_text_without_a_splitting_heading_is_no_preamble(text):
    (only,) = cut(text, include_preamble=False)
    assert only.raw_content == text.rstrip()
    assert only.heading_path == ()
    assert "preamble" not in only.flags


# repeat_table_header


def test_repeat_table_header_says_whether_the_header_is_repeated():
    repeated, once = cut(), cut(repeat_table_header=False)
    header = "| key | value |\n|---|---|\n"
    assert {c.raw_prefix for c in repeated if "split_table" in c.flags and "| k39" in c.raw_content} == {header}
    assert not any("|" in c.raw_prefix for c in once)
    assert any(c.raw_prefix.startswith("```") for c in once), "code fences are opened again all the same"
    rows = [line for line in raw_lines(repeated) if line.startswith("| k")]
    assert rows == [line for line in raw_lines(once) if line.startswith("| k")]


# tokenizer, parser, max_document_bytes


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_tokenizer_is_what_counts(name):
    chunks = cut("# 猫\n\n" + "猫が好きです。" * 80, tokenizer=name, overlap_tokens=0)
    for c in chunks:
        assert c.content_token_count == count_tokens(c.content, name) <= 96
        assert c.token_count == count_tokens(c.raw_content, name)


def test_another_tokenizer_gives_other_cuts():
    text = "# 猫\n\n" + "猫が好きです。" * 80
    assert len(cut(text, tokenizer="o200k_base")) < len(cut(text, tokenizer="cl100k_base"))


def test_parser_changes_nothing():
    assert cut(parser="markdown-it-py") == cut(parser="auto")


def test_max_document_bytes_counts_bytes_of_utf8():
    text = "é" * 10
    assert chunk(text, max_document_bytes=20)
    with pytest.raises(DocumentTooLarge, match="20 bytes") as caught:
        chunk(text, max_document_bytes=19)
    assert "19" in caught.value.detail
    assert caught.value.hint
    assert chunk(TEXT, max_document_bytes=10_000) == chunk(TEXT)


# refusals: the message names the option and the value, the detail the range

LONG = "x" * 64
REFUSED: list[tuple[str, Any, str]] = [
    *[("max_tokens", v, "16") for v in (15, 0, -1, 1_000_001, None, 512.0, "512", True)],
    *[("target_tokens", v, "512") for v in (513, 0, -1, 2.5, "9", False)],
    *[("min_tokens", v, "0 to 512") for v in (513, -1, "9", True, 1.0)],
    *[("overlap_tokens", v, "0 to 256") for v in (257, 512, -1, "9", True)],
    *[("heading_path_tokens", v, "0 to 256") for v in (257, -1, "9", False)],
    *[("overlap", v, "'sentence'") for v in ("words", "", None, 1, "Tokens")],
    *[("heading_line", v, "'include'") for v in ("both", None, True)],
    *[("merge", v, "'previous'") for v in ("all", None, False)],
    *[("parser", v, "'markdown-it-py'") for v in ("mistune", None)],
    *[("split_levels", v, "1 to 6") for v in ((0,), (1, 7), (1.0,), ("1",), "123", None, 3, (True,))],
    *[
        (option, v, "true or false")
        for option in ("include_preamble", "repeat_table_header", "include_title")
        for v in (None, 1, 0, "true", "yes")
    ],
    *[("separator", v, "1 to 16 characters") for v in ("", "x" * 17, "a\nb", "\r", "\0", None, 3)],
    *[
        ("tokenizer", v, "cl100k_base, o200k_base")
        for v in (
            "gpt2",
            "",
            None,
            3,
            "hf:",
            "hf:../x",
            "hf:a/b",
            "/etc/passwd",
            "hf:.x",
            "hf:" + "x" * 101,
            "hf:a\n",
        )
    ],
    *[("max_document_bytes", v, "an integer from 1") for v in (0, -1, None, 1_000_000_001, 1.5)],
]


@pytest.mark.parametrize(("option", "value", "allowed"), REFUSED)
def test_wrong_values_are_refused_by_name_with_the_range(option, value, allowed):
    shown = "NULL" if value is None else repr(list(value) if isinstance(value, tuple) else value)
    makers = [
        lambda: Strategy(**{option: value}),
        lambda: Strategy().with_overrides(**{option: value}),
        lambda: Strategy.from_mapping("mine", {option: value}),
        lambda: chunk("# A\n\nx\n", **{option: value}),
    ]
    for make in makers:
        with pytest.raises(InvalidOption) as caught:
            make()
        assert caught.value.message == f"invalid value for option {option}: {shown}"
        assert caught.value.detail.startswith(f"{option} must be ")
        assert allowed in caught.value.detail
        assert caught.value.hint
        assert caught.value.sqlstate == "MD001"


@pytest.mark.parametrize("name", ["", " ", LONG, None, 3])
def test_a_wrong_name_is_refused(name):
    with pytest.raises(InvalidOption, match="option name"):
        Strategy(name=name)


def test_limits_are_those_of_the_options_given_together():
    assert Strategy(max_tokens=100, target_tokens=40, min_tokens=40, overlap_tokens=50, heading_path_tokens=50)
    with pytest.raises(InvalidOption, match="min_tokens: 41"):
        Strategy(max_tokens=100, target_tokens=40, min_tokens=41)
    with pytest.raises(InvalidOption, match="overlap_tokens: 64"):
        Strategy(overlap_tokens=64).with_overrides(max_tokens=100)


@pytest.mark.parametrize("unknown", ["max_token", "Max_Tokens", "name", "", "recipe_hash"])
def test_unknown_names_are_refused_with_the_known_ones(unknown):
    makers = [
        lambda: Strategy().with_overrides(**{unknown: 1}),
        lambda: Strategy.from_mapping("mine", {unknown: 1}),
        lambda: chunk("x", **{unknown: 1}),
    ]
    for make in makers[: 2 if unknown == "name" else 3]:
        with pytest.raises(InvalidOption, match="unknown option") as caught:
            make()
        assert repr(unknown) in caught.value.message
        assert all(name in caught.value.detail for name in OPTION_NAMES)


def test_from_mapping_takes_what_a_table_row_or_json_gives():
    options = {"max_tokens": 256, "split_levels": [1, 2], "target_tokens": None, "include_title": False}
    made = Strategy.from_mapping("mine", options)
    assert made == Strategy(name="mine", max_tokens=256, split_levels=(1, 2), include_title=False)


def test_overrides_keep_the_rest():
    made = STRATEGIES["focused"].with_overrides(max_tokens=300)
    assert (made.target_tokens, made.min_tokens, made.split_levels) == (256, 16, (1, 2, 3, 4, 5, 6))
    assert STRATEGIES["focused"].max_tokens == 512
    assert Strategy().with_overrides() == Strategy()


# the recipe hash

OTHER: dict[str, Any] = {
    "max_tokens": 511,
    "target_tokens": 400,
    "min_tokens": 63,
    "overlap_tokens": 63,
    "heading_path_tokens": 63,
    "overlap": "sentence",
    "split_levels": (1, 2),
    "heading_line": "include",
    "include_preamble": False,
    "merge": "previous",
    "repeat_table_header": False,
    "include_title": False,
    "separator": " / ",
    "tokenizer": "o200k_base",
}
UNHASHED: dict[str, Any] = {"parser": "markdown-it-py", "max_document_bytes": 5, "name": "other"}


def test_every_option_is_tried():
    assert {*OTHER, *UNHASHED} == {f.name for f in fields(Strategy)}


@pytest.mark.parametrize("option", OTHER)
def test_the_recipe_hash_changes_with_what_changes_chunks(option):
    hashes = {Strategy().recipe_hash, Strategy(**{option: OTHER[option]}).recipe_hash}
    assert len(hashes) == 2


def test_all_recipes_that_differ_in_one_option_differ_from_each_other():
    made = [
        Strategy(),
        *(Strategy(**{option: value}) for option, value in OTHER.items()),
        *STRATEGIES.values(),
    ]
    assert len({s.recipe_hash for s in made}) == len(made) - 1, "only the default is there twice"


@pytest.mark.parametrize("option", UNHASHED)
def test_the_recipe_hash_leaves_out_what_changes_no_chunk(option):
    assert Strategy(**{option: UNHASHED[option]}).recipe_hash == Strategy().recipe_hash


@pytest.mark.parametrize("version", [0, 99])
def test_the_recipe_hash_changes_with_the_chunkers_version(monkeypatch, version):
    before = Strategy().recipe_hash
    monkeypatch.setattr("pgchunk.strategy.CHUNKER_VERSION", version)
    assert Strategy().recipe_hash != before


def test_chunks_carry_the_recipe_they_were_made_with():
    assert {c.recipe_hash for c in cut()} == {Strategy(max_tokens=96).recipe_hash}


# the shipped strategies, as the table in docs/chunking.md gives them


def test_the_shipped_strategies():
    every = (1, 2, 3, 4, 5, 6)
    said = {
        name: (
            s.split_levels,
            s.heading_line,
            s.merge,
            s.overlap,
            s.max_tokens,
            s.target,
            s.min,
            s.overlap_limit,
        )
        for name, s in STRATEGIES.items()
    }
    assert said == {
        "default": ((1, 2, 3), "exclude", "next", "tokens", 512, 512, 64, 64),
        "sections": (every, "include", "none", "none", 512, 512, 64, 0),
        "packed": (every, "exclude", "previous", "sentence", 512, 512, 64, 64),
        "focused": (every, "exclude", "next", "none", 512, 256, 16, 0),
    }


def test_sections_gives_one_chunk_for_each_heading_with_its_line_first_and_alone():
    text = "# A\n\na\n\n## B\n\n### C\n\nc\n\n###### D\n\n> # quoted\n\n# E\n\ne\n"
    chunks = chunked(text, "Doc", "sections")
    assert paths(chunks) == [("A",), ("A", "B"), ("A", "B", "C"), ("A", "B", "C", "D"), ("E",)]
    for c in chunks:
        headings = [line for line in raw_lines([c]) if line.startswith("#")]
        assert len(headings) == 1
        assert c.raw_content.startswith(headings[0])
        assert breadcrumb_of(c) == " > ".join(["Doc", *c.heading_path[:-1]])
        assert ("heading_only" in c.flags) == (c.heading_path == ("A", "B"))


def test_sections_cuts_a_section_of_eight_thousand_tokens_and_marks_the_continuations():
    body = "\n\n".join(["A paragraph of some words. " * 20] * 66)
    assert count_tokens(body) > 7_900
    chunks = chunked(f"# A\n\n{body}\n", "Doc", "sections")
    assert len(chunks) > 15
    assert [c.continuation for c in chunks] == [False] + [True] * (len(chunks) - 1)
    assert max(c.content_token_count for c in chunks) <= 512
    assert not any({"split_sentence", "hard_split"} & set(c.flags) for c in chunks)


def test_packed_carries_the_last_sentence_over():
    chunks = chunked(f"# A\n\n{PROSE}\n", "Doc", "packed", max_tokens=96)
    assert len(chunks) > 4
    for before, after in pairwise(chunks):
        said = PROSE[after.char_start - 5 : before.char_end - 5]
        assert said.startswith("Sentence number")
        assert said.endswith(".")
        assert said.count(".") == 1


def test_focused_makes_no_chunk_of_headings_alone():
    text = "# A\n\n## B\n\n### C\n\n#### D\n\nwords\n\n## E\n\n## F\n\n# G\n\nmore\n\n# H\n"
    chunks = chunked(text, "Doc", "focused")
    assert not any("heading_only" in c.flags for c in chunks)


def test_focused_groups_table_rows_with_their_header_at_the_target():
    text = "# A\n\n| key | value |\n|---|---|\n" + "".join(f"| k{i} | v{i} |\n" for i in range(300))
    chunks = chunked(text, "Doc", "focused")
    assert len(chunks) > 8
    assert all(200 < c.content_token_count <= 256 for c in chunks[:-1])
    assert all("| key | value |" in c.content for c in chunks)
