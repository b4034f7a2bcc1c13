"""The table pgchunk.strategies: validation, several at once, choice per document, the default."""

from __future__ import annotations

import json
from dataclasses import fields

import psycopg
import pytest

from pgchunk import STRATEGIES, Strategy

OPTIONS = [field.name for field in fields(Strategy) if field.name != "name"]


def test_shipped_rows_are_those_of_the_package(rows):
    found = {row["name"]: row for row in rows("SELECT * FROM pgchunk.strategies")}
    assert set(found) == set(STRATEGIES)
    for name, strategy in STRATEGIES.items():
        row = found[name]
        assert Strategy.from_mapping(name, {option: row[option] for option in OPTIONS}) == strategy
        assert row["recipe_hash"] == strategy.recipe_hash
        assert (row["is_active"], row["is_default"]) == (name == "default", name == "default")
        assert not row["customized"]


def test_columns_are_the_options_with_their_defaults(db, rows):
    """A row that names no option is what Strategy() is: SQL and Python have one set of defaults."""
    db.execute("INSERT INTO pgchunk.strategies (name) VALUES ('plain')")
    (row,) = rows("SELECT * FROM pgchunk.strategies WHERE name = 'plain'")
    others = {"name", "is_active", "is_default", "recipe_hash", "customized"}
    assert set(row) - others == set(OPTIONS)
    assert {option: row[option] for option in OPTIONS} == {
        option: list(value) if isinstance(value := getattr(Strategy(), option), tuple) else value for option in OPTIONS
    }


def test_a_name_is_wanted(db, refused):
    refused("MD001", "INSERT INTO pgchunk.strategies (name) VALUES ('')")
    with pytest.raises(psycopg.errors.UniqueViolation):
        db.execute("INSERT INTO pgchunk.strategies (name) VALUES ('default')")


def test_recipe_hash_and_customized_follow_from_the_row(db, rows):
    db.execute("INSERT INTO pgchunk.strategies (name, max_tokens, recipe_hash) VALUES ('mine', 100, 'given')")
    db.execute("UPDATE pgchunk.strategies SET split_levels = '{3,1,3}', customized = false WHERE name = 'packed'")
    mine, packed = rows("SELECT * FROM pgchunk.strategies WHERE customized ORDER BY name")
    assert mine["recipe_hash"] == Strategy(max_tokens=100).recipe_hash
    assert packed["split_levels"] == [1, 3]
    assert packed["recipe_hash"] == STRATEGIES["packed"].with_overrides(split_levels=(1, 3)).recipe_hash


def test_the_default_moves_in_one_statement(db, value, refused):
    db.execute("UPDATE pgchunk.strategies SET is_default = (name = 'focused')")
    assert value("SELECT name FROM pgchunk.strategies WHERE is_default") == "focused"
    refused("MD001", "UPDATE pgchunk.strategies SET is_default = false")
    with pytest.raises(psycopg.errors.ExclusionViolation):
        db.execute("UPDATE pgchunk.strategies SET is_default = true")


def test_several_active_strategies(db, insert, rows, chunks_of, guide, problems):
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    document = insert("guide.md", guide())
    assert {r["strategy"] for r in rows("SELECT DISTINCT strategy FROM chunks")} == {"default", "sections"}
    before = {s: [c["id"] for c in chunks_of(document, s)] for s in ("default", "sections")}
    db.execute("UPDATE documents SET content = %s", [guide(remove="Something else. " * 30)])
    for strategy, ids in before.items():
        assert [c["id"] for c in chunks_of(document, strategy)][:-1] == ids[:-1]
    assert problems() == []


