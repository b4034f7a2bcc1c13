"""Reported faults with headings: what is one, what it is called, and which path the text below gets."""

from __future__ import annotations

import pytest
from checking import breadcrumb_of, chunked, outlined, paths, separate, with_text

from pgchunk import STRATEGIES, outline


@pytest.mark.parametrize("h1", ["=", "===", "=========  "])
@pytest.mark.parametrize("h2", ["-", "---", "------ \t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_b07_underlined_titles_are_headings(h1, h2, end):
    text = f"Manual\n{h1}\n\nOpening.\n\nInstall\n{h2}\n\nRun it.\n".replace("\n", end)
    assert outlined(text) == [(1, "Manual"), (2, "Install")]
    for heading, source in zip(outline(text), (f"Manual\n{h1}\n", f"Install\n{h2}\n"), strict=True):
        assert text[heading.char_start : heading.char_end] == source.replace("\n", end)
    chunks = separate(text)
    assert [(c.raw_content, c.heading_path) for c in chunks] == [
        ("Opening.", ("Manual",)),
        ("Run it.", ("Manual", "Install")),
    ]


@pytest.mark.parametrize("inside", ["-", "--- ", "===", "a\n-", "\n-\n"])
def test_b08_a_dash_in_a_comment_is_no_underline(inside):
    text = f"<!--\n{inside}\n-->\n\n# Real\n\nwords\n"
    assert outlined(text) == [(1, "Real")]
    first, second = separate(text)
    assert first.raw_content == f"<!--\n{inside}\n-->"
    assert second.heading_path == ("Real",)


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- # One -->",
        "<!--\n# One\n\n## Two\n-->",
        "<!-- x\nTitle\n===\n-->",
        "<!-- # One -->\n<!--\n## Two\n-->",
        "  <!--\n\n\n# One\n\n-->",
    ],
)
def test_b09_headings_in_comments_are_no_headings(comment):
    text = f"{comment}\n# Live\n\nWords.\n"
    assert outlined(text) == [(1, "Live")]
    chunks = separate(text)
    assert chunks[0].raw_content == comment
    assert chunks[0].heading_path == ()
    assert with_text(chunks, "Words.").heading_path == ("Live",)


@pytest.mark.parametrize("comment", ["<!-- todo -->", "<!-- a - b -->", "<!---->", "<!-- x --> <!-- y -->"])
def test_b10_a_comment_behind_a_heading_is_not_in_its_title(comment):
    text = f"# Doc\n\n## Setup {comment}\n\nBody.\n"
    assert outlined(text) == [(1, "Doc"), (2, "Setup")]
    included = separate(text, strategy="sections")
    assert with_text(included, "Body.").raw_content == f"## Setup {comment}\n\nBody."
    assert with_text(included, "Body.").heading_path == ("Doc", "Setup")


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("Use **fast** [mode](https://host.example/m) with `run`", "Use fast mode with run"),
        ("The *very* __best__ ~~old~~ way", "The very best old way"),
        ("[all](a) [of](b 'c') [it][r]", "all of it"),
        ("`a` **`b` [`c`](d)**", "a b c"),
        ("***deep [link **in** it](x)***", "deep link in it"),
    ],
)
def test_b11_titles_have_the_text_of_all_inline_parts(source, title):
    text = f"# Doc\n\n## {source}\n\nBody.\n\n[r]: https://host.example/r\n"
    assert outlined(text) == [(1, "Doc"), (2, title)]
    assert with_text(separate(text), "Body.").heading_path == ("Doc", title)


@pytest.mark.parametrize("tag", ["#todo", "#home/kitchen", "##x y", "#1", "#!shebang", "#\\ x", "#######  seven"])
def test_b12_a_tag_is_no_heading(tag):
    text = f"# Notes\n\n{tag} call back\n\n## Real\n\nx\n"
    assert outlined(text) == [(1, "Notes"), (2, "Real")]
    assert with_text(separate(text), tag).heading_path == ("Notes",)


