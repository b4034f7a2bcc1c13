"""chunk_stale: which chunks are not what they would be now, and why; pgchunk.recipes; remove_chunks()."""

from __future__ import annotations

import hashlib
import json

import pytest

from pgchunk import STRATEGIES, Strategy, chunk
from pgchunk.server import recipes
from pgchunk.strategy import CHUNKER_ID, CHUNKER_VERSION

DEFAULT = "UPDATE pgchunk.strategies SET {} WHERE name = 'default'"


@pytest.fixture
def stale(rows):
    """stale(): reasons and detail of each document and strategy that is stale."""

    def read():
        found = rows("SELECT * FROM chunk_stale ORDER BY document_id, strategy")
        return {(row["source_uri"], row["strategy"]): (row["reasons"], row["detail"]) for row in found}

    return read


@pytest.fixture
def remedies(db, rows):
    """remedies(): runs what chunk_stale advises until there is nothing more to do."""

    def run():
        for row in rows("SELECT DISTINCT remedy FROM chunk_stale"):
            db.execute(row["remedy"])
        assert rows("SELECT * FROM chunk_stale") == []

    return run


def test_fresh_chunks_are_not_stale(db, insert, stale, guide):
    db.execute("UPDATE pgchunk.strategies SET is_active = true")
    insert("guide.md", guide())
    insert("chosen", "# A\n\nx", metadata=json.dumps({"pgchunk.strategy": "focused"}))
    assert stale() == {}


@pytest.mark.parametrize(
    ("change", "reasons", "detail"),
    [
        ("separator = ' / '", ["options"], "separator:  >  to  / "),
        ("split_levels = '{1}'", ["options"], "split_levels: [1, 2, 3] to [1]"),
        ("min_tokens = 10", ["options"], "min_tokens: 64 to 10"),
        ("tokenizer = 'o200k_base'", ["tokenizer"], "tokenizer: cl100k_base to o200k_base"),
        (
            "tokenizer = 'o200k_base', merge = 'none'",
            ["options", "tokenizer"],
            "merge: next to none, tokenizer: cl100k_base to o200k_base",
        ),
    ],
)
def test_changed_options(db, insert, stale, remedies, problems, change, reasons, detail):
    insert("a", "# A\n\nx")
    db.execute(DEFAULT.format(change))
    assert stale() == {("a", "default"): (reasons, detail)}
    remedies()
    assert problems() == []


@pytest.mark.parametrize("change", ["min_tokens = 64", "max_document_bytes = 1000", "parser = 'markdown-it-py'"])
def test_what_changes_no_chunk_makes_nothing_stale(db, insert, stale, change):
    insert("a", "# A\n\nx")
    db.execute(DEFAULT.format(change))
    assert stale() == {}


def test_options_changed_back(db, insert, stale):
    insert("a", "# A\n\nx")
    db.execute(DEFAULT.format("max_tokens = 100"))
    insert("b", "# B\n\nx")
    db.execute(DEFAULT.format("max_tokens = 512"))
    ((key, (reasons, detail)),) = stale().items()
    assert (key, reasons) == (("b", "default"), ["options"])
    assert "max_tokens: 100 to 512" in detail


def test_another_chunker_version(db, insert, stale, remedies):
    """As after an update of the extension: the recipes of old chunks are of an older chunker."""
    insert("a", "# A\n\nx")
    db.execute(
        "INSERT INTO pgchunk.recipes SELECT 'old', 0, options, now(), false FROM pgchunk.recipes"
        f" WHERE recipe_hash = '{STRATEGIES['default'].recipe_hash}';"
        "UPDATE chunks SET recipe_hash = 'old'"
    )
    assert stale() == {("a", "default"): (["chunker"], f"chunker version: 0 to {CHUNKER_VERSION}")}
    remedies()


def test_a_recipe_that_nobody_knows(db, insert, stale, remedies):
    insert("a", "# A\n\nx")
    db.execute("UPDATE chunks SET recipe_hash = 'unheard of'")
    assert stale() == {("a", "default"): (["unknown"], None)}
    remedies()


def test_a_strategy_that_was_switched_on(db, insert, stale, remedies, problems, value):
    insert("a", "# A\n\nx")
    insert("b", "# B\n\nx", metadata=json.dumps({"pgchunk.strategy": "focused"}))
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    assert stale() == {("a", "sections"): (["missing"], None)}
    remedies()
    assert value("SELECT array_agg(strategy ORDER BY strategy) FROM chunks") == ["default", "focused", "sections"]
    assert problems() == []


