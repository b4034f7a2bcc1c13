"""The page of `pgchunk inspect` before a browser has it: every character once, chunks where they are, nothing alive."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_markdown import documents, options

from pgchunk import STRATEGIES, Chunk, Strategy, chunk
from pgchunk.laws import problems
from pgchunk.strategy import OPTION_NAMES
from pgchunk_loader.inspect import segments as kinds
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.model import HEIGHTS, MOST_PROBLEMS, Page, build_page
from pgchunk_loader.inspect.page import render
from pgchunk_loader.inspect.plot import plot
from pgchunk_loader.inspect.segments import Segment, segments
from pgchunk_loader.inspect.words import FLAGS, settings_of

#: The same examples on every run, unless PGCHUNK_FUZZ=1 looks for new ones.
RELAXED = settings(
    deadline=None,
    derandomize=not os.environ.get("PGCHUNK_FUZZ"),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
VOID = {"meta", "link", "br", "rect", "path", "input"}
ROOT = Path(__file__).resolve().parents[2]


def cut_of(text: str, strategy: Strategy, format: str = "markdown") -> Cut:
    return Cut(strategy, chunk(text, "T", strategy, format=format), "for a test")


def whole(found: list[Segment]) -> str:
    return "".join(part.text for segment in found for part in segment.parts)


def kinds_of(text: str, **overrides: object) -> list[tuple[str, str]]:
    """The segments of a document as (kind, text)."""
    strategy = STRATEGIES["default"].with_overrides(**overrides)
    return [
        (each.kind, "".join(part.text for part in each.parts))
        for each in segments(Document(text, "T", "t.md"), cut_of(text, strategy))
    ]


class Seen(HTMLParser):
    """What a browser would see of a page.

    Attributes:
        texts: of each pane, the text in it.
        inside: the elements in these texts.
        scripts: the content of the script elements, by type.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.inside: set[str] = set()
        self.scripts: list[tuple[str, str]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.elements.append((tag, given))
        if self._in_text:
            self.inside.add(tag)
        if given.get("class") == "text":
            self.texts.append("")
        if tag == "script":
            self.scripts.append((given.get("type") or "", ""))
        if tag not in VOID:
            self._open.append((tag, given.get("class") == "text"))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self._in_text:
            self.texts[-1] += data
        elif self._open and self._open[-1][0] == "script":
            kind, content = self.scripts.pop()
            self.scripts.append((kind, content + data))

    @property
    def _in_text(self) -> bool:
        return any(text for _, text in self._open)


# The segments.


@settings(RELAXED, max_examples=200)
@given(documents(), options())
def test_every_character_is_in_one_segment_and_every_chunk_in_its_own(text, chosen):
    cut = cut_of(text, Strategy(**chosen))
    found = segments(Document(text, "T", "t.md"), cut)
    assert whole(found) == text
    assert [each.start for each in found] == [0, *(each.end for each in found[:-1])][: len(found)]
    chunks = {each.ordinal: each for each in cut.chunks}
    at = 0
    covered: dict[int, str] = dict.fromkeys(chunks, "")
    for segment in found:
        for part in segment.parts:
            owners = {n for n, each in chunks.items() if each.char_start <= at < each.char_end}
            if not part.outside:
                assert owners == set(segment.owners)
            else:
                assert not part.text.strip()
                assert owners <= set(segment.owners)
            for n in owners:
                covered[n] += part.text
            at += len(part.text)
    assert covered == {n: each.raw_content for n, each in chunks.items()}
    assert sorted(n for each in found for n in each.starts) == sorted(chunks)
    assert all(text[chunks[n].char_start :].startswith(each.parts[0].text) for each in found for n in each.starts)


@settings(RELAXED, max_examples=200)
@given(documents(), options())
def test_text_is_lost_only_where_a_law_is_broken(text, chosen):
    strategy = Strategy(**chosen)
    cut = cut_of(text, strategy)
    lost = [each for each in segments(Document(text, "T", "t.md"), cut) if each.kind == kinds.LOST]
    assert not problems(text, "T", strategy, cut.chunks)
    assert not lost


@settings(RELAXED, max_examples=50)
@given(documents(), options())
def test_plain_text_has_no_headings(text, chosen):
    found = segments(Document(text, "T", "t.txt", "text"), cut_of(text, Strategy(**chosen), "text"))
    assert whole(found) == text
    assert {each.kind for each in found} <= {kinds.CHUNK, kinds.BLANK, kinds.MARK}
    assert not any(part.heading for each in found for part in each.parts)


def test_what_is_outside_the_chunks_is_named() -> None:
    text = "\ufeff---\ntitle: X\n---\n\nBefore.\n\n# One\n\nfirst\n"
    assert kinds_of(text) == [
        ("mark", "\ufeff"),
        ("front", "---\ntitle: X\n---\n"),
        ("blank", "\n"),
        ("chunk", "Before.\n"),
        ("blank", "\n"),
        ("heading", "# One\n"),
        ("blank", "\n"),
        ("chunk", "first\n"),
    ]
    assert ("skipped", "\nBefore.\n\n") in kinds_of(text, include_preamble=False)


def test_text_that_no_chunk_has_is_lost() -> None:
    text = "# One\n\nfirst\n\n## Two\n\nsecond\n"
    made = chunk(text, "T", "sections", min_tokens=0)
    cut = Cut(STRATEGIES["sections"], made[:1], "")
    found = segments(Document(text, "T", "t.md"), cut)
    lost = "".join(part.text for each in found if each.kind == kinds.LOST for part in each.parts)
    assert lost == "## Two\n\nsecond\n"


def test_headings_in_a_path_are_told_from_those_that_are_only_text() -> None:
    text = "# One\n\nfirst\n\n## Two\n\nsecond\n\n#### Deep\n\nthird\n"
    cut = cut_of(text, STRATEGIES["default"].with_overrides(min_tokens=20))
    assert [each.heading_path for each in cut.chunks] == [("One",)]
    parts = [part for each in segments(Document(text, "T", "t.md"), cut) for part in each.parts if part.heading]
    assert [(part.text, part.in_path) for part in parts] == [
        ("# One\n", True),
        ("## Two\n", False),
        ("#### Deep\n", False),
    ]


def test_overlap_is_a_segment_of_both_chunks() -> None:
    text = "# A\n\n" + " ".join(f"Sentence number {n} stands here." for n in range(30)) + "\n"
    cut = cut_of(text, Strategy(max_tokens=64, overlap="sentence", overlap_tokens=16))
    both = [each for each in segments(Document(text, "T", "t.md"), cut) if len(each.owners) > 1]
    assert [each.owners for each in both] == [(n, n + 1) for n in range(len(cut.chunks) - 1)]
    assert [each.starts for each in both] == [(n + 1,) for n in range(len(cut.chunks) - 1)]
    assert all(each.cut for each in both[:-1])


def test_a_line_end_is_shown_with_its_line_and_no_line_is_added() -> None:
    """A segment is a block: one that ends in the middle of a line makes a line of its own, and says so."""
    text = "# A\r\n\r\n" + "\r\n\r\n".join(f"Paragraph {n}. It goes on." for n in range(12)) + "\r\n"
    cut = cut_of(text, Strategy(max_tokens=32, overlap_tokens=8))
    for each in segments(Document(text, "T", "t.md"), cut):
        shown = "".join(part.text for part in each.parts)
        assert each.cut == (not shown.endswith("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x01\x01b", ["a", "<U+0001 × 2>", "b"]),
        ("a\u202eb\u202c", ["a", "<U+202E>", "b", "<U+202C>"]),
        ("a\tb\r\nc", ["a\tb\r\nc"]),
        ("a\rb\r\rc", ["a", "<>", "b", "<>", "<>", "c"]),
        ("👨\u200d👩\u200d👧 e\u0301 🇩🇪", ["👨\u200d👩\u200d👧 e\u0301 🇩🇪"]),
        ("zero\u200bwidth", ["zero", "<U+200B>", "width"]),
    ],
)
def test_characters_that_cannot_be_seen_are_named(text: str, expected: list[str]) -> None:
    (segment,) = segments(Document(text, "T", "t.md"), cut_of(text, STRATEGIES["default"]))
    shown = [f"<{part.invisible}>" if part.invisible or part.ends_line else part.text for part in segment.parts]
    assert shown == expected