@pytest.mark.parametrize("blank", [" ", "\t", "   ", " \t "])
def test_b12_a_blank_or_a_line_end_makes_a_heading(blank):
    assert outlined(f"#{blank}Real\n\nx\n\n##\n\ny\n") == [(1, "Real"), (2, "")]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## C#", "C#"),
        ("## Notes ##", "Notes"),
        ("## F\\#", "F#"),
        ("## C# ##", "C#"),
        ("## C ###########", "C"),
        ("## J\\# #", "J#"),
        ("## a #b", "a #b"),
        ("## x \\##", "x ##"),
        ("## x #\\##", "x ###"),
    ],
)
def test_b13_only_a_closing_run_behind_a_blank_is_dropped(line, title):
    assert outlined(f"{line}\n\na\n") == [(2, title)]


@pytest.mark.parametrize(
    "container",
    [
        "> # Said\n>\n> words of another",
        "- # Said\n\n  words of another",
        "1. # Said\n\n   words of another",
        "> > Said\n> > ===\n> >\n> > words of another",
        "- > ## Said\n  >\n  > words of another",
        "* Said\n  ---\n\n  words of another",
    ],
)
def test_b14_headings_in_quotes_and_lists_are_body_text(container):
    text = f"# Report\n\n## Part\n\n{container}\n\nThe end of the part.\n"
    assert outlined(text) == [(1, "Report"), (2, "Part")]
    chunks = separate(text)
    only = with_text(chunks, "Said")
    assert only.heading_path == ("Report", "Part")
    assert only.raw_content.endswith("The end of the part.")


@pytest.mark.parametrize(("size", "count"), [(256, 40), (128, 20), (512, 90)])
@pytest.mark.parametrize("level", [4, 5, 6])
def test_b15_an_oversize_section_is_cut_before_a_deeper_heading(size, count, level):
    marks = "#" * level
    text = (
        f"# Api\n\n## Auth\n\n{marks} Tokens\n\n"
        + "Token text here. " * count
        + f"\n\n{marks} Scopes\n\n"
        + "Scope text here. " * count
        + "\n"
    )
    assert outlined(text) == [(1, "Api"), (2, "Auth"), (level, "Tokens"), (level, "Scopes")]
    chunks = separate(text, max_tokens=size)
    assert set(paths(chunks)) == {("Api", "Auth")}
    for name, word in (("Tokens", "Token text"), ("Scopes", "Scope text")):
        owner = with_text(chunks, f"{marks} {name}")
        assert owner.raw_content.startswith(f"{marks} {name}\n\n{word}")
        assert word in owner.raw_content
    for c in chunks:
        assert not ("Token text" in c.raw_content and "Scope text" in c.raw_content)


