"""Titles of headings as a person reads them, paths made of them, and the title of a document without one."""

from __future__ import annotations

import pytest
from checking import breadcrumb_of, chunked, outlined, paths, separate

from pgchunk import chunk
from pgchunk.title import derive_title
from pgchunk.titles import MAX_INLINE_CHARS, fold, plain_title


@pytest.mark.parametrize(
    ("source", "title"),
    [
        # plain text and closing runs
        ("Plain words", "Plain words"),
        ("C#", "C#"),
        ("  wide   blanks \t here  ", "wide blanks here"),
        ("100% of $5 & more", "100% of $5 & more"),
        ("snake_case and 2*3*4", "snake_case and 234"),
        # markup
        ("**bold** _it_ ~~gone~~", "bold it gone"),
        ("`code`", "code"),
        ("``a ` b``", "a ` b"),
        ("`**not bold**`", "**not bold**"),
        ("a \\*b\\* \\# \\`c\\`", "a *b* # `c`"),
        # entities
        ("AT&amp;T &copy; &#35; &lt;b&gt;", "AT&T © # <b>"),
        # links: the text stays, the target goes
        ("[text](http://host.example/#x)", "text"),
        ("[a [b] c](u)", "a [b] c"),
        ("<https://host.example/x>", "https://host.example/x"),
        ("[`code`](u) and [two](<v w> 'title')", "code and two"),
        ("[unknown][nowhere]", "[unknown][nowhere]"),
        ("[x] done", "[x] done"),
        # images go, unless nothing else is left
        ("![badge](b.svg) Name", "Name"),
        ("Name [![badge](b.svg)](u)", "Name"),
        ("![Only a picture](p.png)", "Only a picture"),
        ("[![Logo](l.png)](u)", "Logo"),
        ("![](p.png)", ""),
        # HTML tags go, their text stays
        ("Press <kbd>Ctrl</kbd>", "Press Ctrl"),
        ('<a id="x"></a>Name', "Name"),
        ("Name <!-- note -->", "Name"),
        ("a <b and c> d", "a d"),
        ("a < b > c", "a < b > c"),
        ("Vec<T>", "Vec"),
        ("`Vec<T>`", "Vec<T>"),
        # ids and anchors
        ("Name {#name}", "Name"),
        ("Name {#name .cls key=v}", "Name"),
        ("Name {.cls}", "Name"),
        ("Name {:.cls}", "Name"),
        ("Name {/*name*/}", "Name"),
        ("Name{#name}", "Name"),
        ("Sets {a, b}", "Sets {a, b}"),
        ("{#id} Name", "{#id} Name"),
        ("Name [#](#name)", "Name"),
        ("Name [¶](#name 'link')", "Name"),
        ("Name [](#name)", "Name"),
        ("Name [🔗](#name)", "Name"),
        ("Name [see](#name)", "Name see"),
        ("Name [#](http://host.example/)", "Name #"),
        # other scripts
        ("Größe — 東京 😀", "Größe — 東京 😀"),
        ("<|endoftext|>", "<|endoftext|>"),
    ],
)
def test_titles_are_plain(source, title):
    assert outlined(f"# {source}\n\nx\n") == [(1, title)]


@pytest.mark.parametrize("source", ["`code`", "`a` `b`", "![alt](u)", "[`x`](u)", "<kbd>K</kbd>", "&nbsp;x"])
def test_a_title_is_never_empty_because_it_was_all_markup(source):
    assert plain_title(source)


@pytest.mark.parametrize("source", ["", "   ", "<!-- c -->", "<a name='x'></a>", "![](u)", "[](#x)"])
def test_a_title_without_text_is_empty(source):
    assert plain_title(source) == ""


def test_reference_links_are_looked_up_in_the_document():
    text = "# See [the docs][d] and [d]\n\nx\n\n[d]: https://host.example/d\n"
    assert outlined(text) == [(1, "See the docs and d")]


def test_references_of_one_document_are_unknown_in_the_next():
    chunk("# [a][d]\n\n[d]: /u\n")
    assert outlined("# [a][d]\n") == [(1, "[a][d]")]


@pytest.mark.parametrize(
    "odd", ["\t", "\x01", "\x0b", "\x0c", "\x7f", "\x85", "\u00a0", "\u2028", "\u3000", " \t \x02 "]
)
def test_white_space_and_control_characters_are_folded(odd):
    assert outlined(f"# a{odd}b{odd}\n\nx\n") == [(1, "a b")]
    assert fold(f"{odd}a{odd}b{odd}") == "a b"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("break_", ["", "  ", "\\"])
def test_lines_of_a_setext_title_are_joined_by_a_blank(end, break_):
    text = f"One **two{break_}\nthree** four\n===\n\nx\n".replace("\n", end)
    assert outlined(text) == [(1, "One two three four")]


