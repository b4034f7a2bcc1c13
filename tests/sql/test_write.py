"""The life of a document in the tables: what each kind of write does to its chunks."""

from __future__ import annotations

import hashlib

import psycopg
import pytest


def identities(chunks):
    return [(c["id"], c["version"]) for c in chunks]


def embed(db):
    """Stands in for a worker: every chunk gets an embedding of its own."""
    db.execute(
        "UPDATE chunks SET embedding = array_fill((id % 97 + 1)::real, ARRAY[1024])::vector,"
        " embedding_model = 'stand-in', embedded_at = now() WHERE embedding IS NULL"
    )


# INSERT


def test_insert_of_only_uri_and_content_makes_chunks(insert, chunks_of, rows):
    document = insert("a/guide.md", "# Guide\n\nHello.\n")
    (row,) = rows("SELECT * FROM documents")
    assert row["title"] == "Guide"
    assert row["format"] == "markdown"
    assert row["metadata"] == {}
    assert row["content_hash"] == hashlib.sha256(b"# Guide\n\nHello.\n").hexdigest()
    assert row["updated_at"] is not None
    (chunk,) = chunks_of(document)
    assert chunk["content"] == "Guide\n\nHello."
    assert (chunk["raw_content"], chunk["heading_path"]) == ("Hello.", ["Guide"])
    assert (chunk["char_start"], chunk["char_end"], chunk["ordinal"]) == (9, 15, 0)
    assert chunk["embedding"] is None


@pytest.mark.parametrize(
    ("content", "source_uri", "title"),
    [
        ("---\ntitle: From front matter\n---\n# H1\n\nx", "d/a.md", "From front matter"),
        ("# From H1\n\nx", "d/a.md", "From H1"),
        ("no heading", "d/a.md", "a.md"),
        ("## no H1\n\nx", "https://host/docs/page?x=1", "page"),
    ],
)
@pytest.mark.parametrize("given", [{}, {"title": ""}, {"title": None}], ids=["left out", "empty", "NULL"])
def test_title_is_derived_when_none_is_given(insert, value, content, source_uri, title, given):
    insert(source_uri, content, **given)
    assert value("SELECT title FROM documents") == title


def test_text_documents_have_no_headings(insert, chunks_of, value):
    document = insert("notes.txt", "# not a heading\n\nmore", format="text")
    assert value("SELECT title FROM documents") == "notes.txt"
    assert [c["heading_path"] for c in chunks_of(document)] == [[]]


SEED = """
    INSERT INTO documents (source_uri, title, content, metadata, content_hash)
    VALUES (%s, %s, %s, %s, %s)
    ON CONFLICT (source_uri) DO UPDATE SET title = EXCLUDED.title, content = EXCLUDED.content,
        metadata = EXCLUDED.metadata, content_hash = EXCLUDED.content_hash, updated_at = now()
    RETURNING id
"""


def test_seed_style_upsert(db, rows, chunks_of):
    values = ("u", "My title", "# H\n\ntext", '{"a": 1}', "not the hash")
    first = db.execute(SEED, values).fetchone()[0]
    (row,) = rows("SELECT title, metadata, content_hash FROM documents")
    assert row == {
        "title": "My title",
        "metadata": {"a": 1},
        "content_hash": hashlib.sha256(b"# H\n\ntext").hexdigest(),
    }
    before = identities(chunks_of(first))
    assert db.execute(SEED, values).fetchone()[0] == first
    assert identities(chunks_of(first)) == before
    db.execute(SEED, (*values[:2], "# H\n\nother text", *values[3:]))
    (chunk,) = chunks_of(first)
    assert chunk["content"] == "My title > H\n\nother text"


def test_upsert_without_title_follows_the_content(db, value):
    query = (
        "INSERT INTO documents (source_uri, content) VALUES ('u', %s)"
        " ON CONFLICT (source_uri) DO UPDATE SET content = EXCLUDED.content"
    )
    db.execute(query, ["# Old\n\nx"])
    db.execute(query, ["# New\n\nx"])
    assert value("SELECT title FROM documents") == "New"
    assert value("SELECT content FROM chunks") == "New\n\nx"


def test_copy(db, value):
    with db.cursor().copy("COPY documents (source_uri, content) FROM STDIN") as copy:
        for n in range(20):
            copy.write_row((f"doc/{n}", f"# Doc {n}\n\nText {n}."))
    assert value("SELECT count(*) FROM chunks") == 20
    assert value("SELECT count(*) FROM documents WHERE title = 'Doc 7'") == 1


@pytest.mark.parametrize("content", ["", " ", "\n\n\r\n\t", "---\ntitle: only front matter\n---\n"])
def test_blank_documents_have_no_chunks(insert, chunks_of, problems, content):
    assert chunks_of(insert("blank", content)) == []
    assert problems() == []


