"""Reported faults with small sections, and with what an edit changes."""

from __future__ import annotations

import pytest
from checking import breadcrumb_of, budget_kept, chunked, paths, with_text

from pgchunk import STRATEGIES, chunk

NAMES = sorted(STRATEGIES)


@pytest.mark.parametrize(("low", "size"), [(40, 200), (20, 64), (100, 512)])
@pytest.mark.parametrize("count", [2, 12, 40])
def test_b69_many_short_siblings_are_merged(low, size, count):
    text = "# A\n\n" + "".join(f"## S{i}\n\nOne short line.\n\n" for i in range(count))
    chunks = chunked(text, min_tokens=low, max_tokens=size)
    assert budget_kept(chunks, size)
    assert len(chunks) < count
    assert all("merged" in c.flags for c in chunks)
    assert all(c.token_count >= low for c in chunks[:-1])
    for c in chunks:
        assert c.heading_path[0] == "A"
        assert c.heading_path[1:] == (c.content.split("\n")[0].removeprefix("A > "),), "the first section's path"
    for i in range(count):
        assert sum(f"S{i}" in c.content.replace("\n", " ").split() for c in chunks) == 1


@pytest.mark.parametrize("merge", ["next", "previous"])
def test_b69_merged_text_is_one_verbatim_slice_with_the_headings_between(merge):
    text = "# A\n\nintro\n\n## B\n\nb\n\n## C\n\nc\n"
    (only,) = chunked(text, merge=merge)
    assert only.raw_content == "intro\n\n## B\n\nb\n\n## C\n\nc"
    assert only.heading_path == ("A",)


@pytest.mark.parametrize("name", ["default", "packed", "focused"])
@pytest.mark.parametrize("low", [10, 30, 60])
def test_b71_a_tiny_section_never_crosses_into_another_chapter(name, low):
    text = "# One\n\n## A\n\nsome text of a\n\n## B\n\ntiny\n\n# Two\n\n## C\n\ntext of c\n"
    chunks = chunked(text, strategy=name, min_tokens=low, max_tokens=512)
    owner = with_text(chunks, "tiny")
    assert owner.heading_path[0] == "One"
    assert "text of c" not in owner.raw_content
    assert with_text(chunks, "text of c").heading_path == ("Two", "C")


def test_b71_only_children_of_one_parent_are_merged_by_next():
    text = "# T\n\n## P\n\n### p1\n\na\n\n### p2\n\nb\n\n## Q\n\n### q1\n\nc\n\n### q2\n\nd\n"
    chunks = chunked(text)
    assert paths(chunks) == [("T", "P", "p1"), ("T", "Q", "q1")]
    assert [c.raw_content for c in chunks] == ["a\n\n### p2\n\nb", "c\n\n### q2\n\nd"]


FIRST = "# A\n\n{0}\n\n# B\n\n{1}\n\n# C\n\n{2}\n"


def identities(chunks):
    return [c.content_hash for c in chunks]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", [3, 200])
def test_b76_an_edit_changes_only_chunks_of_its_section(name, words):
    texts = [f"{letter} text here. " * words for letter in "abc"]
    before = FIRST.format(*texts)
    after = FIRST.format(texts[0], texts[1] + "\n\nnew paragraph", texts[2])
    old, new = (
        chunked(before, "T", name, max_tokens=64, target_tokens=None, min_tokens=0),
        chunked(after, "T", name, max_tokens=64, target_tokens=None, min_tokens=0),
    )
    for letter in "AC":
        kept = [(c.content_hash, c.heading_path, c.token_count) for c in old if c.heading_path == (letter,)]
        assert kept == [(c.content_hash, c.heading_path, c.token_count) for c in new if c.heading_path == (letter,)]
        assert kept
    assert identities(old) != identities(new)
    if words > 3:
        untouched = [h for h in identities(old) if h in set(identities(new))]
        assert len(untouched) >= len(old) - 1, "pieces in front of the new paragraph stay as they were"


@pytest.mark.parametrize("name", NAMES)
def test_b76_an_edit_changes_at_most_merge_neighbours(name):
    text = "".join(f"# H{i}\n\n## a\n\nshort {i}\n\n## b\n\nbrief {i}\n\n" for i in range(6))
    old, new = chunk(text, "T", name), chunk(text.replace("brief 3", "brief 3, changed"), "T", name)
    changed = [c for c in new if c.content_hash not in set(identities(old))]
    assert changed
    assert {c.heading_path[0] for c in changed} == {"H3"}


@pytest.mark.parametrize("name", NAMES)
def test_b77_shorter_versions_have_fewer_chunks_and_an_empty_one_none(name):
    versions = ["# A\n\nx\n\n# B\n\ny\n", "# A\n\nx\n", "# A\n", "", "\n\n"]
    counts = [len(chunked(text, "T", name, min_tokens=0)) for text in versions]
    assert counts == [2, 1, 1, 0, 0]
    first, second = (chunk(text, "T", name, min_tokens=0) for text in versions[:2])
    assert first[0].content_hash == second[0].content_hash


@pytest.mark.parametrize("name", NAMES)
def test_b78_there_is_one_embedded_text_and_it_carries_its_context(name):
    text = "# Doc\n\n## Part\n\nbody\n"
    (*_, last), (*_, again) = chunk(text, "Doc", name), chunk(text, "Doc", name)
    assert last == again
    assert last.content == f"{breadcrumb_of(last)}\n\n{last.raw_content}"
    assert all(word in last.content for word in ("Doc", "Part", "body"))
