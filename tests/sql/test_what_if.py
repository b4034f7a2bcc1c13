"""what_if(): nothing is written, and its figures are those of what rechunk() then does."""

from __future__ import annotations

import json
import random

import pytest

EMBED = (
    "UPDATE chunks SET embedding = array_fill((id % 97 + 1)::real, ARRAY[1024])::vector,"
    " embedding_model = 'stand-in', embedded_at = now() WHERE id % 5 > 0"
)
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def text(seed: int) -> str:
    """A document whose parts are shared with others, so that embeddings can be taken over."""
    random.seed(seed)
    parts = [f"## Part {random.randrange(6)}\n\n{paragraphs(random.randrange(40))}" for _ in range(8)]
    return "# Title\n\n" + "\n\n".join(parts)


def paragraphs(seed: int) -> str:
    chosen = random.Random(seed)
    return "\n\n".join(" ".join(chosen.choices(WORDS, k=chosen.randrange(5, 90))) + "." for _ in range(3))


@pytest.fixture
def many(db, insert):
    for seed in range(30):
        insert(f"d/{seed}", text(seed))
    insert("blank", "")
    insert("chosen", text(3), metadata=json.dumps({"pgchunk.strategy": "packed"}))
    db.execute(EMBED)
    return db


@pytest.fixture
def what_if(rows):
    def run(strategy, overrides, function="what_if"):
        return rows(f"SELECT * FROM pgchunk.{function}(%s, %s)", strategy, json.dumps(overrides))

    return run


def snapshot(rows, strategy):
    found = rows(
        "SELECT document_id, id, content_token_count AS tokens, embedding IS NOT NULL AS embedded"
        " FROM chunks WHERE strategy = %s",
        strategy,
    )
    documents = {}
    for row in found:
        documents.setdefault(str(row["document_id"]), {})[row["id"]] = row
    return documents


def measured(before, after, document):
    """What became of one document's chunks."""
    old, new = before.get(document, {}), after.get(document, {})
    return {
        "chunks_kept": len(old.keys() & new.keys()),
        "chunks_added": len(new.keys() - old.keys()),
        "chunks_removed": len(old.keys() - new.keys()),
        "embeddings_reused": sum(chunk["embedded"] for chunk in new.values()),
        "tokens_to_embed": sum(chunk["tokens"] for chunk in new.values() if not chunk["embedded"]),
    }


@pytest.mark.parametrize(
    ("strategy", "overrides"),
    [
        ("default", {}),
        ("default", {"max_tokens": 128}),
        ("default", {"max_tokens": 1024, "merge": "none"}),
        ("default", {"min_tokens": 0, "overlap": "none"}),
        ("default", {"separator": " / "}),
        ("default", {"separator": " / ", "include_title": False}),
        ("default", {"tokenizer": "o200k_base", "split_levels": [1, 2]}),
        ("sections", {}),
        ("focused", {"target_tokens": 100, "is": None}),
        ("packed", {"max_tokens": 200}),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 100])
def test_figures_are_what_rechunk_does(many, rows, value, what_if, strategy, overrides, batch_size):
    overrides = {name: option for name, option in overrides.items() if name != "is"}
    foretold = {row.pop("document_id"): row for row in what_if(strategy, overrides)}
    (total,) = what_if(strategy, overrides, "what_if_total")
    before = snapshot(rows, strategy)
    sets = ", ".join(["is_active = true", *(f"{name} = {literal(option)}" for name, option in overrides.items())])
    many.execute(f"UPDATE pgchunk.strategies SET {sets} WHERE name = '{strategy}'")
    many.execute(f"CALL pgchunk.rechunk('{strategy}', {batch_size})")
    after = snapshot(rows, strategy)
    assert set(before) | set(after) <= set(foretold)
    for document, row in foretold.items():
        assert row == {"source_uri": row["source_uri"], **measured(before, after, document)}, document
    names = [name for name in total if not name.startswith("documents")]
    assert {name: total[name] for name in names} == {name: sum(r[name] for r in foretold.values()) for name in names}
    assert total["documents"] == len(foretold)
    assert total["documents_changed"] == sum(r["chunks_added"] + r["chunks_removed"] > 0 for r in foretold.values())
    assert value("SELECT count(*) FROM chunk_stale WHERE strategy = %s", strategy) == 0


def literal(option: object) -> str:
    if isinstance(option, list):
        return f"'{{{', '.join(map(str, option))}}}'"
    return f"'{option}'"


def test_an_embedding_that_goes_before_it_is_needed(db, insert, rows, what_if):
    """The second document's new chunk equals the old one of the first, which is gone when its turn comes."""
    insert("1", "Some words.", title="P")
    insert("2", "# P\n\nSome words.", title="Another")
    insert("3", "# P\n\nSome words.", title="Another")
    db.execute(EMBED.replace("id % 5 > 0", "true"))
    before = snapshot(rows, "default")
    foretold = {row["document_id"]: row for row in what_if("default", {"include_title": False})}
    db.execute("UPDATE pgchunk.strategies SET include_title = false WHERE name = 'default'")
    db.execute("CALL pgchunk.rechunk()")
    after = snapshot(rows, "default")
    for document, row in foretold.items():
        assert {name: row[name] for name in measured(before, after, document)} == measured(before, after, document)
        assert (row["chunks_added"], row["embeddings_reused"]) == (1, 0)


def test_nothing_is_written(many, rows, what_if, value):
    everything = "SELECT (SELECT jsonb_agg(to_jsonb(c) ORDER BY id) FROM chunks c)::text || %s"
    before = [value(everything, ""), rows("SELECT xmin::text, * FROM pgchunk.strategies ORDER BY name")]
    many.execute("BEGIN READ ONLY")
    what_if("default", {"max_tokens": 100})
    what_if(None, {"max_tokens": 100}, "what_if_total")
    many.execute("COMMIT")
    assert [value(everything, ""), rows("SELECT xmin::text, * FROM pgchunk.strategies ORDER BY name")] == before


def test_no_strategy_is_the_default_one(many, what_if):
    assert what_if(None, {}) == what_if("default", {})
    assert {row["source_uri"] for row in what_if(None, {})} == {f"d/{n}" for n in range(30)} | {"blank"}


def test_documents_that_cannot_be_chunked_are_told(db, insert, what_if):
    warnings = []
    db.add_notice_handler(lambda notice: warnings.append((notice.severity, notice.message_primary)))
    insert("small", "x")
    insert("large", "x" * 2000)
    assert [row["source_uri"] for row in what_if("default", {"max_document_bytes": 1000})] == ["small"]
    assert warnings == [("WARNING", "document large would keep its chunks: document of 2000 bytes is too large")]


def test_what_if_refuses(db, refused):
    refused("MD002", "SELECT pgchunk.what_if('nowhere')")
    refused("MD001", """SELECT pgchunk.what_if('default', '{"max_token": 1}')""")
    refused("MD001", """SELECT pgchunk.what_if_total('default', '{"max_tokens": 1}')""")
    refused("MD008", "SELECT pgchunk.what_if('default', collection => 'nowhere')")


def test_a_reader_sees_what_it_may_read(db, insert, make_role, connect):
    insert("a", "# A\n\nx")
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}")
    reader = connect(user=role, password=role)
    with pytest.raises(Exception, match="permission denied"):
        reader.execute("SELECT pgchunk.what_if('default')")
    db.execute(f"GRANT SELECT ON documents, chunks TO {role}")
    assert len(reader.execute("SELECT * FROM pgchunk.what_if('default')").fetchall()) == 1