def test_users_triggers_come_first(db, insert, rows):
    """What a trigger of the user's makes of the content is what gets hash, title and chunks."""
    db.execute(
        "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN NEW.content := upper(NEW.content); RETURN NEW; END $$;"
        "CREATE TRIGGER z_shout BEFORE INSERT OR UPDATE ON documents FOR EACH ROW EXECUTE FUNCTION shout()"
    )
    insert("u", "# title\n\ntext")
    (row,) = rows("SELECT d.title, d.content_hash, c.raw_content FROM documents d JOIN chunks c ON document_id = d.id")
    assert row == {
        "title": "TITLE",
        "content_hash": hashlib.sha256(b"# TITLE\n\nTEXT").hexdigest(),
        "raw_content": "TEXT",
    }


def test_other_columns_are_left_as_they_are(db, rows):
    """The trigger hands back only what it sets: values that Python would change on the way stay exact."""
    db.execute("ALTER TABLE documents ADD n numeric, ADD f real, ADD r tstzrange, ADD v vector(3), ADD j json")
    given = "1.10", "0.1", "[2020-01-01,infinity)", "[0.1,0.2,0.3]", '{"b":  1, "a": 2, "b": 3}'
    db.execute(
        "INSERT INTO documents (source_uri, content, n, f, r, v, j) VALUES ('u', 'x', %s, %s, %s, %s, %s)",
        given,
    )
    (row,) = rows("SELECT n::text, f::text, r = '[2020-01-01,infinity)' AS r, v::text, j::text FROM documents")
    assert row == {"n": "1.10", "f": "0.1", "r": True, "v": "[0.1,0.2,0.3]", "j": given[4]}


# UPDATE


@pytest.mark.parametrize(
    "assignment",
    [
        "content = content",
        "content = content, title = title",
        "metadata = '{\"other\": 1}'",
        "source_uri = 'moved/elsewhere.md'",
        "content_hash = 'wrong'",
        "updated_at = '2001-01-01'",
    ],
)
def test_update_of_nothing_that_is_chunked_touches_no_chunk(db, insert, chunks_of, value, guide, assignment):
    document = insert("guide.md", guide())
    before = identities(chunks_of(document))
    assert len(before) == 4
    db.execute(f"UPDATE documents SET {assignment}")
    assert identities(chunks_of(document)) == before
    assert value("SELECT content_hash = encode(sha256(convert_to(content, 'UTF8')), 'hex') FROM documents")


def test_updated_at_tells_of_changes_only(db, insert, value):
    insert("u", "x", updated_at="2001-01-01")
    year = "SELECT extract(year FROM updated_at)::int FROM documents"
    db.execute("UPDATE documents SET content = content, title = title")
    assert value(year) == 2001
    db.execute("UPDATE documents SET metadata = '{\"a\": 1}'")
    assert value(year) > 2001
    db.execute("UPDATE documents SET content = 'y', updated_at = '2002-02-02'")
    assert value(year) == 2002, "a time that is given is kept"


def test_an_edit_keeps_ids_and_embeddings_of_what_stays(db, insert, chunks_of, guide, problems):
    document = insert("guide.md", guide())
    embed(db)
    before = {c["content_hash"]: c for c in chunks_of(document)}
    db.execute("UPDATE documents SET content = %s", [guide(use="Quite another text. " * 20)])
    after = chunks_of(document)
    assert [c["ordinal"] for c in after] == [0, 1, 2, 3]
    new = [c for c in after if c["content_hash"] not in before]
    assert [c["heading_path"] for c in new] == [["Guide", "Use"]]
    assert new[0]["embedding"] is None
    assert new[0]["embedding_model"] is None
    for chunk in after:
        if chunk["content_hash"] in before:
            old = before[chunk["content_hash"]]
            for column in ("id", "embedding", "embedding_model", "embedded_at"):
                assert chunk[column] == old[column]
    assert after[0]["version"] == before[after[0]["content_hash"]]["version"], "nothing moved before the edit"
    assert problems() == []


def test_a_section_put_in_front_moves_the_rest(db, insert, chunks_of, guide, problems):
    document = insert("guide.md", guide())
    embed(db)
    before = chunks_of(document)
    text = guide().replace("## Install", "## First\n\n" + "Brand new text in front. " * 20 + "\n\n## Install")
    db.execute("UPDATE documents SET content = %s", [text])
    after = chunks_of(document)
    assert [c["id"] for c in after if c["embedding"]] == [c["id"] for c in before]
    assert [c["heading_path"][-1] for c in after if not c["embedding"]] == ["First"]
    assert [c["ordinal"] for c in after] == list(range(5))
    assert problems() == []


