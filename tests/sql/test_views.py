"""The views: right figures on good chunks, and every kind of damage found."""

from __future__ import annotations

from itertools import pairwise

import pytest

TEXT = (
    "# Guide\n\nOpening words.\n\n## Table\n\n| a | b |\n|---|---|\n"
    + "".join(f"| {n} | {'cell ' * 20} |\n" for n in range(40))
    + "\n## Prose\n\n"
    + "A sentence of some length stands here. " * 120
)


@pytest.fixture
def document(insert):
    return insert("guide.md", TEXT)


def test_quality(db, document, insert, rows):
    insert("other.md", "x", title="Other")
    db.execute("UPDATE documents SET metadata = '{\"pgchunk.strategy\": \"sections\"}' WHERE source_uri = 'other.md'")
    default, sections = rows("SELECT * FROM chunk_quality ORDER BY strategy")
    sizes = sorted(r["n"] for r in rows("SELECT content_token_count AS n FROM chunks WHERE strategy = 'default'"))
    assert (default["documents"], default["chunks"]) == (1, len(sizes))
    assert (default["min_tokens"], default["max_tokens"]) == (sizes[0], sizes[-1])
    assert default["median_tokens"] == sizes[(len(sizes) - 1) // 2]
    assert float(default["avg_tokens"]) == pytest.approx(sum(sizes) / len(sizes), abs=0.06)
    for flag in ("undersized", "merged", "hard_split", "split_table", "split_code", "breadcrumb_truncated"):
        (count,) = rows("SELECT count(*) AS n FROM chunks WHERE flags @> ARRAY[%s] AND strategy = 'default'", flag)
        assert default[flag] == count["n"]
    assert default["split_table"] > 0
    assert default["over_budget"] == 0
    assert (sections["documents"], sections["chunks"]) == (1, 1)


def test_histogram_counts_every_chunk_once(document, rows, value):
    buckets = rows("SELECT * FROM chunk_histogram")
    assert len(buckets) == 16
    assert (buckets[0]["lower"], buckets[-1]["upper"]) == (1, 512)
    assert all(b["lower"] == a["upper"] + 1 for a, b in pairwise(buckets))
    for bucket in buckets:
        expected = value(
            "SELECT count(*) FROM chunks WHERE content_token_count BETWEEN %s AND %s",
            bucket["lower"],
            bucket["upper"],
        )
        assert bucket["chunks"] == expected
        assert bool(bucket["bar"]) == bool(expected)
    assert max(len(b["bar"]) for b in buckets) == 40


def test_histogram_shows_what_is_over_the_budget(db, document, rows, value):
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'")
    buckets = rows("SELECT * FROM chunk_histogram")
    assert sum(b["chunks"] for b in buckets) == value("SELECT count(*) FROM chunks")
    assert buckets[-1]["upper"] > 64
    assert value("SELECT over_budget FROM chunk_quality") > 0


def test_histogram_of_strategies_side_by_side(db, document, rows):
    db.execute("UPDATE pgchunk.strategies SET is_active = true, max_tokens = 100 WHERE name = 'packed'")
    db.execute("UPDATE documents SET content = content || ' more'")
    assert {b["strategy"] for b in rows("SELECT * FROM chunk_histogram")} == {"default", "packed"}


@pytest.mark.parametrize(
    ("content", "columns", "options", "reason"),
    [
        ("short", {}, "", "too_small"),
        ("x" * 9000, {}, "", "hard_split"),
        ("# Only a heading", {}, "", "heading_only"),
        ("# " + "long heading " * 60 + "\n\ntext", {}, "", "breadcrumb_truncated"),
        ("text " * 100, {}, "include_title = false", "no_breadcrumb"),
        ("word " * 600, {}, "", None),
    ],
)
def test_outliers(db, insert, rows, content, columns, options, reason):
    if options:
        db.execute(f"UPDATE pgchunk.strategies SET {options} WHERE name = 'default'")
    document = insert("u", content, **columns)
    found = rows("SELECT * FROM chunk_outliers")
    if reason is None:
        assert found == []
    else:
        assert reason in {r["reason"] for r in found}
    for row in found:
        assert (row["document_id"], row["source_uri"]) == (document, "u")
        assert len(row["remedy"]) > 20


def test_over_budget_is_an_outlier(db, document, rows):
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'")
    assert "over_budget" in {r["reason"] for r in rows("SELECT reason FROM chunk_outliers")}


# chunk_coverage


def test_coverage_of_good_chunks(document, insert, rows):
    insert("blank", "  \n")
    insert("text", "# no heading\n\npara", format="text")
    found = rows("SELECT * FROM chunk_coverage ORDER BY document_id")
    assert [(r["source_uri"], r["strategy"], r["ok"], r["problems"]) for r in found] == [
        (uri, "default", True, []) for uri in ("guide.md", "blank", "text")
    ]


DAMAGE = [
    # kind, what is done to the rows, what must be said
    ("raw_content", "UPDATE chunks SET raw_content = 'x' || raw_content WHERE ordinal = 1", "L1: chunk 1"),
    (
        "raw_content, same length",
        "UPDATE chunks SET raw_content = reverse(raw_content) WHERE ordinal = 1",
        "L1: chunk 1",
    ),
    (
        "offsets shifted",
        "UPDATE chunks SET char_start = char_start + 1, char_end = char_end + 1",
        "L1: chunk 0",
    ),
    (
        "offsets outside",
        "UPDATE chunks SET char_end = 1000000 WHERE ordinal = 1",
        "L1: chunk 1 has offsets outside",
    ),
    ("content", "UPDATE chunks SET content = 'x' WHERE ordinal = 1", "L1: chunk 1: content is not"),
    ("prefix", "UPDATE chunks SET raw_prefix = 'x' WHERE ordinal = 0", "L1: chunk 0"),
    (
        "breadcrumb",
        "UPDATE chunks SET content = 'Other' || content WHERE ordinal = 1",
        "content_hash is not that",
    ),
    ("first chunk gone", "DELETE FROM chunks WHERE ordinal = 0", "L2: text at offset"),
    ("middle chunk gone", "DELETE FROM chunks WHERE ordinal = 3", "L2: text at offset"),
    (
        "last chunk gone",
        "DELETE FROM chunks WHERE ordinal = (SELECT max(ordinal) FROM chunks)",
        "L2: text at offset",
    ),
    ("all chunks gone", "DELETE FROM chunks", "L2: text at offset"),
    (
        "token_count",
        "UPDATE chunks SET token_count = token_count + 1 WHERE ordinal = 1",
        "L3: chunk 1 stores",
    ),
    (
        "content_token_count",
        "UPDATE chunks SET content_token_count = 1 WHERE ordinal = 1",
        "L3: chunk 1 stores 1",
    ),
    (
        "over budget",
        "UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'",
        "over the budget of 64",
    ),
    ("ordinals", "UPDATE chunks SET ordinal = ordinal + 1", "L4: ordinal 1 where 0"),
    ("order", "UPDATE chunks SET ordinal = 1 - ordinal WHERE ordinal < 2", "L4: chunk 1 begins before"),
    ("chunk's hash", "UPDATE chunks SET content_hash = 'x' WHERE ordinal = 1", "chunk 1: content_hash"),
    (
        "document changed behind the trigger's back",
        "SET session_replication_role = replica; UPDATE documents SET content = 'new';RESET session_replication_role",
        "the document's content_hash",
    ),
    (
        "document's hash",
        "SET session_replication_role = replica; UPDATE documents SET content_hash = 'x';"
        "RESET session_replication_role",
        "the document's content_hash",
    ),
    ("strategy gone", "UPDATE chunks SET strategy = 'gone'", "strategy gone is not in"),
]


@pytest.mark.parametrize(("kind", "statement", "said"), DAMAGE, ids=[kind for kind, *_ in DAMAGE])
def test_coverage_finds_damage(db, document, problems, kind, statement, said):
    assert problems() == []
    db.execute(statement)
    found = problems()
    assert any(said in problem for problem in found), found


def test_coverage_tells_stale_from_damaged(db, document, problems):
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'")
    assert "stale" in problems()[0]
    db.execute("UPDATE documents SET content = content || ' '")
    assert problems() == []


def test_coverage_misses_no_active_strategy(db, document, rows):
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'packed'")
    (packed,) = rows("SELECT * FROM chunk_coverage WHERE strategy = 'packed'")
    assert not packed["ok"]


# The report for psql


def test_quality_report(document, psql):
    report = psql("-f", "sql/queries/quality.sql")
    for words in ("split_table", "hard_split"):
        assert words in report or "hard_split" in report
    assert "█" in report
    assert "guide.md" in report
    assert max(map(len, report.splitlines())) <= 120
    assert "guide.md" not in psql("-v", "strategy=packed", "-f", "sql/queries/quality.sql")


def test_views_are_cheap_enough_not_to_be_compiled(db, document):
    """The JIT compiler would take a second, more than the views take over the documents of a small database."""
    for view in ("quality", "histogram", "outliers", "coverage"):
        plan = "\n".join(line for (line,) in db.execute(f"EXPLAIN SELECT * FROM chunk_{view}"))
        assert "JIT:" not in plan, plan