def test_a_strategy_that_was_switched_off(db, insert, stale, remedies, value):
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    insert("a", "# A\n\nx")
    insert("b", "# B\n\nx", metadata=json.dumps({"pgchunk.strategy": "sections"}))
    db.execute("UPDATE pgchunk.strategies SET is_active = false, separator = ' / ' WHERE name = 'sections'")
    assert stale() == {
        ("a", "sections"): (["inactive", "options"], "separator:  >  to  / "),
        ("b", "sections"): (["options"], "separator:  >  to  / "),
    }
    db.execute("CALL pgchunk.rechunk()")
    assert stale() == {("a", "sections"): (["inactive"], None)}, "rechunk removes nothing"
    remedies()
    assert value("SELECT array_agg(strategy ORDER BY strategy) FROM chunks") == ["default", "sections"]


def past_triggers(db, statement):
    db.execute(f"SET session_replication_role = replica; {statement}; RESET session_replication_role")


def test_chunks_of_a_strategy_that_is_not_the_chosen_one(db, insert, stale, remedies, chunks_of):
    a, b = insert("a", "# A\n\nx"), insert("b", "# B\n\nx")
    past_triggers(db, "UPDATE documents SET metadata = '{\"pgchunk.strategy\": \"packed\"}' WHERE source_uri = 'a'")
    assert stale() == {("a", "default"): (["not_chosen"], None), ("a", "packed"): (["missing"], None)}
    remedies()
    assert (len(chunks_of(a)), len(chunks_of(a, "packed")), len(chunks_of(b))) == (0, 1, 1)


def test_chunks_of_a_strategy_that_is_gone(db, insert, stale, remedies, chunks_of):
    db.execute("INSERT INTO pgchunk.strategies (name, is_active) VALUES ('mine', true)")
    document = insert("a", "# A\n\nx")
    past_triggers(db, "DELETE FROM pgchunk.strategies WHERE name = 'mine'")
    assert stale() == {("a", "mine"): (["deleted"], None)}
    remedies()
    assert chunks_of(document, "mine") == []


def test_a_choice_that_is_gone(db, insert, rows):
    insert("a", "")
    past_triggers(db, 'UPDATE documents SET metadata = \'{"pgchunk.strategy": "mine"}\'')
    (row,) = rows("SELECT * FROM chunk_stale")
    assert (row["strategy"], row["reasons"], row["chunks"]) == ("mine", ["deleted"], 0)
    assert "metadata" in row["remedy"]


BLANK = ["", " \n\u3000", "\ufeff", "---\ntitle: x\n---\n", "+++\nx = 1\n+++\n \n"]
NOT_BLANK = [
    "x",
    "# Only a heading",
    "Text\n\n# A",
    "<!-- comment -->",
    "[a]: http://host",
    "\u200b",
    "---\n",
    "---\ntitle: x\n---\n.",
    "\ufeff# A",
    "|a|\n|-|\n",
    "```\n```",
]
OPTIONS = [
    {},
    {"include_preamble": False},
    {"split_levels": ()},
    {"heading_line": "include", "merge": "none", "overlap": "none"},
    {"max_tokens": 16},
]


@pytest.mark.parametrize("text", BLANK + NOT_BLANK, ids=repr)
def test_missing_is_what_the_chunker_would_make(text):
    """chunk_stale does not chunk, and still knows which documents have chunks under every strategy."""
    for format in ("markdown", "text"):
        has_text = recipes.has_text(None, text, format)
        assert {bool(chunk(text, "T", format=format, **options)) for options in OPTIONS} == {has_text}
    assert recipes.has_text(None, text, None) == (text in NOT_BLANK)


def test_blank_documents_are_not_stale(db, insert, stale):
    for number, text in enumerate(BLANK):
        insert(f"blank/{number}", text)
    db.execute("UPDATE pgchunk.strategies SET is_active = true")
    assert stale() == {}


def test_chunks_that_got_lost(db, insert, stale, remedies, problems):
    insert("a", "# A\n\nx")
    db.execute("DELETE FROM chunks")
    assert stale() == {("a", "default"): (["missing"], None)}
    remedies()
    assert problems() == []


