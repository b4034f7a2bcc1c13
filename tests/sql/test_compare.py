"""compare() and compare_total(): two strategies on one document."""

from __future__ import annotations

import pytest

TEXT = "# Guide\n\n" + "\n\n".join(
    f"## Part {n}\n\n" + "\n\n".join(f"Paragraph {m} of part {n}. " * 20 for m in range(4)) for n in range(3)
)
A = ("a_ordinal", "a_char_start", "a_char_end", "a_tokens", "a_heading_path")
B = ("b_ordinal", "b_char_start", "b_char_end", "b_tokens", "b_heading_path")


@pytest.fixture
def compare(rows):
    def run(document, a, b, function="compare"):
        return rows(f"SELECT * FROM pgchunk.{function}(%s, %s, %s)", document, a, b)

    return run


def side(found, columns):
    return [tuple(row[c] for c in columns) for row in found if row[columns[0]] is not None]


def shown(chunks):
    names = ("ordinal", "char_start", "char_end", "content_token_count", "heading_path")
    return [tuple(chunk[name] for name in names) for chunk in chunks]


def test_a_strategy_with_itself(insert, compare, chunks_of):
    document = insert("guide.md", TEXT)
    found = compare("guide.md", "default", "default")
    assert side(found, A) == side(found, B) == shown(chunks_of(document))
    assert all(row["equal"] for row in found)
    assert [row["position"] for row in found] == list(range(len(found)))
    assert compare(document, "default", "default") == found


@pytest.mark.parametrize("other", ["sections", "packed", "focused"])
def test_stored_beside_preview(insert, compare, chunks_of, rows, other):
    document = insert("guide.md", TEXT)
    found = compare(document, "default", other)
    assert side(found, A) == shown(chunks_of(document))
    assert side(found, B) == shown(rows("SELECT * FROM pgchunk.preview_document('guide.md', %s)", other))
    for row in found:
        assert row["a_char_end"] is None or row["b_char_end"] in (None, row["a_char_end"])
    ends = [row["a_char_end"] or row["b_char_end"] for row in found]
    assert ends == sorted(set(ends)), "each place once, in order"
    swapped = compare(document, other, "default")
    assert side(swapped, B) == side(found, A)
    assert side(swapped, A) == side(found, B)


@pytest.mark.parametrize("other", ["default", "sections", "focused"])
def test_totals(db, insert, compare, other):
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    document = insert("guide.md", TEXT)
    found, totals = compare(document, "default", other), compare(document, "default", other, "compare_total")
    for total, columns in zip(totals, (A, B), strict=True):
        tokens = [row[3] for row in side(found, columns)]
        assert (total["chunks"], total["total_tokens"]) == (len(tokens), sum(tokens))
        assert (total["min_tokens"], total["max_tokens"]) == (min(tokens), max(tokens))
        assert float(total["avg_tokens"]) == round(sum(tokens) / len(tokens), 1)
        assert total["boundaries"] == len(tokens) - 1
        both = sum(row["a_ordinal"] is not None and row["b_ordinal"] is not None for row in found)
        assert total["boundaries_shared"] == both - 1, "the last two end together, and are no boundary"
    assert [t["strategy"] for t in totals] == ["default", other]
    assert [t["source"] for t in totals] == ["stored", "preview" if other == "focused" else "stored"]


def test_stale_chunks_are_compared_as_they_are(db, insert, compare, chunks_of):
    document = insert("guide.md", TEXT)
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 100 WHERE name = 'default'")
    (first, second) = compare(document, "default", "packed", "compare_total")
    assert (first["source"], first["chunks"]) == ("stored, stale", len(chunks_of(document)))
    assert second["source"] == "preview"


def test_no_name_is_the_default_strategy(insert, compare):
    insert("guide.md", TEXT)
    assert compare("guide.md", None, "focused") == compare("guide.md", "default", "focused")


def test_blank_and_null(insert, compare, value):
    insert("blank", "")
    assert compare("blank", "default", "focused") == []
    for total in compare("blank", "default", "focused", "compare_total"):
        assert (total["chunks"], total["min_tokens"], total["avg_tokens"], total["boundaries"]) == (0, None, None, 0)
    assert value("SELECT count(*) FROM pgchunk.compare(NULL::text, 'default', 'packed')") == 0
    assert value("SELECT count(*) FROM pgchunk.compare_total(NULL::bigint, 'default', 'packed')") == 0


def test_refused(insert, refused):
    insert("a", "x")
    refused("MD002", "SELECT pgchunk.compare('a', 'default', 'nowhere')")
    refused("MD009", "SELECT pgchunk.compare('b', 'default', 'packed')")
    refused("MD009", "SELECT pgchunk.compare_total(77, 'default', 'packed')")
    refused("MD008", "SELECT pgchunk.compare('a', 'default', 'packed', 'nowhere')")