def test_a_heading_longer_than_any_title_is_taken_as_it_stands():
    source = "**bold** " * (MAX_INLINE_CHARS // 9 + 1)
    assert outlined(f"# {source}\n") == [(1, source.strip())]
    shorter = "**bold** " * 20
    assert outlined(f"# {shorter}\n") == [(1, ("bold " * 20).strip())]


def test_a_heading_without_a_title_splits_but_leaves_no_hole_in_paths():
    chunks = separate("# A\n\na\n\n##\n\nb\n\n### C\n\nc\n\n#\n\nd\n")
    assert paths(chunks) == [("A",), ("A",), ("A", "C"), ()]
    assert [c.raw_content for c in chunks] == ["a", "##\n\nb", "c", "#\n\nd"]
    assert [breadcrumb_of(c) for c in chunks] == ["A", "A", "A > C", ""]


def test_deeper_entries_are_cleared_and_skipped_levels_leave_no_holes():
    text = "## B\n\n1\n\n#### D\n\n2\n\n### C\n\n3\n\n# A\n\n4\n\n###### F\n\n5\n\n## G\n\n6\n"
    assert paths(separate(text, split_levels=(1, 2, 3, 4, 5, 6))) == [
        ("B",),
        ("B", "D"),
        ("B", "C"),
        ("A",),
        ("A", "F"),
        ("A", "G"),
    ]


@pytest.mark.parametrize(
    ("text", "uri", "title"),
    [
        ("# First\n\n# Second\n", "/a/b.md", "First"),
        ("## Two\n\n# One\n", "/a/b.md", "One"),
        ("Name\n===\n\nx\n", "b.md", "Name"),
        ("two lines\nof it\n===\n", "b.md", "two lines of it"),
        ("# `C#` [x](u)\n", "b.md", "C# x"),
        ("#\n\n# Real\n", "b.md", "Real"),
        ("```\n# code\n```\n\n# Real\n", "b.md", "Real"),
        ("> # quoted\n\n# Real\n", "b.md", "Real"),
        ("<!-- # no -->\n# Real\n", "b.md", "Real"),
        ("- # item\n", "/x/y.md", "y.md"),
        ("text only\n", "/docs/guide.md", "guide.md"),
        ("## Two\n", "https://host.example/docs/guide", "guide"),
        ("x", "https://host.example/docs/guide/", "guide"),
        ("x", "https://host.example/guide?a=b/c#d/e", "guide"),
        ("x", "name", "name"),
        ("", "/a/b.md", "b.md"),
        ("x", "/", "/"),
        ("---\ntitle: Said\n---\n# H\n", "b.md", "Said"),
        ("---\r\ntitle: Said\r\n---\r\n# H\r\n", "b.md", "Said"),
        ("---\ntitle: 'It''s'\n---\n", "b.md", "It's"),
        ('---\ntitle: "a \\"b\\" c"\n---\n', "b.md", 'a "b" c'),
        ("---\ntitle: Said # why\n---\n", "b.md", "Said"),
        ("---\ntitle: C# in a day\n---\n", "b.md", "C# in a day"),
        ('---\ntitle: "a # b" # c\n---\n', "b.md", "a # b"),
        ("---\nTitle: keys have a case\n---\n", "b.md", "b.md"),
        ("---\ntitle: null\n---\n# H\n", "b.md", "H"),
        ("---\ntitle: [a]\n---\n# H\n", "b.md", "H"),
        ("---\ntitle: 2026\n---\n# H\n", "b.md", "2026"),
        ("---\ntitle: a\n  b\n---\n# H\n", "b.md", "a b"),
        ("---\ntitle:\n---\n# H\n", "b.md", "H"),
        ('---\ntitle: ""\n---\n# H\n', "b.md", "H"),
        ("---\ntitle: >-\n  folded\n  twice\n---\n# H\n", "b.md", "folded twice"),
        ("---\nsub:\n  title: no\n---\n# H\n", "b.md", "H"),
        ("---\nsubtitle: no\n---\n# H\n", "b.md", "H"),
        ('+++\ntitle = "Said"\n+++\n# H\n', "b.md", "Said"),
        ("+++\ntitle = 'Said' # why\n+++\n", "b.md", "Said"),
        ("---\ntitle: never closed\n\n# H\n", "b.md", "H"),
    ],
)
def test_the_title_comes_from_front_matter_the_first_h1_or_the_uri(text, uri, title):
    assert derive_title(text, uri) == title


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "text",
    [
        "# T\n",
        "x\n\n# T\n",
        "x\n\nT\n===\n",
        "---\nother: x\n---\n# T\n",
        "---\nother: x\ntitle: T\nz: 1\n---\n# H\n",
        "+++\nother = 1\ntitle = 'T' # c\nz = 1\n+++\n",
    ],
)
def test_every_line_end_and_a_byte_order_mark_give_the_same_title(text, end, mark):
    assert derive_title(mark + text.replace("\n", end), "uri") == "T"


def test_a_title_in_a_toml_table_is_not_the_documents():
    assert derive_title("+++\n[menu]\ntitle = 'M'\n+++\n# H\n", "uri") == "H"
    assert derive_title("+++\ntitle = 'T'\n[menu]\ntitle = 'M'\n+++\n", "uri") == "T"


def test_plain_text_has_only_its_uri_for_a_title():
    assert derive_title("# No heading\n", "/a/b.txt", "text") == "b.txt"
    assert derive_title("---\ntitle: x\n---\n", "/a/b.txt", "text") == "b.txt"


@pytest.mark.parametrize("text", ["# A *b*\n\nx\n", "Intro.\n\n# A b\n\nx\n", "---\ntitle: A b\n---\n\n## C\n\nx\n"])
def test_a_title_that_is_left_out_is_derived_and_an_empty_one_is_none(text):
    assert chunk(text)[-1].content.startswith("A b")
    assert chunk(text) == chunk(text, "A b")
    bare = chunk("## C\n\nx\n", "")
    assert bare[0].content == "C\n\nx"
    assert chunk("## C\n\nx\n") == bare


@pytest.mark.parametrize("title", ["  Doc\n", "Doc\x00x".replace("\x00", "\x01"), "Do\tc"])
def test_a_given_title_is_one_line(title):
    (only,) = chunked("x\n", title)
    assert "\n" not in breadcrumb_of(only)
    assert breadcrumb_of(only) == fold(title)


def test_all_text_of_a_title_is_kept_at_any_depth_of_markup():
    nested = "*" * 50 + "deep" + "*" * 50
    assert "deep" in plain_title(nested)
    assert "deep" in plain_title("[" * 200 + "deep" + "](u)" * 200)
