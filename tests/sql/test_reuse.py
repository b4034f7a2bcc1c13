"""An embedding that is paid for is not paid for again: new chunks take over that of an equal content."""

from __future__ import annotations

import time

import pytest

EMBED = (
    "UPDATE chunks SET embedding = array_fill((id % 97 + 1)::real, ARRAY[1024])::vector,"
    " embedding_model = 'stand-in', embedded_at = clock_timestamp() WHERE embedding IS NULL"
)
EMBEDDINGS = "SELECT content_hash, embedding::text, embedding_model, embedded_at FROM chunks ORDER BY content_hash"


@pytest.fixture
def embedded(db, insert, guide):
    """A document of which every chunk has an embedding of its own; its id."""
    document = insert("guide.md", guide(), title="Guide")
    db.execute(EMBED)
    return document


def test_a_copy_of_a_document(embedded, insert, chunks_of, guide):
    copy = insert("copy.md", guide(), title="Guide")
    for old, new in zip(chunks_of(embedded), chunks_of(copy), strict=True):
        assert old["id"] != new["id"]
        for column in ("content_hash", "embedding", "embedding_model", "embedded_at"):
            assert old[column] == new[column], column


def test_a_renamed_file_costs_nothing(db, embedded, rows):
    """As a loader does it that sees a new file and then that the old one is gone."""
    before = rows(EMBEDDINGS)
    db.execute(
        "INSERT INTO documents (source_uri, title, content) SELECT 'moved.md', title, content FROM documents;"
        "DELETE FROM documents WHERE source_uri = 'guide.md'"
    )
    assert rows(EMBEDDINGS) == before


def test_a_part_that_moves_to_another_document(embedded, insert, chunks_of, guide):
    other = insert("other.md", guide(install="Another text of this part. " * 20), title="Guide")
    assert [c["embedding"] is None for c in chunks_of(other)] == [
        old["content_hash"] != new["content_hash"]
        for old, new in zip(chunks_of(embedded), chunks_of(other), strict=True)
    ]
    assert sum(c["embedding"] is None for c in chunks_of(other)) == 1


def test_an_edit_that_brings_an_old_text_back(db, embedded, insert, chunks_of, guide):
    insert("copy.md", guide(), title="Guide")
    db.execute("UPDATE documents SET content = %s WHERE id = %s", [guide(use="Something else. " * 30), embedded])
    assert sum(c["embedding"] is None for c in chunks_of(embedded)) == 1
    db.execute("UPDATE documents SET content = %s WHERE id = %s", [guide(), embedded])
    assert all(c["embedding"] is not None for c in chunks_of(embedded))


@pytest.mark.parametrize("choice", ["packed", "focused"])
def test_a_change_of_strategy_takes_over_from_the_chunks_that_go(db, embedded, chunks_of, choice):
    """All in one statement, so that the embeddings are there to be taken."""
    old = {c["content_hash"]: c["embedding"] for c in chunks_of(embedded)}
    db.execute("UPDATE documents SET metadata = jsonb_build_object('pgchunk.strategy', %s::text)", [choice])
    assert chunks_of(embedded) == []
    new = chunks_of(embedded, choice)
    assert [c["embedding"] for c in new] == [old.get(c["content_hash"]) for c in new]
    assert any(c["embedding"] for c in new)


def test_the_latest_embedding_is_taken(db, insert, chunks_of, value):
    """While a table is being embedded anew by another model, equal contents have two."""
    insert("a.md", "# T\n\nSame.")
    db.execute(EMBED)
    insert("b.md", "# T\n\nSame.")
    db.execute("UPDATE chunks SET embedding_model = 'new', embedded_at = now() + '1 day' WHERE id = %s", [2])
    (chunk,) = chunks_of(insert("c.md", "# T\n\nSame."))
    assert chunk["embedding_model"] == "new"


def test_without_embeddings_nothing_is_taken(db, insert, rows):
    insert("a.md", "# T\n\nSame.")
    insert("b.md", "# T\n\nSame.")
    assert [tuple(r.values())[1:] for r in rows(EMBEDDINGS)] == [(None, None, None)] * 2


def test_many_equal_contents_are_looked_up_in_one_step(db, insert, value):
    """Boilerplate in thousands of documents, embedded or not, must not make the next one slow."""
    boilerplate = "# Licence\n\nThe same words in every document."
    db.execute("INSERT INTO documents (source_uri, content) SELECT 'd/' || n, %s FROM generate_series(1, 3000) n",
               [boilerplate])  # fmt: skip
    insert("slow?", boilerplate)
    started = time.perf_counter()
    db.execute("INSERT INTO documents (source_uri, content) SELECT 'e/' || n, %s FROM generate_series(1, 300) n",
               [boilerplate])  # fmt: skip
    not_embedded = time.perf_counter() - started
    db.execute("UPDATE chunks SET embedding = array_fill(1::real, ARRAY[1024])::vector WHERE id = 1")
    started = time.perf_counter()
    db.execute("INSERT INTO documents (source_uri, content) SELECT 'f/' || n, %s FROM generate_series(1, 10) n",
               [boilerplate])  # fmt: skip
    assert value("SELECT count(*) FROM chunks WHERE embedding IS NOT NULL") == 11
    assert not_embedded / 300 < 0.02, "seconds for a document"