def test_tables_and_code_are_told_from_prose() -> None:
    text = "# A\n\nprose\n\n| a |\n|---|\n| 1 |\n\n```\ncode\n```\n\n    more\n\n- item\n"
    (pane,) = build_page(Document(text, "T", "t.md"), [cut_of(text, STRATEGIES["sections"])]).panes
    wide = ["".join(part.text for part in parts) for each in pane.segments for is_wide, parts in each.groups if is_wide]
    assert wide == ["| a |\n|---|\n| 1 |\n", "```\ncode\n```\n", "    more\n"]


def test_a_document_of_invisible_characters_does_not_become_elements_without_end() -> None:
    text = "\x01a" * 100_000
    made = Chunk(0, text, text, "", "", (), 1, 1, 0, len(text), False, (), "", "")
    found = segments(Document(text, "T", "t.md"), Cut(STRATEGIES["default"], [made], ""))
    assert whole(found) == text
    assert sum(len(each.parts) for each in found) <= 2 * kinds.MOST_MARKS + 1


def test_stored_offsets_that_are_wrong_are_shown_as_far_as_they_go() -> None:
    text = "# A\n\nSome words.\n"
    (made,) = chunk(text, "T")
    wrong = [replace(made, char_end=500), replace(made, ordinal=7, char_start=90, char_end=99)]
    page = build_page(Document(text, "T", "t.md"), [Cut(STRATEGIES["default"], wrong, "")])
    (pane,) = page.panes
    assert [item.anchor for item in pane.items] == ["a0", ""]
    assert Seen(render(page)).texts == [text]
    assert "content" in pane.data["chunks"][1]


