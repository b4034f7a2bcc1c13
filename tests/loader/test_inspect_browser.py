"""The page of `pgchunk inspect` in a browser: what is seen, moved and clicked, and that nothing of a document runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import chromium
from pgchunk import STRATEGIES, Strategy, chunk
from pgchunk.laws import problems
from pgchunk_loader.inspect.document import Cut, Document
from pgchunk_loader.inspect.model import build_page
from pgchunk_loader.inspect.page import render

PROGRAM = chromium.find()
pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="no chromium on this machine"),
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("chromium"),
]

GUIDE = "---\ntitle: Guide\n---\n\nBefore it begins.\n\n" + "".join(
    f"# Part {n}\n\n"
    + "".join(f"## Step {n}.{m}\n\n" + f"Words of step {n}.{m} go here. " * 40 + "\n\n" for m in range(5))
    for n in range(6)
)
HOSTILE = """\ufeff---
title: "</title><script>document.title = 'ran'; alert('title')</script>"
---
Preamble <script>alert(1)</script><img src=x onerror="alert(2)"><svg onload=alert(3)>

# <b onclick=alert(4)>Bold</b> </script><script>alert(5)</script> &amp; &#60;

[link](javascript:alert(6)) {{ 7*7 }} ${alert(7)} </div></section></main></body></html>

```html
<!-- <script> --> <!--<script>alert(8)</script></script><script>alert(9)</script>
<iframe srcdoc="<script>alert(10)</script>"></iframe><link rel=stylesheet href=//host.example/x.css>
<meta http-equiv=refresh content="0;url=https://host.example/"><base href=//host.example/><form action=//host.example/>
```

]]> " onmouseover="alert(11)" x=' autofocus onfocus='alert(12) \x01\x01 \x85 \u2028 \u202egnp.exe tab\there
mixed\r\nline\rends \u05e9\u05dc\u05d5\u05dd e\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467 end
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[chromium.Browser]:
    assert PROGRAM
    with chromium.running(PROGRAM, tmp_path_factory.mktemp("browser") / "profile") as started:
        yield started


Show = Callable[..., chromium.Tab]


@pytest.fixture
def show(browser: chromium.Browser, tmp_path: Path) -> Iterator[Show]:
    """show(text, *strategies, title=, **screen) opens a page; at the end nothing may have been complained of."""
    tabs: list[chromium.Tab] = []

    def opened(text: str, *strategies: Strategy, title: str = "Guide", anchor: str = "", **screen: Any) -> chromium.Tab:
        cuts = []
        for each in strategies or (STRATEGIES["default"],):
            made = chunk(text, title, each)
            cuts.append(Cut(each, made, "for a test", problems=problems(text, title, each, made)))
        file = tmp_path / "page.html"
        file.write_bytes(render(build_page(Document(text, title, "guide.md"), cuts)).encode())
        tab = browser.tab()
        tabs.append(tab)
        tab.show(**screen)
        tab.open(file.as_uri() + anchor)
        return tab

    yield opened
    for tab in tabs:
        assert tab.complaints == []
        assert tab.dialogs == []
        assert [each for each in tab.requests if not each.startswith(tmp_path.as_uri())] == []
        tab.close()


def chosen(tab: chromium.Tab) -> str:
    """What the panel says which chunk it shows."""
    return str(tab.evaluate("document.getElementById('which').textContent"))


def embedded(tab: chromium.Tab) -> str:
    return str(tab.evaluate("document.querySelector('.embedded').textContent"))


def is_seen(tab: chromium.Tab, selector: str) -> bool:
    """Whether the upper edge of a segment is in sight."""
    return bool(
        tab.evaluate(
            f"(() => {{ const s = document.querySelector({json.dumps(selector)});"
            " const top = s.getBoundingClientRect().top; const view = s.closest('.text').getBoundingClientRect();"
            " return top >= view.top - 1 && top < view.bottom; })()"
        )
    )


# Nothing runs, nothing is lost.


def test_nothing_of_a_hostile_document_runs_and_all_of_it_is_shown(show: Show) -> None:
    strategies = [
        STRATEGIES["default"].with_overrides(max_tokens=48),
        STRATEGIES["sections"].with_overrides(max_tokens=32),
    ]
    title = "</title><script>document.title = 'ran'</script>"
    tab = show(HOSTILE, *strategies, title=title)
    assert tab.evaluate("document.title") == f"{title} · chunks"
    for view in ("text-a", "text-b"):
        assert tab.evaluate(f"document.getElementById('{view}').textContent") == HOSTILE
    assert tab.evaluate("document.scripts.length") == 2
    assert tab.evaluate("document.querySelectorAll('img, iframe, form, base, link, [onload], [onerror]').length") == 0
    for made in chunk(HOSTILE, title, strategies[0]):
        tab.press("n")
        shown = made.content.replace("\r\n", "\n").replace("\r", "\n")
        assert embedded(tab).replace("\r\n", "\n").replace("\r", "\n") == shown
    tab.click(".s.chunk:nth-last-child(2)")
    tab.point("#text-b .s.chunk")


