"""Reported faults with fenced code: comment lines taken for headings, and fences torn apart."""

from __future__ import annotations

import pytest
from checking import LINE_ENDS, chunked, lines, outlined, paths, raw_lines, separate, with_text
from markdown_it import MarkdownIt

from pgchunk import STRATEGIES, count_tokens

pytestmark = pytest.mark.parametrize("end", LINE_ENDS, ids=["lf", "crlf", "cr"])


def test_b01_comment_lines_in_a_fence_are_no_headings(end):
    text = (
        "# Make\n\n## Unix\n\n```sh\n# get\ntar xf a.tar\n## configure\n./configure\n```\n\nIt is built.\n"
        "\n## Windows\n\nDouble click.\n"
    ).replace("\n", end)
    assert outlined(text) == [(1, "Make"), (2, "Unix"), (2, "Windows")]
    for name in STRATEGIES:
        chunks = chunked(text, strategy=name, max_tokens=64, target_tokens=None, min_tokens=0)
        fence = with_text(chunks, "tar xf a.tar")
        assert "```sh" in fence.raw_content
        assert "./configure" + end + "```" in fence.raw_content
        assert fence.heading_path == ("Make", "Unix")
        assert with_text(chunks, "It is built.").heading_path == ("Make", "Unix")


@pytest.mark.parametrize("info", ["", "ini", "ini `x`", " a ``` b"])
@pytest.mark.parametrize("marker", ["~~~", "~~~~~"])
def test_b02_tilde_fences_hide_headings_and_may_have_backticks_behind_them(end, marker, info):
    text = f"## Settings\n\n{marker}{info}\n# the user\nx=me\n```\n# still code\n{marker}\n\nBehind.\n".replace(
        "\n", end
    )
    assert outlined(text) == [(2, "Settings")]
    assert paths(separate(text)) == [("Settings",)]


@pytest.mark.parametrize(("marker", "indent"), [("1. ", "   "), ("- ", "  "), ("10) ", "    ")])
def test_b03_a_fence_in_a_list_item_is_code(end, marker, indent):
    text = (
        f"# Steps\n\n{marker}First:\n\n{indent}```bash\n{indent}# no title\n{indent}ls -l\n{indent}```\n\n"
        f"{marker}Finished.\n\n# After\n\nMore.\n"
    ).replace("\n", end)
    assert outlined(text) == [(1, "Steps"), (1, "After")]
    first, second = separate(text)
    assert first.heading_path == ("Steps",)
    assert "# no title" in first.raw_content
    assert first.raw_content.endswith("Finished.")
    assert second.heading_path == ("After",)


@pytest.mark.parametrize(
    "info", ['python {title="a.py" .numbered}', "{.rust #id}", "js:line=3,4 hi", "c++", "a b ~~~ c"]
)
def test_b04_any_info_string_opens_a_fence(end, info):
    text = f"# One\n\n```{info}\n# x\n```\n\n# Two\n\nwords\n\n```\n# y\n```\n\n# Three\n".replace("\n", end)
    assert outlined(text) == [(1, "One"), (1, "Two"), (1, "Three")]
    assert with_text(separate(text), "words").heading_path == ("Two",)


@pytest.mark.parametrize("run", ["``~", "~~`", "`~`", "~`~~", "``", "~~"])
def test_b05_a_fence_is_three_or_more_of_one_character(end, run):
    text = f"# A\n\n{run} strange\n\n## B\n\nwords\n".replace("\n", end)
    assert outlined(text) == [(1, "A"), (2, "B")]
    assert with_text(separate(text), "words").heading_path == ("A", "B")


@pytest.mark.parametrize("size", [48, 128, 400])
@pytest.mark.parametrize(("opening", "closing"), [("```yaml", "```"), ("~~~~ text", "~~~~"), ("``` x", "`````")])
def test_b06_a_fence_that_cannot_fit_is_cut_at_line_ends_and_reopened(end, opening, closing, size):
    body = [f"name{i}: thing number {i}" for i in range(100)]
    text = "\n".join(["# Task", "", "Before.", "", opening, *body, closing, "", "Behind.", ""]).replace("\n", end)
    chunks = separate(text, max_tokens=size)
    assert [line for line in raw_lines(chunks) if line] == ["Before.", opening, *body, closing, "Behind."]
    code = [c for c in chunks if "thing number" in c.raw_content]
    assert len(code) > 2
    assert [c.continuation for c in chunks] == [False] + [True] * (len(chunks) - 1)
    for c in code:
        assert "split_code" in c.flags
        assert c.raw_content == text[c.char_start : c.char_end]
        embedded = [line.rstrip("\r\n") for line in lines(c.raw_prefix + c.raw_content + c.raw_suffix)]
        assert opening in embedded
        assert embedded[-1][:3] == closing[:3] or "Behind." in embedded
    for c in code[1:]:
        assert c.raw_prefix.rstrip("\r\n") == opening
    for c in code[:-1]:
        assert c.raw_suffix.strip() == closing


@pytest.mark.parametrize("count", [1, 5, 12])
def test_b06_a_fence_that_fits_is_kept_whole(end, count):
    code = "```py\n" + "".join(f"call_number({i})\n" for i in range(count)) + "```"
    text = (
        "# Job\n\n" + "Some words of prose here. " * 25 + f"\n\n{code}\n\n" + "And prose behind it. " * 25 + "\n"
    ).replace("\n", end)
    chunks = separate(text, max_tokens=128)
    assert count_tokens(code) < 128
    assert code.replace("\n", end) in with_text(chunks, "call_number(0)").raw_content
    assert not any("split_code" in c.flags for c in chunks)


CONTAINERS = {
    "top": ("", ""),
    "item": ("- ", "  "),
    "step": ("7) ", "   "),
    "quote": ("> ", "> "),
    "both": ("> - ", ">   "),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("where", ["first", "later"])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("marker", ["```", "~~~~"])
def test_b06_each_piece_of_cut_code_is_the_same_code_again(container, where, closed, marker, end):
    code = [f"{'  ' * (i % 3)}call_{i}(x)" for i in range(40)]
    fence = [f"{marker}py a=1", *code, *([marker] if closed else [])]
    before = ["Words before.", ""] if where == "later" else []
    first, rest = CONTAINERS[container]
    inside = [(rest if at else first) + line for at, line in enumerate([*before, *fence])]
    text = end.join(["# T", "", *inside, ""])
    said = []
    for c in separate(text, max_tokens=64):
        tokens = MarkdownIt("commonmark").parse(c.raw_prefix + c.raw_content + c.raw_suffix)
        blocks = [t for t in tokens if t.type == "fence"]
        assert [t.info for t in blocks] == (["py a=1"] if "call_" in c.raw_content else [])
        said += [line for t in blocks for line in t.content.rstrip("\n").split("\n")]
    assert said == code


def test_r01_a_backtick_fence_may_not_have_backticks_behind_it(end):
    text = "``` x`y\n\n# real\n\n~~~ x`y\n# unreal\n~~~\n".replace("\n", end)
    assert outlined(text) == [(1, "real")]


@pytest.mark.parametrize(("marker", "indent"), [("1. ", "   "), ("* ", "  ")])
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_r02_a_fence_in_an_item_ends_with_the_item(end, marker, indent, fence):
    text = f"{marker}item\n{indent}{fence}\n# out of the list\n\nwords\n\n{fence}\n# code\n{fence}\n".replace("\n", end)
    assert outlined(text) == [(1, "out of the list")]
    assert with_text(separate(text), "words").heading_path == ("out of the list",)
