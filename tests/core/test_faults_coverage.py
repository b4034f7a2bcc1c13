"""Reported faults with lost text: preambles, last headings, definitions, front matter, lists, HTML."""

from __future__ import annotations

import pytest
from checking import (
    LINE_ENDS,
    chunked,
    disjoint,
    outlined,
    paths,
    raw_lines,
    separate,
    with_text,
    without_blanks,
)

from pgchunk import STRATEGIES, chunk
from pgchunk.errors import InvalidDocument
from pgchunk.frontmatter import split_front_matter

NAMES = sorted(STRATEGIES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "opening", ["Read me first.", "- a list\n- first", "| a |\n|---|\n| 1 |", "```\n# code\n```", "***"]
)
def test_b27_text_above_the_first_heading_is_kept(name, opening):
    first, *rest = chunked(f"{opening}\n\n# A\n\nx\n", "T", name)
    assert first.raw_content == opening
    assert first.heading_path == ()
    assert "preamble" in first.flags
    assert paths(rest) == [("A",)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tail", ["", "\n", "\n\n \n"])
@pytest.mark.parametrize("last", ["## Changelog", "# Other part", "Changelog\n---", "## Changelog ##"])
def test_b28_a_last_heading_without_text_is_covered(name, tail, last):
    chunks = chunked(f"# A\n\nx\n\n{last}{tail}", "T", name)
    assert chunks[-1].raw_content.endswith(last)
    assert name == "sections" or not any("heading_only" in c.flags for c in chunks) or last.startswith("# ")


@pytest.mark.parametrize("size", [16, 24])
def test_b29_text_in_front_of_a_deeper_heading_survives_the_cut(size):
    text = "## Topic\n\nLead sentence.\n\n#### Detail\n\n" + "More of the detail. " * 8 + "\n"
    chunks = separate(text, max_tokens=size)
    assert chunks[0].raw_content == "Lead sentence."
    assert chunks[1].raw_content.startswith("#### Detail\n\nMore")
    assert set(paths(chunks)) == {("Topic",)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [16, 24, 512])
def test_b30_tables_and_code_are_covered_in_order(name, size):
    parts = [
        "Text.",
        "|k|v|\n|-|-|\n|a|1|",
        "```py\nprint(1)\n```",
        "    indented",
        "<b>\nhtml\n</b>",
        "End.",
    ]
    chunks = separate("# Use\n\n" + "\n\n".join(parts) + "\n", strategy=name, max_tokens=size, target_tokens=None)
    assert [line for line in raw_lines(chunks) if line and line != "# Use"] == "\n".join(parts).split("\n")


@pytest.mark.parametrize("name", NAMES)
def test_r04_definitions_rules_and_bare_headings_are_covered(name):
    text = "# Only\n\n## Links\n\n[r]: https://host.example/r\n[^n]: A note.\n\n***\n"
    assert outlined(text) == [(1, "Only"), (2, "Links")]
    chunks = chunked(text, strategy=name)
    whole = "\n".join(c.raw_content for c in chunks)
    for part in ("[r]: https://host.example/r", "[^n]: A note.", "***"):
        assert part in whole
    assert {"Only", "Links"} <= {t for c in chunks for t in c.heading_path}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["# Only", "# Only\n\n## Two\n", "Only\n===\n\n### Deep\n\n# Last #\n", "#### Deep\n"])
def test_r04_a_file_of_headings_only_gives_a_chunk(name, text):
    chunks = chunked(text, strategy=name)
    assert chunks
    whole = "\n".join(c.content for c in chunks)
    assert all(title in whole for title in ("Only", "Two", "Deep", "Last") if title in text)