def test_the_policy_stops_a_script_even_where_an_escape_would_fail(show: Show, tmp_path: Path) -> None:
    tab = show("# A\n\ntext\n")
    tab.evaluate(
        "document.querySelector('.text').insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')"
    )
    tab.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.ran = 2'}))"
    )
    tab.settle()
    assert tab.evaluate("window.ran === undefined")
    assert any("Content Security Policy" in each for each in tab.complaints)
    tab.complaints.clear()


# One strategy.


def test_the_keyboard_moves_from_chunk_to_chunk(show: Show) -> None:
    tab = show(GUIDE)
    made = chunk(GUIDE, "Guide")
    for ordinal in range(4):
        tab.press("n" if ordinal % 2 else "ArrowRight")
        assert chosen(tab) == f"Chunk {ordinal}"
        assert embedded(tab) == made[ordinal].content
        assert is_seen(tab, f"#a{ordinal}")
        assert tab.evaluate("document.activeElement.id") == f"a{ordinal}"
        assert tab.evaluate("document.activeElement.matches('.on')")
    tab.press("p")
    tab.press("ArrowLeft")
    assert chosen(tab) == "Chunk 1"
    assert f"Chunk 1, 2 of {len(made)}" in tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert f"Chunk 1, 2 of {len(made)}" in tab.evaluate("document.getElementById('status').textContent")
    assert tab.evaluate("document.querySelector('.list a.on .n').textContent") == "1"
    tab.press("Escape")
    assert chosen(tab) == ""
    assert tab.evaluate("document.querySelectorAll('.on, .over').length") == 0


def test_the_keyboard_goes_on_from_what_is_seen(show: Show) -> None:
    tab = show(GUIDE)
    tab.press("n")
    tab.evaluate("document.querySelector('#a9').scrollIntoView()")
    tab.settle()
    tab.press("n")
    assert chosen(tab) == "Chunk 9"


def test_the_first_and_the_last_chunk_are_ends(show: Show) -> None:
    tab = show(GUIDE, anchor="#a1")
    tab.press("p")
    tab.press("p")
    assert chosen(tab) == "Chunk 0"
    last = len(chunk(GUIDE, "Guide")) - 1
    tab.evaluate(f"document.querySelector('.list a[href=\"#a{last}\"]').click()")
    tab.settle()
    tab.press("n")
    assert chosen(tab) == f"Chunk {last}"
    assert is_seen(tab, f"#a{last}")


def test_the_keyboard_moves_even_where_there_is_hardly_room(show: Show) -> None:
    tab = show(GUIDE, *TWO, height=430)
    assert tab.evaluate("document.getElementById('text-a').clientHeight") < 60
    for ordinal in range(4):
        tab.press("n")
        assert chosen(tab) == f"Chunk {ordinal} of default"


def test_the_pointer_shows_and_a_click_holds(show: Show) -> None:
    tab = show(GUIDE)
    tab.point("#a0")
    assert chosen(tab) == "Chunk 0"
    tab.point("#a1")
    assert chosen(tab) == "Chunk 1"
    tab.click("#a1")
    tab.point("#a2")
    assert chosen(tab) == "Chunk 2"
    tab.point("h1")
    assert chosen(tab) == "Chunk 1"


def test_a_second_click_on_an_overlap_goes_to_the_other_chunk(show: Show) -> None:
    text = "# A\n\n" + " ".join(f"Sentence number {n} stands here." for n in range(60)) + "\n"
    tab = show(text, STRATEGIES["packed"].with_overrides(max_tokens=100, overlap_tokens=30))
    tab.click(".s.both")
    assert chosen(tab) == "Chunk 1"
    assert tab.evaluate("document.querySelector('.embedded .again').textContent.length") > 20
    tab.click(".s.both")
    assert chosen(tab) == "Chunk 0"
    assert "repeating-linear-gradient" in tab.evaluate(
        "getComputedStyle(document.querySelector('.s.both')).backgroundImage"
    )


