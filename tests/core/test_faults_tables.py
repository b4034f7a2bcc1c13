"""Reported faults with tables: cut inside a row, column names lost, rows twice or missing."""

from __future__ import annotations

import itertools

import pytest
from checking import (
    breadcrumb_of,
    budget_kept,
    disjoint,
    lines,
    outlined,
    paths,
    raw_lines,
    separate,
    with_text,
)
from markdown_it import MarkdownIt

from pgchunk import STRATEGIES

HEADER = "| id | note |\n|---|---|\n"


def rows(count: int) -> list[str]:
    return [f"| {i} | entry {i} here |" for i in range(count)]


def table_of(embedded: str) -> list[list[str]]:
    """The cells of the only table in a text, row by row, as a renderer sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(embedded)
    assert sum(t.type == "table_open" for t in tokens) == 1, embedded
    found: list[list[str]] = []
    for token, following in itertools.pairwise(tokens):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("th_open", "td_open"):
            found[-1].append(following.content)
    return found


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [48, 96, 256])
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_b34_big_tables_are_cut_between_rows_and_keep_their_column_names(size, name, end):
    text = ("# T\n\nLead.\n\n" + HEADER + "\n".join(rows(60)) + "\n\nTail.\n").replace("\n", end)
    chunks = separate(text, "T", name, max_tokens=size, target_tokens=None)
    assert budget_kept(chunks, size)
    assert [line for line in raw_lines(chunks) if line.startswith("| ") and "entry" in line] == rows(60)
    pieces = [c for c in chunks if "entry" in c.raw_content]
    assert len(pieces) > 1
    for c in pieces:
        assert "split_table" in c.flags
        shown = c.raw_prefix + c.raw_content
        assert table_of(shown.partition("\n\nTail.")[0])[0] == ["id", "note"]
        assert c.heading_path == ("T",)
    for c in pieces[1:]:
        assert c.raw_prefix == HEADER.replace("\n", end)
        assert c.content == breadcrumb_of(c) + "\n\n" + c.raw_prefix + c.raw_content
        assert c.continuation


def test_b34_without_repetition_the_header_is_said_once():
    text = "# T\n\n" + HEADER + "\n".join(rows(60)) + "\n"
    chunks = separate(text, max_tokens=96, repeat_table_header=False)
    assert sum("| id | note |" in c.content for c in chunks) == 1
    assert not any(c.raw_prefix for c in chunks)


@pytest.mark.parametrize("header", ["| k | v |\n|---|---|\n", "k|v\n-|-\n", "| a name | another name |\n|---|---|\n"])
def test_b34_a_row_that_fits_is_not_cut_for_its_header(header):
    data = ["| abc | 1 |", "| bcd | 2 |", "| c | 3 |"]
    chunks = separate(f"# Use\n\n{header}" + "\n".join(data) + "\n", max_tokens=16)
    assert raw_lines(chunks)[-3:] == data


@pytest.mark.parametrize("size", [48, 512])
def test_b35_of_two_title_rows_the_one_above_the_delimiter_is_the_header(size):
    body = "| Region | Sales |\n| (EU) | (kEUR) |\n|---|---|\n" + "".join(f"| N{i} | {i} |\n" for i in range(30))
    chunks = separate("# T\n\n" + body, max_tokens=size)
    assert "".join(line + "\n" for line in raw_lines(chunks)) == body
    if size == 48:
        assert {c.raw_prefix for c in chunks if c.raw_prefix} == {"| (EU) | (kEUR) |\n|---|---|\n"}


@pytest.mark.parametrize("size", [64, 80, 128])
@pytest.mark.parametrize("title", ["", "The report of a whole year of work and play"])
def test_b36_breadcrumb_header_and_rows_share_one_budget(size, title):
    text = (
        "# A rather long title for one report of this house\n\n## Figures by region, product and year\n\n"
        + HEADER
        + "\n".join(rows(70))
        + "\n"
    )
    chunks = separate(text, title, max_tokens=size, heading_path_tokens=size // 2)
    assert budget_kept(chunks, size)
    assert [line for line in raw_lines(chunks) if "entry" in line] == rows(70)
    assert all(c.raw_prefix == HEADER for c in chunks[1:])


@pytest.mark.parametrize("delimiter", ["--|--", ":-|-:", "---|---"])
def test_b37_tables_without_outer_pipes_are_tables(delimiter):
    data = [f"key{i} | value {i}" for i in range(60)]
    header = f"a | b\n{delimiter}\n"
    text = "# T\n\n" + header + "\n".join(data) + "\n"
    (small,) = separate("# T\n\n" + header + "\n".join(data[:3]) + "\n")
    assert small.raw_content == header + "\n".join(data[:3])
    chunks = separate(text, max_tokens=64)
    assert [line for line in raw_lines(chunks) if line.startswith("key")] == data
    assert all(c.raw_prefix == header for c in chunks[1:])
    assert all("split_table" in c.flags for c in chunks)


@pytest.mark.parametrize("size", [24, 64, 512])
def test_b38_a_table_stays_at_its_place_under_its_heading(size):
    table = "| item | eur |\n|---|---|\n" + "".join(f"| pen {i} | {i} |\n" for i in range(8))
    text = f"# Doc\n\n## Prices\n\nBefore.\n\n{table}\nAfter.\n"
    chunks = separate(text, max_tokens=size)
    assert set(paths(chunks)) == {("Doc", "Prices")}
    joined = "\n".join(c.raw_content for c in chunks)
    assert joined.index("Before.") < joined.index("pen 0") < joined.index("pen 7") < joined.index("After.")


@pytest.mark.parametrize("size", [32, 512])
@pytest.mark.parametrize("rows_of_html", [1, 40])
def test_b39_an_html_table_is_covered_once(size, rows_of_html):
    html = "<table>\n" + "".join(f"<tr><td>a{i}</td><td>{i}</td></tr>\n" for i in range(rows_of_html)) + "</table>"
    chunks = separate(f"# T\n\n{html}\n\nAfter.\n", max_tokens=size)
    assert disjoint(chunks)
    assert [line for line in raw_lines(chunks) if line.startswith("<")] == html.split("\n")
    assert not any(c.raw_prefix for c in chunks)


def test_b40_an_escaped_pipe_is_no_cell_border():
    body = "| expr | meaning |\n|---|---|\n| `a \\| b` | or |\n| x \\| y | words |"
    (only,) = separate(f"# T\n\n{body}\n")
    assert only.raw_content == body
    assert table_of(only.raw_content)[1:] == [["`a | b`", "or"], ["x | y", "words"]]


@pytest.mark.parametrize("size", [16, 24, 40])
def test_b40_a_row_over_budget_is_not_cut_at_an_escaped_pipe(size):
    cells = [f"left{i} \\| right{i}" for i in range(60)]
    text = "# T\n\n| a | b |\n|---|---|\n| " + " | ".join(cells) + " |\n"
    chunks = separate(text, max_tokens=size)
    assert len(chunks) > 5
    for c in chunks:
        assert not c.raw_content.endswith("\\|"), c.raw_content
        assert not c.raw_content.endswith("\\"), c.raw_content
        assert not c.raw_content.startswith("right"), c.raw_content


@pytest.mark.parametrize("lead", ["The table:", "A sentence. Another one.", "- a list\n- of two"])
@pytest.mark.parametrize("tail", ["Done.", "> quoted", "```\ncode\n```"])
@pytest.mark.parametrize("size", [64, 96])
def test_r06_prose_around_a_table_does_not_turn_row_cuts_off(lead, tail, size):
    text = f"# T\n\n{lead}\n\n{HEADER}" + "\n".join(rows(80)) + f"\n\n{tail}\n"
    chunks = separate(text, max_tokens=size)
    assert [line for line in raw_lines(chunks) if "entry" in line] == rows(80)
    for c in chunks:
        if "entry" in c.raw_content:
            assert HEADER in c.raw_prefix + c.raw_content
    assert with_text(chunks, lead).char_start == 5
    assert chunks[-1].raw_content.endswith(tail)


@pytest.mark.parametrize("delimiter", ["|:-:|---|", "| --- | :--: |", "|-|-:|"])
def test_r07_the_delimiter_row_is_repeated_with_the_header(delimiter):
    text = f"# T\n\n| a | b |\n{delimiter}\n" + "".join(f"| {i} | x{i} |\n" for i in range(80))
    chunks = separate(text, max_tokens=96)
    assert len(chunks) > 3
    for c in chunks:
        shown = lines(c.raw_prefix + c.raw_content)
        assert [line.strip() for line in shown[:2]] == ["| a | b |", delimiter]
        assert len(table_of("".join(shown))) > 2


@pytest.mark.parametrize("size", [16, 512])
def test_r08_a_last_row_without_a_line_end_is_a_row(size):
    data = [f"{i} | {i + 1}" for i in range(30 if size == 16 else 2)]
    chunks = separate("# T\n\na | b\n--|--\n" + "\n".join(data), max_tokens=size)
    assert chunks[-1].raw_content.endswith(data[-1])
    assert [line for line in raw_lines(chunks) if line[0].isdigit()] == data
    assert table_of(chunks[-1].raw_prefix + chunks[-1].raw_content)[-1] == data[-1].split(" | ")


def test_r08_tables_are_outlined_as_no_heading():
    assert outlined("# T\n\na | b\n--|--\n1 | 2\n3 | 4") == [(1, "T")]


@pytest.mark.parametrize("marker", ["- ", "1. ", "> ", "- - "])
def test_tables_in_lists_and_quotes_are_cut_by_rows_with_their_header(marker):
    indent = "> " if marker == "> " else " " * len(marker)
    data = rows(60)
    text = f"# T\n\n{marker}Words before.\n{indent.rstrip()}\n" + "".join(
        indent + line + "\n" for line in (HEADER + "\n".join(data)).split("\n")
    )
    chunks = separate(text, max_tokens=80)
    assert [line.lstrip("> ") for line in raw_lines(chunks) if "entry" in line] == data
    for c in chunks:
        if "entry" in c.raw_content:
            assert "| id | note |" in c.raw_prefix + c.raw_content
            assert "|---|---|" in c.raw_prefix + c.raw_content


def test_a_header_too_big_to_repeat_stands_once():
    names = " | ".join(f"a long name of column {i}" for i in range(12))
    text = f"# T\n\n| {names} |\n|{'---|' * 12}\n" + f"|{' 1 |' * 12}\n" * 20
    chunks = separate(text, max_tokens=96)
    assert not any("column 11" in c.raw_prefix for c in chunks)
    assert sum(c.content.count("column 11") for c in chunks) == 1


@pytest.mark.parametrize("container", [("", ""), ("- ", "  "), ("7) ", "   "), ("> ", "> "), ("> - ", ">   ")])
@pytest.mark.parametrize("before", [[], ["Words before.", ""]])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_piece_of_a_cut_table_is_the_same_table_again(container, before, end):
    first, rest = container
    inside = [*before, *HEADER.split("\n")[:2], *rows(40)]
    text = end.join(["# T", "", *((rest if at else first) + line for at, line in enumerate(inside)), ""])
    said = []
    for c in separate(text, max_tokens=80):
        if "entry" in c.raw_content:
            header, *data = table_of(c.raw_prefix + c.raw_content)
            assert header == ["id", "note"]
            said += data
    assert said == [[str(i), f"entry {i} here"] for i in range(40)]