@pytest.mark.parametrize("depth", [5, 20, 21, 30, 100, 1000])
@pytest.mark.parametrize("marker", ["> ", "- ", "1. "])
def test_r05_text_below_many_levels_of_nesting_is_covered(depth, marker):
    text = "# A\n\n" + marker * depth + "deep text\n\nafter\n"
    chunks = separate(text, max_tokens=128)
    assert with_text(chunks, "deep text")
    assert with_text(chunks, "after").heading_path == ("A",)
    assert without_blanks("".join(c.raw_content for c in chunks)) == without_blanks(text.removeprefix("# A"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("end", LINE_ENDS)
def test_b72_front_matter_is_no_heading(name, end):
    text = "---\ntitle: Report\ntags: [a, b]\n# a comment\nlong: >\n  folded\n---\n\n# Report\n\nx\n".replace("\n", end)
    assert outlined(text) == [(1, "Report")]
    (only,) = chunked(text, "Report", name)
    assert only.heading_path == ("Report",)
    assert "tags" not in only.content
    found = split_front_matter(text)
    assert text[found.start : found.end].startswith("---")
    assert found.body.replace(end, "\n") == "title: Report\ntags: [a, b]\n# a comment\nlong: >\n  folded\n"


@pytest.mark.parametrize("opening", ["---", "+++"])
@pytest.mark.parametrize("follows", ["Opening text.", "title: T", "", "a\n\nb"])
def test_b73_without_a_closing_line_nothing_is_skipped(opening, follows):
    text = f"{opening}\n\n{follows}\n\n# A\n\nx\n"
    assert outlined(text) == [(1, "A")]
    chunks = separate(text)
    assert chunks[0].raw_content.startswith(opening)
    assert chunks[0].raw_content.endswith(follows or opening)
    assert chunks[-1].heading_path == ("A",)


@pytest.mark.parametrize(
    "between", ["Just prose.\n", "Prose: with a colon? No.\n\nMore.\n", "# A heading\n", "- a list\n"]
)
def test_b73_text_between_two_rules_is_no_front_matter(between):
    text = f"---\n\n{between}\n---\n\n# A\n\nx\n"
    whole = "".join(c.raw_content for c in separate(text))
    for line in between.split("\n"):
        assert line in whole or line == "# A heading"


@pytest.mark.parametrize("kind", ["---", "+++"])
@pytest.mark.parametrize("name", NAMES)
def test_b74_metadata_is_kept_apart_from_the_text(kind, name):
    entries = "type: howto\ntags: [one, two]\n" if kind == "---" else "type = 'howto'\ntags = ['one', 'two']\n"
    text = f"{kind}\n{entries}{kind}\nIntro line.\n\n# A\n\nx\n"
    chunks = chunked(text, "T", name)
    assert chunks[0].raw_content == "Intro line."
    assert not any("howto" in c.content for c in chunks)
    assert split_front_matter(text).body == entries


@pytest.mark.parametrize("end", LINE_ENDS)
def test_r10_a_comment_in_toml_front_matter_is_no_heading(end):
    text = '+++\ntitle = "T"\n# note\n[params]\nx = 1\n+++\n\n# T\n\nx\n'.replace("\n", end)
    assert outlined(text) == [(1, "T")]
    assert [c.raw_content for c in separate(text)] == ["x"]


@pytest.mark.parametrize("position", ["# A\n\nx\0y\n", "\0", "# A\0B\n\nx\n", "a\n\0"])
@pytest.mark.parametrize("format", ["markdown", "text"])
def test_b75_a_nul_is_refused_with_its_place(position, format):
    with pytest.raises(InvalidDocument, match=rf"NUL character at offset {position.index(chr(0))}") as caught:
        chunk(position, format=format)
    assert caught.value.hint


def test_b75_a_replacement_character_of_the_text_itself_is_kept():
    assert [c.raw_content for c in separate("# A\n\nx\ufffdy\n")] == ["x\ufffdy"]


@pytest.mark.parametrize("size", [16, 512])
@pytest.mark.parametrize("first", [0, 5, 99])
@pytest.mark.parametrize("mark", [".", ")"])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_b81_numbered_lists_keep_their_numbers(size, first, mark, gap):
    items = [f"{first + i}{mark} the item of number {first + i}" for i in range(12 if size == 16 else 3)]
    chunks = separate("# L\n\n" + gap.join(items) + "\n", max_tokens=size)
    assert [line for line in raw_lines(chunks) if line] == items
    assert len(chunks) > 5 or size == 512
    assert all(c.raw_content.partition(mark)[0].isdigit() for c in chunks)


@pytest.mark.parametrize("size", [48, 96, 200])
@pytest.mark.parametrize("gap", ["", "\n"])
def test_b82_oversize_lists_are_cut_between_items(size, gap):
    items = [f"- item {i} has some words\n  - sub {i} of it\n{gap}" for i in range(60)]
    body = "".join(items).rstrip()
    chunks = separate(f"# L\n\n{body}\n", max_tokens=size)
    assert disjoint(chunks)
    assert [line for line in raw_lines(chunks) if line] == [line for line in body.split("\n") if line]
    for c in chunks:
        assert c.raw_content.startswith("- item"), "nested lines stay with their item"
        assert "split_block" in c.flags


@pytest.mark.parametrize("size", [32, 64])
def test_b82_an_item_that_fits_stays_whole_with_all_its_blocks(size):
    item = "- item {0}\n\n  A second paragraph {0}.\n\n  ```\n  code {0}\n  ```\n"
    body = "\n".join(item.format(i) for i in range(20))
    chunks = separate(f"# L\n\n{body}", max_tokens=size)
    for c in chunks:
        assert c.raw_content.startswith("- item")
        assert c.raw_content.endswith("```")
        assert not c.raw_prefix


@pytest.mark.parametrize("name", NAMES)
def test_b83_imports_in_front_of_the_title_hide_nothing(name):
    imports = "import Tabs from '@theme/Tabs';\nimport {a} from 'b';\n\n"
    text = f"{imports}# Title\n\n<Tabs>\n\n## Inner\n\nx\n\n</Tabs>\n"
    assert outlined(text) == [(1, "Title"), (2, "Inner")]
    first, *rest = chunked(text, "", name, min_tokens=0)
    assert first.raw_content.startswith("import Tabs")
    assert first.heading_path == ()
    assert with_text(rest, "</Tabs>").heading_path == ("Title", "Inner")


@pytest.mark.parametrize("name", NAMES)
def test_b84_footnotes_stay_in_the_section_they_stand_in(name):
    note = "[^1]: Source of the claim.\n    With more of it.\n"
    text = f"# A\n\nClaim.[^1]\n\n[^2]: Near.\n\n# B\n\nOther.[^2]\n\n{note}"
    chunks = separate(text, strategy=name)
    assert with_text(chunks, "[^1]: Source").heading_path == ("B",)
    assert "With more of it." in with_text(chunks, "[^1]: Source").raw_content
    assert with_text(chunks, "[^2]: Near").heading_path == ("A",)


@pytest.mark.parametrize("size", [16, 512])
@pytest.mark.parametrize(
    "body",
    [
        "Press <kbd>Ctrl</kbd> or see <https://host.example/x>.<br/>End.",
        "A <b>bold <i>word</b></i> and <unclosed",
        "Mail <me@host.example> & &amp; &copy; <!-- c --> <?php x ?> <![CDATA[y]]>",
    ],
)
def test_b85_inline_html_is_kept(size, body):
    chunks = separate(f"# A\n\n{body}\n", max_tokens=size)
    assert without_blanks("".join(c.raw_content for c in chunks)) == without_blanks(body)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [16, 512])
def test_r11_code_html_and_nested_lists_are_covered_in_order(name, size):
    body = "    indented code\n\n<aside>\nnote\n</aside>\n\n- a\n  - b\n\n> said\n> > twice\n\n***\n\n[r]: /u"
    chunks = separate(f"# A\n\n{body}\n", strategy=name, max_tokens=size, target_tokens=None)
    assert [line for line in raw_lines(chunks) if line and line != "# A"] == [line for line in body.split("\n") if line]