def test_neighbouring_chunks_differ_in_colour_and_the_rest_from_both(show: Show) -> None:
    text = GUIDE.replace("Before it begins.\n\n", "")
    for dark in (False, True):
        tab = show(text, dark=dark)
        colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
        found = [tab.evaluate(colour.format(each)) for each in (".s.k0", ".s.k1", ".s.front", ".s.heading")]
        assert len(set(found)) == 4
        back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, back.removeprefix("rgb(").removesuffix(")").split(","))) < 200) is dark


def test_the_panel_tells_prefix_and_suffix_apart(show: Show) -> None:
    text = "# A\n\n| name | what |\n|---|---|\n" + "".join(f"| n{n} | words of row {n} |\n" for n in range(60))
    tab = show(text, STRATEGIES["default"].with_overrides(max_tokens=100))
    tab.press("n")
    tab.press("n")
    assert tab.evaluate("document.querySelector('.embedded .crumb').textContent") == "Guide > A"
    assert tab.evaluate("document.querySelector('.embedded .wrap').textContent") == "| name | what |\n|---|---|\n"
    assert "split_table: a table was cut" in tab.evaluate("document.querySelector('.facts').textContent")


def test_the_plot_and_the_flags_can_be_clicked(show: Show) -> None:
    tab = show(GUIDE, STRATEGIES["default"].with_overrides(max_tokens=128))
    made = chunk(GUIDE, "Guide", max_tokens=128)
    box = tab.evaluate(
        "(({left, top, width}) => [left, top, width])(document.querySelector('.plot').getBoundingClientRect())"
    )
    wanted = len(made) // 2
    tab.click_at(box[0] + box[2] * (wanted + 0.5) / len(made), box[1] + 30)
    assert chosen(tab) == f"Chunk {wanted}"
    assert is_seen(tab, f"#a{wanted}")
    assert tab.evaluate("document.querySelector('.plot .now').getAttribute('x')") == str(wanted)
    flagged = [each.ordinal for each in made if "split_block" in each.flags]
    tab.click("[data-flag=split_block]")
    assert chosen(tab) == f"Chunk {min(n for n in flagged if n > wanted)}"


def test_the_list_filters_and_jumps(show: Show) -> None:
    tab = show(GUIDE)
    made = chunk(GUIDE, "Guide")
    tab.press("/")
    assert tab.evaluate("document.activeElement.type") == "search"
    tab.call("Input.insertText", text="step 3.2")
    tab.settle()
    shown = "[...document.querySelectorAll('.list li:not([hidden]) .n')].map((each) => Number(each.textContent))"
    assert tab.evaluate(shown) == [each.ordinal for each in made if each.heading_path[-1:] == ("Step 3.2",)]
    tab.call("Input.insertText", text=" nothing")
    assert tab.evaluate("document.querySelector('.none').checkVisibility()")
    tab.press("Escape")
    assert tab.evaluate("document.activeElement === document.body")


def test_the_address_names_the_chunk(show: Show) -> None:
    tab = show(GUIDE, anchor="#a7")
    assert chosen(tab) == "Chunk 7"
    assert is_seen(tab, "#a7")
    tab.press("n")
    tab.evaluate("new Promise((resolve) => setTimeout(resolve, 400))")
    assert tab.evaluate("location.hash") == "#a8"


def test_a_document_without_chunks_has_a_page_that_answers_keys(show: Show) -> None:
    tab = show(" \n")
    for key in ("n", "p", "l", "w", "/", "?", "Escape"):
        tab.press(key)
    assert chosen(tab) == ""


def test_long_lines_wrap_or_do_not(show: Show) -> None:
    tab = show("# A\n\n" + "word " * 200 + "\n", STRATEGIES["default"])
    wide = "document.querySelector('#text-a').scrollWidth > document.querySelector('#text-a').clientWidth + 1"
    assert not tab.evaluate(wide)
    tab.press("w")
    assert tab.evaluate(wide)


def test_no_line_is_added_or_lost(show: Show) -> None:
    lines = [
        *(
            "---",
            "title: Guide",
            "---",
            "",
            "# A",
            "",
            "Prose",
            "of two lines.",
            "",
            "",
            "```",
            "code",
            "",
            "more",
            "```",
            "",
        ),
        *(
            "| a | b |",
            "|---|---|",
            "| 1 | 2 |",
            "",
            "## B",
            "",
            "    indented",
            "",
            "Setext",
            "---",
            "",
            "- item",
            "",
            "end",
        ),
    ]
    for line_end in ("\n", "\r\n", "\r"):
        text = line_end.join(lines) + line_end
        for strategy in (Strategy(max_tokens=16, min_tokens=0, overlap="none"), STRATEGIES["sections"]):
            tab = show(text, strategy)
            assert not tab.evaluate("document.querySelectorAll('.s.cut').length")
            heights = "[...document.querySelectorAll('#text-a .s')].map((s) => s.getBoundingClientRect().height)"
            assert sum(tab.evaluate(heights)) == pytest.approx(len(lines) * 19.5, abs=1)