# The page.


def page_of(text: str, *strategies: Strategy, title: str = "T", source: str = "t.md") -> Page:
    return build_page(Document(text, title, source), [cut_of(text, each) for each in strategies])


@settings(RELAXED, max_examples=60)
@given(documents(), options(), options())
def test_the_html_has_every_character_once_in_each_text(text, first, second):
    seen = Seen(render(page_of(text, Strategy(**first), Strategy(**second))))
    assert seen.texts == [text, text]
    assert seen.inside <= {"div", "span", "b", "a"}


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--",
    "-->",
    "<!--<script>",
    "</style>",
    "</title>",
    "</div></section></main></body></html>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus='alert(1)",
    "[x](javascript:alert(1))",
    "{{ 7*7 }}",
    "{% raw %}",
    "${alert(1)}",
    "]]>",
    "&lt;script&gt;",
    "&amp;",
    "&#13;",
    "\u2028",
    "\u2029",
    "\\u003cscript>",
    "`",
    "\x85",
    "\r",
    "\ufeff",
]
hostile = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.sampled_from(["a", " ", "\n\n", "# ", "| a |\n|---|\n"])), max_size=12
)


@settings(RELAXED, max_examples=150)
@given(hostile.map("".join), hostile.map("".join), hostile.map("".join))
def test_nothing_of_a_document_becomes_markup(text, title, source):
    strategy = Strategy(name="<b>'\"&</script>", max_tokens=32, separator="</b>")
    page = build_page(Document(text, title, source), [Cut(strategy, chunk(text, title, strategy), "<i>x</i>")])
    seen = Seen(render(page))
    assert seen.texts == [text]
    assert seen.inside <= {"div", "span", "b", "a"}
    assert [kind for kind, _ in seen.scripts] == ["application/json", ""]
    data = json.loads(seen.scripts[0][1])
    assert data == json.loads(json.dumps(page.data))
    for tag, attributes in seen.elements:
        assert tag not in {"img", "iframe", "object", "embed", "form", "base", "link", "i"}
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "style", "srcdoc"}]
        assert not (attributes.get("href") or "#").removeprefix("#").startswith("javascript")
        assert (attributes.get("href") or "#").startswith("#")


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    html = render(page_of("# A\n\ntext\n", STRATEGIES["default"]))
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)
    assert style
    assert script
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(each[1].encode()).digest()).decode() for each in (style, script)
    )
    policy = (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}';"
        " base-uri 'none'; form-action 'none'"
    )
    assert ("meta", {"http-equiv": "Content-Security-Policy", "content": policy}) in Seen(html).elements
    assert html.index("Content-Security-Policy") < html.index("<title>")


def test_the_page_loads_nothing_and_is_the_same_every_time() -> None:
    page = page_of("# A\n\ntext https://host.example/ here\n", STRATEGIES["default"])
    html = render(page)
    assert html == render(page)
    style_and_script = re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", html, re.DOTALL)
    assert not [each for each in style_and_script if re.search(r"url\(|@import|fetch\(|XMLHttp|innerHTML|eval\(", each)]


