"""carry_row_security(): who sees a document sees its chunks, and nobody else does."""

from __future__ import annotations

import psycopg
import pytest

VIEWS = "chunk_quality, chunk_coverage, chunk_outliers, chunk_histogram"
READ = "GRANT USAGE ON SCHEMA pgchunk TO {}"
SELECT = f"GRANT SELECT ON documents, chunks, {VIEWS} TO {{}}"


@pytest.fixture
def secured(db):
    """Five documents, of which the readers of a policy see three."""
    db.execute(
        "INSERT INTO documents (source_uri, content, metadata)"
        " SELECT 'doc ' || n, repeat('Some words. ', 400), jsonb_build_object('public', n <= 3)"
        " FROM generate_series(1, 5) AS n"
    )
    db.execute(
        "ALTER TABLE documents ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY readers ON documents FOR SELECT USING ((metadata ->> 'public')::boolean);"
        "CREATE POLICY writers ON documents FOR INSERT WITH CHECK (true)"
    )
    db.execute("SELECT pgchunk.carry_row_security()")
    return db


def seen(connection):
    return {
        relation: connection.execute(f"SELECT count(DISTINCT document_id) FROM {relation}").fetchone()[0]
        for relation in ("chunks", "chunk_coverage", "chunk_outliers")
    } | {"chunk_quality": connection.execute("SELECT sum(documents) FROM chunk_quality").fetchone()[0]}


def test_a_reader_of_three_documents_sees_the_chunks_of_three(secured, role):
    _, reader = role(READ, SELECT)
    assert reader.execute("SELECT count(*) FROM documents").fetchone() == (3,)
    assert seen(reader) | {"chunk_outliers": 3} == dict.fromkeys(seen(reader), 3)
    assert secured.execute("SELECT count(DISTINCT document_id) FROM chunks").fetchone() == (5,)
    bars = reader.execute("SELECT sum(chunks) FROM chunk_histogram").fetchone()
    assert bars == reader.execute("SELECT count(*) FROM chunks").fetchone()
    assert reader.execute("SELECT bool_and(ok) FROM chunk_coverage").fetchone() == (True,)


def test_what_a_policy_shows_later_is_seen_later(secured, role):
    _, reader = role(READ, SELECT)
    secured.execute("UPDATE documents SET metadata = '{\"public\": true}' WHERE source_uri = 'doc 4'")
    assert seen(reader)["chunks"] == 4
    secured.execute("DROP POLICY readers ON documents")
    assert reader.execute("SELECT count(*) FROM chunks").fetchone() == (0,)


def test_a_reader_changes_no_chunk_of_what_it_does_not_see(secured, role):
    _, worker = role(READ, SELECT, "GRANT UPDATE (embedding_model) ON chunks TO {}")
    worker.execute("UPDATE chunks SET embedding_model = 'm'")
    found = secured.execute("SELECT count(DISTINCT document_id) FROM chunks WHERE embedding_model = 'm'").fetchone()
    assert found == (3,)


def test_writers_and_the_owners_functions_go_on(secured, role):
    _, writer = role("GRANT INSERT ON documents TO {}")
    writer.execute("INSERT INTO documents (source_uri, content) VALUES ('new', 'x')")
    secured.execute("UPDATE documents SET content = 'short' WHERE source_uri = 'doc 5'")
    secured.execute("DELETE FROM documents WHERE source_uri = 'doc 1'")
    assert secured.execute("SELECT bool_and(ok), count(*) FROM chunk_coverage").fetchone() == (True, 5)


def test_it_can_be_called_twice_and_taken_back(secured, role):
    _, reader = role(READ, SELECT)
    secured.execute("SELECT pgchunk.carry_row_security('default')")
    assert seen(reader)["chunks"] == 3
    for _ in range(2):
        secured.execute("SELECT pgchunk.drop_row_security()")
        assert reader.execute("SELECT count(DISTINCT document_id) FROM chunks").fetchone() == (5,)
    assert secured.execute("SELECT relrowsecurity FROM pg_class WHERE oid = 'chunks'::regclass").fetchone() == (False,)
    secured.execute("SELECT pgchunk.carry_row_security()")
    assert seen(reader)["chunks"] == 3


def test_policies_of_others_stay_in_force(secured, role):
    _, reader = role(READ, SELECT)
    secured.execute("CREATE POLICY mine ON chunks USING (false)")
    secured.execute("SELECT pgchunk.drop_row_security()")
    assert reader.execute("SELECT count(*) FROM chunks").fetchone() == (0,)


def test_it_survives_a_rename_and_a_new_key_name(secured, role):
    _, reader = role(READ, SELECT)
    secured.execute("ALTER TABLE documents RENAME TO papers; ALTER TABLE papers RENAME id TO number")
    assert reader.execute("SELECT count(DISTINCT document_id) FROM chunks").fetchone() == (3,)


def test_forced_policies_are_told_of(secured):
    notices = []
    secured.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    secured.execute("ALTER TABLE documents FORCE ROW LEVEL SECURITY")
    secured.execute("SELECT pgchunk.carry_row_security()")
    assert len(notices) == 1
    assert "are not on public.chunks" in notices[0]


@pytest.mark.parametrize("function", ["carry_row_security", "drop_row_security", "upgrade_tables"])
def test_only_the_owner_may(secured, role, function):
    _, reader = role(READ, SELECT)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        reader.execute(f"SELECT pgchunk.{function}()")
    assert seen(reader)["chunks"] == 3