def test_tables_and_code_are_not_wrapped_and_can_be_scrolled(show: Show) -> None:
    wide = "| " + "cell " * 60 + "| b |\n|---|---|\n| 1 | 2 |\n"
    tab = show(f"# A\n\n{wide}\nprose {'word ' * 100}\n\n```\n{'code ' * 80}\n```\n")
    size = "[each.scrollWidth > each.clientWidth, each.offsetHeight]"
    sizes = f"[...document.querySelectorAll('.wide')].map((each) => {size})"
    assert tab.evaluate(sizes) == [[True, pytest.approx(3 * 19.5, abs=1)], [True, pytest.approx(3 * 19.5, abs=1)]]
    assert tab.evaluate(
        "document.getElementById('text-a').scrollWidth <= document.getElementById('text-a').clientWidth"
    )


def test_what_is_copied_is_the_text_alone(show: Show) -> None:
    tab = show(GUIDE)
    copied = tab.evaluate(
        "(() => { const all = getSelection(); all.selectAllChildren(document.getElementById('text-a'));"
        " return String(all); })()"
    )
    assert "".join(copied.split()) == "".join(GUIDE.split())


# Two strategies.

TWO = (STRATEGIES["default"], STRATEGIES["focused"].with_overrides(target_tokens=64, max_tokens=128))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.83])
def test_two_texts_scroll_together_by_place_in_the_document(show: Show, share: float) -> None:
    tab = show(GUIDE, *TWO)
    for leader, follower in (("text-a", "text-b"), ("text-b", "text-a")):
        tab.point(f"#{leader}")
        tab.evaluate(
            f"(() => {{ const v = document.getElementById('{leader}'); v.scrollTop = v.scrollHeight * {share}; }})()"
        )
        for _ in range(4):
            tab.settle()
        places = tab.evaluate(
            "['text-a', 'text-b'].map((id) => { const view = document.getElementById(id);"
            " const edge = view.getBoundingClientRect().top; let at = 0;"
            " for (const s of view.children) { const box = s.getBoundingClientRect();"
            "  if (box.bottom > edge + 1) { const share = Math.max(0, edge - box.top) / box.height;"
            "   return at + share * s.textContent.length; } at += s.textContent.length; } })"
        )
        # Blocks may begin lines of their own, so that a line or two is as near as two texts can be.
        assert abs(places[0] - places[1]) < 250, (leader, follower, places)
        assert min(places) > 500


def test_the_same_line_stands_opposite_itself(show: Show) -> None:
    tab = show(GUIDE, *TWO)
    tab.evaluate("document.querySelector('.list a[href=\"#a12\"]').click()")
    for _ in range(4):
        tab.settle()
    at = chunk(GUIDE, "Guide", TWO[0])[12].char_start
    tops = tab.evaluate(
        f"(() => {{ const top = (id) => {{ let at = 0; for (const s of document.getElementById(id).children) {{"
        f" const n = s.textContent.length; if (at + n > {at}) {{ const walker = document.createTreeWalker(s, 4);"
        f"  for (let node = walker.nextNode(); node; node = walker.nextNode()) {{ if (at + node.data.length > {at}) {{"
        f"   const range = document.createRange(); range.setStart(node, {at} - at); range.setEnd(node, {at} - at + 1);"
        "    return range.getBoundingClientRect().top - document.getElementById(id).getBoundingClientRect().top; }"
        "   at += node.data.length; } } at += n; } };"
        " return [top('text-a'), top('text-b')]; })()"
    )
    assert tops[0] == pytest.approx(tops[1], abs=3)


def test_scrolling_together_can_be_switched_off(show: Show) -> None:
    tab = show(GUIDE, *TWO)
    tab.press("s")
    tab.point("#text-a")
    tab.evaluate("document.getElementById('text-a').scrollTop = 2000")
    for _ in range(3):
        tab.settle()
    assert tab.evaluate("document.getElementById('text-b').scrollTop") == 0
    tab.press("s")
    tab.settle()
    assert tab.evaluate("document.getElementById('text-b').scrollTop") > 500


