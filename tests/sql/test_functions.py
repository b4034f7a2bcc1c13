"""preview, preview_document, count_tokens and outline; and that the server chunks as the package does."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, fields
from pathlib import Path

import pytest

import pgchunk

COLUMNS = [field.name for field in fields(pgchunk.Chunk)]
DOCUMENTS = {
    "markdown": "# T\n\nopening\n\n## A\n\n"
    + "Words of A. " * 300
    + "\n\n## B\n\n| a | b |\n|---|---|\n"
    + "".join(f"| {n} | {'cell ' * 20} |\n" for n in range(60))
    + "\n```python\n"
    + "x = 1\n" * 600
    + "```\n",
    "line ends": "# T\r\n\r\none\rtwo\u2028three\x0bfour\r\n\r\n## A\r\rb\r\n",
    "wide": "# 日本語の題\n\n" + "これは文です。" * 300 + "\n\n## 👩‍👩‍👧‍👦 e\u0301\n\n" + "👩‍👩‍👧‍👦" * 300,
    "special tokens": "# <|endoftext|>\n\n<|endoftext|> <|fim_prefix|>",
    "bom and front matter": "\ufeff---\ntitle: x\n---\n\ntext",
    "one word": "a" * 5000,
    "backslashes": "# a\\\"b {c} 'd'\n\n\\\\ \" ' {} , NULL\n\n## NULL\n\n" + "x " * 400 + '\n\n## "\n\n' + "y " * 400,
}


def as_rows(chunks):
    return [asdict(chunk) | {"heading_path": list(chunk.heading_path), "flags": list(chunk.flags)} for chunk in chunks]


# Parity


@pytest.mark.parametrize("name", DOCUMENTS)
def test_server_and_package_give_equal_chunks(db, rows, insert, name):
    text = DOCUMENTS[name]
    db.execute("UPDATE pgchunk.strategies SET is_active = true")
    document = insert(f"d/{name}", text, title="A title")
    for strategy in pgchunk.STRATEGIES:
        expected = as_rows(pgchunk.chunk(text, "A title", strategy))
        columns = ", ".join(COLUMNS)
        stored = f"SELECT {columns} FROM chunks WHERE document_id = %s AND strategy = %s ORDER BY ordinal"
        assert rows(stored, document, strategy) == expected
        assert rows("SELECT * FROM pgchunk.preview(%s, 'A title', %s)", text, strategy) == expected
        assert rows("SELECT * FROM pgchunk.preview_document(%s::bigint, %s)", document, strategy) == expected


def test_parity_on_the_projects_own_documents(rows):
    for path in sorted(Path(__file__).parents[2].glob("*.md")):
        text = path.read_text()
        assert rows("SELECT * FROM pgchunk.preview(%s)", text) == as_rows(pgchunk.chunk(text))


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("tokenizer", ["cl100k_base", "o200k_base"])
def test_count_tokens(value, text, tokenizer):
    assert value("SELECT pgchunk.count_tokens(%s, %s)", text, tokenizer) == pgchunk.count_tokens(text, tokenizer)


def test_count_tokens_uses_cl100k_base(value):
    assert value("SELECT pgchunk.count_tokens('hello world')") == 2
    assert value("SELECT pgchunk.count_tokens('')") == 0
    assert value("SELECT pgchunk.count_tokens(NULL)") is None


def test_stored_counts_are_those_of_count_tokens(insert, value):
    insert("u", DOCUMENTS["markdown"])
    wrong = (
        "SELECT count(*) FROM chunks WHERE token_count <> pgchunk.count_tokens(raw_content)"
        " OR content_token_count <> pgchunk.count_tokens(content)"
    )
    assert value(wrong) == 0


def test_outline(rows):
    text = "# A\n\n```\n# no\n```\n\nB\n---\n\n> # no\n\n####### no\n\n###### C ######\n"
    found = rows("SELECT * FROM pgchunk.outline(%s)", text)
    assert [(h["level"], h["title"]) for h in found] == [(1, "A"), (2, "B"), (6, "C")]
    assert [text[h["char_start"] : h["char_end"]].strip() for h in found] == [
        "# A",
        "B\n---",
        "###### C ######",
    ]


# preview


def test_preview_writes_nothing(db, rows, value):
    with db.transaction():
        db.execute("SET TRANSACTION READ ONLY")
        assert len(rows("SELECT * FROM pgchunk.preview(E'# A\\n\\nb')")) == 1
    assert value("SELECT count(*) FROM chunks") == 0


def test_preview_without_title_takes_the_texts_own(value):
    assert value("SELECT content FROM pgchunk.preview(E'# A\\n\\nb')") == "A\n\nb"
    assert value("SELECT content FROM pgchunk.preview(E'# A\\n\\nb', title => '')") == "A\n\nb"
    assert value("SELECT content FROM pgchunk.preview(E'# A\\n\\nb', title => 'T')") == "T > A\n\nb"


def test_preview_arguments_may_be_null_or_left_out(rows):
    assert rows("SELECT * FROM pgchunk.preview(NULL)") == []
    assert rows("SELECT * FROM pgchunk.preview('')") == []
    expected = rows("SELECT * FROM pgchunk.preview('x')")
    assert len(expected) == 1
    assert rows("SELECT * FROM pgchunk.preview('x', NULL, NULL, NULL, NULL)") == expected


def test_preview_uses_the_default_strategy_as_it_is_now(db, value):
    db.execute("UPDATE pgchunk.strategies SET is_default = (name = 'sections')")
    recipe = value("SELECT recipe_hash FROM pgchunk.strategies WHERE name = 'sections'")
    assert value("SELECT recipe_hash FROM pgchunk.preview('x')") == recipe
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 100 WHERE name = 'sections'")
    assert value("SELECT recipe_hash FROM pgchunk.preview('x')") == value(
        "SELECT recipe_hash FROM pgchunk.strategies WHERE name = 'sections'"
    )


def test_preview_with_overrides(rows):
    text = "Some words here. " * 100
    found = rows('SELECT * FROM pgchunk.preview(%s, overrides => \'{"max_tokens": 64, "overlap": "none"}\')', text)
    assert as_rows(pgchunk.chunk(text, max_tokens=64, overlap="none")) == found
    assert len(found) > 5
    levels = rows("SELECT * FROM pgchunk.preview(E'# A\\n\\nb', overrides => '{\"split_levels\": [2]}')")
    assert levels == as_rows(pgchunk.chunk("# A\n\nb", split_levels=(2,)))


def test_preview_of_plain_text(value):
    assert value("SELECT raw_content FROM pgchunk.preview(E'# A\\n\\nb', format => 'text')") == "# A\n\nb"


def test_preview_document_by_id_and_by_uri(insert, rows):
    document = insert("a.md", "# A\n\nb", metadata='{"pgchunk.strategy": "sections"}')
    stored = rows(f"SELECT {', '.join(COLUMNS)} FROM chunks")
    assert stored[0]["recipe_hash"] == pgchunk.STRATEGIES["sections"].recipe_hash
    assert rows("SELECT * FROM pgchunk.preview_document(%s::bigint)", document) == stored
    assert rows(f"SELECT * FROM pgchunk.preview_document({document})") == stored
    assert rows("SELECT * FROM pgchunk.preview_document('a.md')") == stored
    assert rows("SELECT * FROM pgchunk.preview_document('a.md', collection => 'default')") == stored
    assert rows("SELECT * FROM pgchunk.preview_document(NULL::text)") == []


# What the database is told about the functions


def test_count_tokens_works_in_parallel_workers(db, value):
    db.execute("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0")
    db.execute(
        "CREATE TABLE texts AS SELECT 'text number ' || n AS text FROM generate_series(1, 2000) AS n;ANALYZE texts"
    )
    query = "SELECT sum(pgchunk.count_tokens(text)) FROM texts"
    plan = "\n".join(line for (line,) in db.execute("EXPLAIN " + query))
    assert "Gather" in plan
    assert value(query) == sum(pgchunk.count_tokens(f"text number {n}") for n in range(1, 2001))


def test_content_hash_is_of_utf8(insert, value):
    insert("u", "häß 日本")
    assert value("SELECT content_hash FROM documents") == hashlib.sha256("häß 日本".encode()).hexdigest()