def test_b15_each_fitting_part_below_a_deeper_heading_stays_whole():
    parts = [f"#### P{i}\n\n" + f"Words of part {i}. " * 12 for i in range(6)]
    chunks = separate("# Api\n\n### Auth\n\n" + "\n\n".join(parts) + "\n", max_tokens=128)
    for i in range(6):
        assert with_text(chunks, f"#### P{i}\n").raw_content.count(f"Words of part {i}.") == 12
    assert not any({"split_sentence", "hard_split"} & set(c.flags) for c in chunks)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_b16_closed_headings_are_seen_and_lose_their_closing_run(end):
    text = "# Rules #\n\n## Options ##   \n\nwords\n\n### a # b ###\n\nt\n\n## odd ####\n\nu\n".replace("\n", end)
    assert outlined(text) == [(1, "Rules"), (2, "Options"), (3, "a # b"), (2, "odd")]
    assert paths(separate(text)) == [("Rules", "Options"), ("Rules", "Options", "a # b"), ("Rules", "odd")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_r03_sharps_and_setext_titles_of_several_lines(end):
    text = "# C#\n\nx\n\nLong title\ngoes on\n   and on\n---\n\ny\n".replace("\n", end)
    assert outlined(text) == [(1, "C#"), (2, "Long title goes on and on")]
    assert paths(separate(text)) == [("C#",), ("C#", "Long title goes on and on")]


def test_b20_skipped_levels_leave_siblings_side_by_side():
    text = "# A\n\n### B\n\nx\n\n### C\n\ny\n\n## D\n\nz\n"
    assert paths(separate(text)) == [("A", "B"), ("A", "C"), ("A", "D")]
    deep = "# A\n\n###### B\n\nx\n\n#### C\n\ny\n\n##### E\n\nz\n\n## D\n\nw\n"
    assert paths(separate(deep, split_levels=(1, 2, 3, 4, 5, 6))) == [
        ("A", "B"),
        ("A", "C"),
        ("A", "C", "E"),
        ("A", "D"),
    ]
    assert paths(separate("### B\n\nx\n\n# A\n\ny\n\n### C\n\nz\n")) == [("B",), ("A",), ("A", "C")]


@pytest.mark.parametrize("separator", [" > ", " / ", "/"])
def test_b21_the_path_is_an_array_whatever_the_titles_hold(separator):
    text = "# TCP/IP > UDP\n\n## In > Out / Up\n\nx\n"
    (only,) = separate(text, separator=separator)
    assert only.heading_path == ("TCP/IP > UDP", "In > Out / Up")
    assert breadcrumb_of(only) == separator.join(only.heading_path)


@pytest.mark.parametrize("heading_line", ["exclude", "include"])
@pytest.mark.parametrize("between", ["\n", "\n\n", "\n\n\n\n"])
def test_b22_text_under_a_heading_has_that_headings_path(heading_line, between):
    text = between.join(["# A", "a", "# B", "b", "## C", "c"]) + "\n"
    chunks = separate(text, heading_line=heading_line)
    assert paths(chunks) == [("A",), ("B",), ("B", "C")]
    for c in chunks:
        assert c.raw_content[-1] == c.heading_path[-1].lower()
        assert c.raw_content.startswith("#") == (heading_line == "include")


@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("title", ["", "Doc", "Other name"])
def test_b23_each_title_is_said_once(name, title):
    text = "# Doc\n\nIntro words.\n\n## Limits\n\nTen per day.\n\n### Hard ones\n\nFive.\n"
    for c in chunked(text, title, name, min_tokens=0):
        for said in ("Doc", "Limits", "Hard ones", "Other name"):
            expected = said == title or said in c.heading_path
            assert c.content.count(said) == expected, c.content


def test_b24_headings_one_after_the_other_keep_their_own_place():
    text = "# A\n\n## B\n\n## C\n\n### D\n\nwords\n"
    assert outlined(text) == [(1, "A"), (2, "B"), (2, "C"), (3, "D")]
    for name in STRATEGIES:
        chunks = chunked(text, strategy=name, min_tokens=0)
        assert with_text(chunks, "words").heading_path == ("A", "C", "D")
        assert any("## B" in c.raw_content for c in chunks)


def test_b24_a_bodiless_heading_joins_its_next_sibling():
    chunks = chunked("# A\n\n## B\n\n## C\n\nwords of c\n\n## D\n\nwords of d\n", min_tokens=0)
    assert [c.raw_content for c in chunks] == ["## B\n\n## C\n\nwords of c", "words of d"]
    assert paths(chunks) == [("A", "B"), ("A", "D")]


def test_b25_a_later_section_keeps_its_parent():
    text = "# A\n\n## B\n\nb\n\n### b1\n\nx\n\n## C\n\nc\n\n### c1\n\ny\n\n# D\n\n### d1\n\nz\n"
    assert paths(separate(text)) == [
        ("A", "B"), ("A", "B", "b1"), ("A", "C"), ("A", "C", "c1"), ("D", "d1"),
    ]  # fmt: skip


@pytest.mark.parametrize("levels", [(), (1,), (2,), (1, 2), (1, 2, 3), (1, 3), (2, 4), (1, 2, 3, 4)])
def test_b26_only_the_chosen_levels_split(levels):
    words = {1: "one", 2: "two", 3: "three", 4: "four"}
    text = "".join(f"{'#' * n} {word.title()}\n\ntext {word}\n\n" for n, word in words.items())
    chunks = separate(text, split_levels=levels)
    splitting = [n for n in words if n in levels]
    preamble = [()] if 1 not in levels else []
    titles = [word.title() for word in words.values()]
    assert paths(chunks) == preamble + [tuple(titles[:n]) for n in splitting]
    for n, word in words.items():
        owner = with_text(chunks, f"text {word}")
        assert (f"{'#' * n} {word.title()}" in owner.raw_content) == (n not in levels)