def test_keys_pick_the_text_and_the_panel_names_the_other_chunks(show: Show) -> None:
    tab = show(GUIDE, *TWO)
    tab.press("2")
    tab.press("n")
    assert chosen(tab) == "Chunk 0 of focused"
    tab.press("1")
    tab.press("n")
    assert chosen(tab) == "Chunk 0 of default"
    first, second = (chunk(GUIDE, "Guide", each) for each in TWO)
    tab.press("n")
    here = first[1]
    twins = [each.ordinal for each in second if each.char_start < here.char_end and each.char_end > here.char_start]
    assert len(twins) > 1
    links = "[...document.querySelectorAll('.facts a')].map((each) => each.getAttribute('href'))"
    assert tab.evaluate(links) == [f"#b{n}" for n in twins]
    marked = "[...document.querySelectorAll('#pane-b .twin[id]')].map((each) => each.id)"
    assert tab.evaluate(marked) == [f"b{n}" for n in twins]
    tab.click(".facts a")
    assert chosen(tab) == f"Chunk {twins[0]} of focused"


# Small screens, paper, no scripts.


def test_on_a_telephone_one_text_is_shown_and_a_tap_tells_of_a_chunk(show: Show) -> None:
    tab = show(GUIDE, *TWO, width=390, height=844, touch=True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.evaluate("[...document.querySelectorAll('.pane')].map((each) => each.checkVisibility())") == [
        True,
        False,
    ]
    assert tab.evaluate("document.getElementById('text-a').clientHeight") > 420
    tab.tap("#a1")
    assert chosen(tab) == "Chunk 1 of default"
    assert not tab.evaluate("document.querySelector('.embedded').checkVisibility()")
    tab.tap("#more")
    assert tab.evaluate("document.querySelector('.embedded').checkVisibility()")
    tab.tap("#more")
    tab.evaluate("document.querySelector('#a12').scrollIntoView()")
    tab.settle()
    tab.tap("[data-pane='1']")
    for _ in range(3):
        tab.settle()
    assert tab.evaluate("[...document.querySelectorAll('.pane')].map((each) => each.checkVisibility())") == [
        False,
        True,
    ]
    assert tab.evaluate("document.getElementById('text-b').scrollTop") > 1000
    tab.tap("#list")
    assert tab.evaluate("document.querySelector('#chunks').checkVisibility()")
    tab.click_at(385, 400)
    assert not tab.evaluate("document.querySelector('#chunks').checkVisibility()")
    tab.tap("#list")
    tab.tap(".list:not([hidden]) li:nth-child(3) a")
    assert chosen(tab) == "Chunk 2 of focused"
    assert not tab.evaluate("document.querySelector('#chunks').checkVisibility()")


def test_all_of_the_text_is_printed(show: Show) -> None:
    tab = show(GUIDE, *TWO)
    pages = tab.pdf().count(b"/Type /Page\n")
    lines = len(GUIDE) / 90
    assert pages > 2 * lines / 70


def test_without_scripts_text_list_and_sizes_are_there(show: Show) -> None:
    tab = show(GUIDE)
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.reload()
    tab.call("Emulation.setScriptExecutionDisabled", value=False)
    assert tab.evaluate("document.getElementById('text-a').textContent") == GUIDE
    assert tab.evaluate("document.querySelector('.plot').checkVisibility()")
    assert tab.evaluate("document.querySelector('noscript').textContent").strip()
    assert chosen(tab) == ""


# Size.


@pytest.mark.slow
def test_a_megabyte_is_shown_and_moved_in(show: Show) -> None:
    text = GUIDE * (1_000_000 // len(GUIDE) + 1)
    tab = show(text, *TWO)
    nodes = tab.evaluate("document.querySelectorAll('*').length")
    chunks = tab.evaluate(
        "JSON.parse(document.getElementById('data').textContent).panes.map((each) => each.chunks.length)"
    )
    assert nodes < 12 * sum(chunks) + 500
    middle = chunks[0] // 2
    tab.evaluate(f"document.querySelector('.list a[href=\"#a{middle}\"]').click()")
    for _ in range(4):
        tab.settle()
    assert chosen(tab) == f"Chunk {middle} of default"
    assert is_seen(tab, f"#a{middle}")
    tab.press("n")
    assert chosen(tab) == f"Chunk {middle + 1} of default"


@pytest.mark.slow
def test_a_megabyte_on_one_line_is_shown(show: Show) -> None:
    tab = show("x" * 300_000 + " " + "word " * 100_000)
    tab.press("n")
    tab.press("n")
    assert chosen(tab) == "Chunk 1"