def test_the_view_chunks_nothing(db, insert, value):
    """Documents that all are stale are told in the time of a query."""
    db.execute(
        "INSERT INTO documents (source_uri, content) SELECT 'd/' || n, '# A' || n FROM generate_series(1, 300) n"
    )
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 300, is_active = true")
    db.execute("SET statement_timeout = '10s'")
    assert value("SELECT count(*) FROM chunk_stale") == 1200


# Recipes


@pytest.mark.parametrize(
    "strategy",
    [
        *STRATEGIES.values(),
        Strategy(max_tokens=40, target_tokens=4),
        Strategy(overlap="none", overlap_tokens=9, split_levels=(3, 1), parser="markdown-it-py"),
    ],
    ids=lambda strategy: strategy.name,
)
def test_recorded_options_are_those_of_the_hash(strategy):
    recipe = recipes.options(strategy) | {"chunker": [CHUNKER_ID, CHUNKER_VERSION]}
    assert hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest() == strategy.recipe_hash


def test_recipes_are_recorded_when_a_strategy_is_written(db, rows):
    shipped = {row["recipe_hash"]: row for row in rows("SELECT * FROM pgchunk.recipes")}
    assert set(shipped) == {strategy.recipe_hash for strategy in STRATEGIES.values()}
    assert all(row["shipped"] for row in shipped.values())
    db.execute(DEFAULT.format("max_tokens = 100"))
    db.execute(DEFAULT.format("is_active = false"))
    db.execute(DEFAULT.format("max_tokens = 512"))
    (row,) = rows("SELECT * FROM pgchunk.recipes WHERE NOT shipped")
    assert row["recipe_hash"] == Strategy(max_tokens=100).recipe_hash
    assert (row["options"]["max_tokens"], row["options"]["min_tokens"]) == (100, 12)
    assert row["chunker_version"] == CHUNKER_VERSION


def test_an_update_of_the_extension_forgets_no_recipe(db, rows):
    db.execute("INSERT INTO pgchunk.recipes VALUES ('old', 0, '{}', now(), true)")
    before = {row["recipe_hash"] for row in rows("SELECT * FROM pgchunk.recipes")}
    db.execute("SELECT pgchunk._ship_strategies()")
    after = {row["recipe_hash"]: row["shipped"] for row in rows("SELECT * FROM pgchunk.recipes")}
    assert set(after) == before
    assert [name for name, shipped in after.items() if not shipped] == ["old"]


def test_a_role_that_may_write_strategies_needs_no_more(db, make_role, connect, value, insert):
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT ALL ON pgchunk.strategies TO {role}")
    insert("a", "# A\n\nx")
    admin = connect(user=role, password=role)
    admin.execute(DEFAULT.format("max_tokens = 100"))
    assert value("SELECT count(*) FROM pgchunk.recipes WHERE NOT shipped") == 1
    with pytest.raises(Exception, match="still has chunks"):
        admin.execute("DELETE FROM pgchunk.strategies WHERE name = 'default'")


# remove_chunks()


def test_remove_chunks_counts_and_tells(db, insert, value):
    notices = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    db.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'sections'")
    insert("a", "# A\n\nx\n\n## B\n\ny")
    insert("b", "# B\n\nx", metadata=json.dumps({"pgchunk.strategy": "sections"}))
    db.execute("UPDATE pgchunk.strategies SET is_active = false WHERE name = 'sections'")
    assert value("SELECT pgchunk.remove_chunks('sections')") == 2
    assert notices == ["1 documents keep their chunks of strategy sections: they call for it"]
    assert value("SELECT count(*) FROM chunks WHERE strategy = 'sections'") == 1
    assert value("SELECT pgchunk.remove_chunks('packed')") == 0


def test_remove_chunks_refuses(db, insert, refused):
    insert("a", "# A\n\nx")
    assert "is_active = false" in refused("55006", "SELECT pgchunk.remove_chunks('default')").message_hint
    refused("MD002", "SELECT pgchunk.remove_chunks('nowhere')")
    refused("22023", "SELECT pgchunk.remove_chunks(NULL)")
    refused("MD008", "SELECT pgchunk.remove_chunks('default', 'nowhere')")


def test_remove_chunks_is_for_owners(db, insert, make_role, connect):
    insert("a", "# A\n\nx")
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT ALL ON documents, chunks TO {role}")
    db.execute("UPDATE pgchunk.strategies SET is_active = false")
    with pytest.raises(Exception, match="do not belong to") as caught:
        connect(user=role, password=role).execute("SELECT pgchunk.remove_chunks('default')")
    assert caught.value.sqlstate == "42501"