def test_totals_settings_flags_and_problems_are_on_the_page() -> None:
    text = "# A\n\n" + "Some words go here. " * 100 + "\n"
    strategy = STRATEGIES["default"].with_overrides(max_tokens=64)
    made = chunk(text, "T", strategy)
    wrong = [replace(each, content_token_count=each.content_token_count + 100) for each in made]
    found = problems(text, "T", strategy, wrong)
    cut = Cut(strategy, wrong, "x", frozenset({"max_tokens"}), problems=found * MOST_PROBLEMS, notes=["a note"])
    (pane,) = build_page(Document(text, "T", "t.md"), [cut]).panes
    assert pane.totals[0] == f"{len(made)} chunks"
    assert [each.name for each in pane.settings if each.marked] == ["max_tokens"]
    assert {each.name: each.value for each in pane.settings}["overlap"] == "tokens, 8"
    assert len(pane.problems or ()) == MOST_PROBLEMS
    assert pane.more_problems == len(found) * MOST_PROBLEMS - MOST_PROBLEMS
    assert {flag: count for flag, _, count in pane.flags}["split_block"] == len(made)
    assert any(name == "over" for name, _ in pane.plot.bars)
    html = render(build_page(Document(text, "T", "t.md"), [cut]))
    assert "a law of chunking does not hold" in html
    first = re.search(r"chunk (\d+)", found[0])
    assert first
    assert pane.problems is not None
    assert pane.problems[0] == (found[0], f"a{first[1]}")
    assert "a note" in html
    unchecked = render(build_page(Document(text, "T", "t.md"), [replace(cut, problems=None)]))
    assert "could not be checked" in unchecked


def test_settings_that_differ_are_marked_in_both() -> None:
    page = page_of("# A\n\ntext\n", STRATEGIES["default"], STRATEGIES["sections"])
    marked = [{each.name for each in pane.settings if each.marked} for pane in page.panes]
    assert marked == [{"overlap", "split_levels", "heading_line", "merge"}] * 2
    same = page_of("# A\n\ntext\n", STRATEGIES["default"], STRATEGIES["default"])
    assert not [each for pane in same.panes for each in pane.settings if each.marked]


def test_every_option_that_changes_chunks_is_a_setting() -> None:
    shown = {name for name, _ in settings_of(STRATEGIES["default"])}
    assert set(OPTION_NAMES) - shown == {"overlap_tokens", "parser", "max_document_bytes"}
    assert shown <= set(OPTION_NAMES)


def test_flags_are_explained_in_the_words_of_the_documentation() -> None:
    table = (ROOT / "docs" / "chunking.md").read_text("utf-8").partition("\n## Flags\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", table, re.MULTILINE)
    assert {flag: words.replace("`", "") for flag, words in rows if flag != "flag"} == FLAGS


def test_an_empty_document_has_a_page() -> None:
    for text in ("", " \n\t\n", "---\na: b\n---\n"):
        page = page_of(text, STRATEGIES["default"])
        assert Seen(render(page)).texts == [text]
        assert page.panes[0].totals == ("0 chunks",)


def test_bars_are_as_high_as_their_chunks_and_lines_lie_at_the_sizes() -> None:
    text = "# A\n\n" + "Some words go here. " * 100 + "\n"
    strategy = Strategy(max_tokens=100, target_tokens=50, min_tokens=10)
    made = chunk(text, "T", strategy)
    drawn = plot(made, strategy)
    assert drawn.width == len(made)
    heights = {name: [float(y) for y in re.findall(r"M\d+ 100V([\d.]+)h", path)] for name, path in drawn.bars}
    both = sorted(heights["k0"] + heights["k1"])
    assert both == pytest.approx(sorted(100 - each.content_token_count / 1.3 for each in made), abs=0.06)
    assert [(line.name, line.y) for line in drawn.lines] == [("max", 23.1), ("target", 61.5), ("min", 92.3)]


def test_heights_are_about_right() -> None:
    text = "# A\n\n" + "\n".join(f"line {n}" for n in range(400)) + "\n"
    made = Chunk(0, text, text, "", "", (), 1, 1, 0, len(text), False, (), "", "")
    page = build_page(Document(text, "T", "t.md"), [Cut(STRATEGIES["default"], [made], "")])
    (step,) = re.findall(r" e(\d+)", page.panes[0].segments[0].classes)
    assert 400 <= HEIGHTS[int(step)] <= 600
    assert f".e{step}{{--lines:{HEIGHTS[int(step)]}}}" in render(page)


def test_offsets_are_given_in_the_units_of_the_browser() -> None:
    text = "# A\n\n👍 one\n\n## B\n\n👍👍 two\n"
    page = page_of(text, STRATEGIES["default"].with_overrides(min_tokens=0))
    units = text.encode("utf-16-le")
    for each in page.panes[0].data["chunks"]:
        there = units[2 * each["at"] : 2 * each["till"]].decode("utf-16-le")
        assert there == text[each["from"] : each["to"]]