@pytest.mark.parametrize("order", [["use", "install", "remove"], ["remove", "use", "install"], ["remove"], []])
def test_sections_that_change_places_or_go(db, insert, chunks_of, order, problems):
    def text(parts):
        return "# T\n\n" + "".join(f"## {part}\n\n{(part + ' words. ') * 60}\n\n" for part in parts)

    document = insert("u", text(["install", "use", "remove"]))
    embed(db)
    before = {c["heading_path"][-1]: c["id"] for c in chunks_of(document)}
    db.execute("UPDATE documents SET content = %s", [text(order)])
    after = [c["id"] for c in chunks_of(document)]
    if order:
        assert after == [before[part] for part in order]
    else:  # what is left of the document is its title
        assert not set(after) & set(before.values())
    assert problems() == []


def test_equal_sections_are_matched_one_to_one(db, insert, chunks_of, problems):
    part = "## Same\n\n" + "The same words. " * 50 + "\n\n"
    document = insert("u", "# T\n\n" + part * 3)
    before = [c["id"] for c in chunks_of(document)]
    assert len(before) == 3
    db.execute("UPDATE documents SET content = %s", ["# T\n\n" + part * 5])
    after = [c["id"] for c in chunks_of(document)]
    assert after[:3] == before
    assert len(set(after)) == 5
    db.execute("UPDATE documents SET content = %s", ["# T\n\n" + part * 2])
    assert [c["id"] for c in chunks_of(document)] == before[:2]
    assert problems() == []


def test_a_new_title_renews_every_breadcrumb(db, insert, chunks_of, guide):
    document = insert("guide.md", guide())
    before = {c["id"] for c in chunks_of(document)}
    db.execute("UPDATE documents SET title = 'Handbook'")
    after = chunks_of(document)
    assert not before & {c["id"] for c in after}
    assert all(c["content"].startswith("Handbook > Guide") for c in after)


def test_title_follows_the_content_it_came_from(db, insert, value):
    insert("u", "# Old\n\nx")
    db.execute("UPDATE documents SET content = E'# New\\n\\nx'")
    assert value("SELECT title FROM documents") == "New"


def test_a_title_of_ones_own_stays(db, insert, value):
    insert("u", "# Old\n\nx", title="Mine")
    db.execute("UPDATE documents SET content = E'# New\\n\\nx'")
    assert value("SELECT title FROM documents") == "Mine"
    db.execute("UPDATE documents SET title = ''")
    assert value("SELECT title FROM documents") == "New"


def test_a_new_format_chunks_again(db, insert, chunks_of):
    document = insert("u", "# A\n\nx")
    db.execute("UPDATE documents SET format = 'text'")
    assert [c["raw_content"] for c in chunks_of(document)] == ["# A\n\nx"]


def test_equal_content_does_not_call_the_chunker(db, insert):
    """The proof: with a strategy that takes no document, whatever calls the core fails."""
    insert("u", "# A\n\nx")
    db.execute("UPDATE pgchunk.strategies SET max_document_bytes = 1 WHERE name = 'default'")
    db.execute("UPDATE documents SET content = content, metadata = '{\"a\": 1}'")
    with pytest.raises(psycopg.Error):
        db.execute("UPDATE documents SET content = 'yy'")


# DELETE, TRUNCATE, replicas


def test_delete_takes_the_chunks(db, insert, value):
    insert("a", "x")
    insert("b", "y")
    db.execute("DELETE FROM documents WHERE source_uri = 'a'")
    assert value("SELECT array_agg(raw_content) FROM chunks") == ["y"]


def test_truncate(db, insert, value):
    insert("a", "x")
    with pytest.raises(psycopg.errors.FeatureNotSupported):
        db.execute("TRUNCATE documents")
    db.execute("TRUNCATE documents CASCADE")
    assert value("SELECT count(*) FROM chunks") == 0


def test_replicated_rows_are_not_chunked(db, insert, value):
    db.execute("SET session_replication_role = replica")
    insert("a", "x", title="t", content_hash="as sent")
    assert value("SELECT content_hash FROM documents") == "as sent"
    assert value("SELECT count(*) FROM chunks") == 0


def test_a_failing_row_fails_the_statement(db, insert, value):
    """Nothing is stored half-way, and the session goes on."""
    with pytest.raises(psycopg.Error):
        db.execute(
            "INSERT INTO documents (source_uri, content, metadata) VALUES ('a', 'x', '{}'),"
            " ('b', 'y', '{\"pgchunk.strategy\": \"nope\"}')"
        )
    assert value("SELECT count(*) FROM documents") == 0
    assert value("SELECT count(*) FROM chunks") == 0
    insert("a", "x")


def test_rollback_leaves_nothing(db, value):
    with db.transaction(force_rollback=True):
        db.execute("INSERT INTO documents (source_uri, content) VALUES ('a', 'x')")
        assert value("SELECT count(*) FROM chunks") == 1
    assert value("SELECT count(*) FROM chunks") == 0