def test_a_document_chooses(db, insert, rows, problems):
    insert("a", "# A\n\nx", metadata=json.dumps({"pgchunk.strategy": "sections"}))
    insert("b", "# B\n\nx", metadata=json.dumps({"pgchunk.strategy": None, "note": "pgchunk.strategy"}))
    query = "SELECT source_uri, strategy FROM chunks c JOIN documents d ON d.id = document_id ORDER BY 1"
    assert [tuple(r.values()) for r in rows(query)] == [("a", "sections"), ("b", "default")]
    db.execute('UPDATE documents SET metadata = \'{"pgchunk.strategy": "packed"}\'')
    assert [tuple(r.values()) for r in rows(query)] == [("a", "packed"), ("b", "packed")]
    db.execute("UPDATE documents SET metadata = '{}'")
    assert [tuple(r.values()) for r in rows(query)] == [("a", "default"), ("b", "default")]
    assert problems() == []


def test_an_edit_keeps_the_chunks_of_a_strategy_that_was_switched_off(db, insert, chunks_of, problems):
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    document = insert("a", "# A\n\nx")
    db.execute("UPDATE pgchunk.strategies SET is_active = false WHERE name = 'sections'")
    db.execute("UPDATE documents SET content = E'# A\\n\\ny'")
    assert [c["content"] for c in chunks_of(document, "sections")] == ["A\n\n# A\n\ny"] or chunks_of(
        document, "sections"
    )
    assert problems() == []
    insert("b", "# B\n\nx")
    assert len(chunks_of(document, "sections")) == 1


@pytest.mark.parametrize(
    "change",
    ["DELETE FROM pgchunk.strategies", "UPDATE pgchunk.strategies SET name = 'other'"],
    ids=["delete", "rename"],
)
def test_a_strategy_with_chunks_stays(db, insert, refused, change):
    db.execute("INSERT INTO pgchunk.strategies (name, is_active) VALUES ('mine', true)")
    insert("a", "# A\n\nx")
    change += " WHERE name = 'mine'"
    diagnostics = refused("55006", change)
    assert "'mine'" in diagnostics.message_primary
    assert "remove_chunks" in diagnostics.message_hint
    db.execute("UPDATE pgchunk.strategies SET is_active = false WHERE name = 'mine'")
    refused("55006", change)
    db.execute("SELECT pgchunk.remove_chunks('mine')")
    db.execute(change)


def test_chunks_of_a_strategy_that_is_gone_go_with_the_next_edit(db, insert, chunks_of, problems):
    """Its row can only be lost past the triggers."""
    db.execute("INSERT INTO pgchunk.strategies (name, is_active) VALUES ('mine', true)")
    document = insert("a", "# A\n\nx")
    db.execute(
        "SET session_replication_role = replica; DELETE FROM pgchunk.strategies WHERE name = 'mine';"
        "RESET session_replication_role"
    )
    assert len(chunks_of(document, "mine")) == 1
    assert problems() == ["a: strategy mine is not in pgchunk.strategies any more"]
    db.execute("UPDATE documents SET content = E'# A\\n\\ny'")
    assert chunks_of(document, "mine") == []
    assert problems() == []


def test_without_an_active_strategy_there_are_no_chunks(db, insert, value, problems):
    db.execute("UPDATE pgchunk.strategies SET is_active = false")
    insert("a", "x")
    assert value("SELECT count(*) FROM chunks") == 0
    assert problems() == []


def test_changed_options_are_used_at_once(db, connect, insert, chunks_of):
    """Also by a session that has chunked with the old ones."""
    insert("a", "word " * 400)
    connect().execute("UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'")
    document = insert("b", "word " * 400)
    assert max(c["content_token_count"] for c in chunks_of(document)) <= 64


def test_an_update_of_the_extension_renews_recipes_and_shipped_rows_only(db, rows):
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 100, is_active = true WHERE name = 'packed'")
    before = rows("SELECT * FROM pgchunk.strategies ORDER BY name")
    db.execute(
        "SET session_replication_role = replica;"
        "UPDATE pgchunk.strategies SET recipe_hash = 'of an older chunker';"
        "UPDATE pgchunk.strategies SET max_tokens = 300 WHERE NOT customized;"
        "RESET session_replication_role"
    )
    db.execute("SELECT pgchunk._ship_strategies()")
    assert rows("SELECT * FROM pgchunk.strategies ORDER BY name") == before
