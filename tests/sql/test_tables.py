"""create_tables(): arguments, repetition, other schemas, renames, partitions, dropping."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql

EMBEDDING = (
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'embedding'"
)


def test_columns(rows):
    found = {
        table: [
            (row["column_name"], row["udt_name"], row["is_nullable"])
            for row in rows(
                "SELECT * FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position",
                table,
            )
        ]
        for table in ("documents", "chunks")
    }
    assert found["documents"] == [
        ("id", "int8", "NO"),
        ("source_uri", "text", "NO"),
        ("title", "text", "NO"),
        ("content", "text", "NO"),
        ("metadata", "jsonb", "NO"),
        ("content_hash", "text", "NO"),
        ("format", "text", "NO"),
        ("updated_at", "timestamptz", "NO"),
    ]
    assert found["chunks"] == [
        ("id", "int8", "NO"),
        ("document_id", "int8", "NO"),
        ("strategy", "text", "NO"),
        ("ordinal", "int4", "NO"),
        ("content", "text", "NO"),
        ("raw_content", "text", "NO"),
        ("raw_prefix", "text", "NO"),
        ("raw_suffix", "text", "NO"),
        ("heading_path", "_text", "NO"),
        ("token_count", "int4", "NO"),
        ("content_token_count", "int4", "NO"),
        ("char_start", "int4", "NO"),
        ("char_end", "int4", "NO"),
        ("continuation", "bool", "NO"),
        ("flags", "_text", "NO"),
        ("content_hash", "text", "NO"),
        ("recipe_hash", "text", "NO"),
        ("embedding", "vector", "YES"),
        ("embedding_model", "text", "YES"),
        ("embedded_at", "timestamptz", "YES"),
    ]


def test_indexes(rows):
    definitions = [row["indexdef"] for row in rows("SELECT indexdef FROM pg_indexes WHERE tablename = 'chunks'")]
    for wanted in (
        "UNIQUE INDEX chunks_document_id_strategy_ordinal_key",
        "USING btree (document_id, strategy, ordinal)",
        "USING hnsw (embedding vector_cosine_ops)",
        "USING btree (document_id)",
        "USING btree (content_hash)",
    ):
        assert any(wanted in definition for definition in definitions), definitions


def test_again_changes_nothing(db, insert, chunks_of, rows):
    document = insert("a", "# A\n\nx")
    before = chunks_of(document), rows("SELECT * FROM pgchunk.collections")
    triggers = "SELECT tgname, tgfoid::regproc::text, tgtype FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname"
    made = rows(triggers)
    notices = []
    db.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    assert db.execute("SELECT pgchunk.create_tables()").fetchone() == ("default",)
    assert (chunks_of(document), rows("SELECT * FROM pgchunk.collections")) == before
    assert rows(triggers) == made
    assert notices == []
    db.execute("SELECT pgchunk.create_tables(dimensions => 3)")
    assert "vector(1024)" in notices[0]


@pytest.mark.parametrize(
    ("arguments", "embedding", "opclass"),
    [
        ("dimensions => 384", "vector(384)", "vector_cosine_ops"),
        ("dimensions => 2000", "vector(2000)", "vector_cosine_ops"),
        ("dimensions => 4000, vector_type => 'halfvec'", "halfvec(4000)", "halfvec_cosine_ops"),
        ("dimensions => 8000, index => 'none'", "vector(8000)", None),
    ],
)
def test_embeddings(db, value, rows, arguments, embedding, opclass):
    db.execute("CREATE SCHEMA other")
    assert value(f"SELECT pgchunk.create_tables('other', {arguments})") == "other"
    assert value(EMBEDDING, "other.chunks") == embedding
    hnsw = rows("SELECT indexdef FROM pg_indexes WHERE schemaname = 'other' AND indexdef LIKE '%hnsw%'")
    assert [opclass in row["indexdef"] for row in hnsw] == ([True] if opclass else [])
    db.execute("INSERT INTO other.documents (source_uri, content) VALUES ('a', 'x')")
    assert value("SELECT count(*) FROM other.chunks") == 1
    assert value("SELECT count(*) FROM chunks") == 0


def test_the_hint_names_halfvec(refused):
    assert "halfvec" in refused("22023", "SELECT pgchunk.create_tables(dimensions => 3072)").message_hint


def test_odd_names(db, value):
    schema = "Größe \"quoted\" 'x' $1 {}"
    db.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    assert value("SELECT pgchunk.create_tables(%s, 3)", schema) == schema
    db.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
    db.execute("INSERT INTO documents (source_uri, content) VALUES ('a', 'x')")
    assert value("SELECT ok FROM chunk_coverage")
    assert value("SELECT count(*) FROM pgchunk.preview_document('a'::text, collection => %s)", schema) == 1


def test_vector_may_live_in_any_schema(empty_dsn):
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute(
            'CREATE SCHEMA "Ext"; CREATE EXTENSION vector SCHEMA "Ext"; CREATE EXTENSION pgchunk CASCADE'
        )
        connection.execute("SELECT pgchunk.create_tables(dimensions => 3)")
        connection.execute("INSERT INTO documents (source_uri, content) VALUES ('a', 'x')")
        assert connection.execute("SELECT count(*) FROM chunks").fetchone() == (1,)


def test_renames_and_moves_change_nothing(db, connect, insert, value):
    """Neither for the session that does them nor for one that has written before."""
    other = connect()
    insert("a", "x")
    other.execute("INSERT INTO documents (source_uri, content) VALUES ('b', 'x')")
    db.execute("CREATE SCHEMA moved; ALTER TABLE documents SET SCHEMA moved; ALTER TABLE chunks SET SCHEMA moved")
    db.execute("ALTER TABLE moved.documents RENAME TO papers; ALTER TABLE moved.chunks RENAME TO parts")
    db.execute("ALTER SCHEMA moved RENAME TO shelf")
    for session in (db, other):
        session.execute("INSERT INTO shelf.papers (source_uri, content) VALUES (gen_random_uuid(), 'y')")
        session.execute("UPDATE shelf.papers SET content = content || ' more'")
    assert value("SELECT count(*) FROM shelf.parts WHERE raw_content LIKE '%more'") == 4
    assert value("SELECT bool_and(ok) FROM chunk_coverage")
    assert value("SELECT count(*) FROM pgchunk.preview_document('a'::text)") == 1


def test_columns_may_be_added_and_changed(db, insert, value):
    insert("a", "x")
    db.execute(
        "ALTER TABLE chunks ADD note text, ALTER embedding TYPE vector(3);"
        "ALTER TABLE documents ADD extra int, ADD words tsvector"
        " GENERATED ALWAYS AS (to_tsvector('english', content)) STORED"
    )
    insert("b", "y")
    db.execute("UPDATE documents SET content = 'z'")
    assert value("SELECT bool_and(ok) FROM chunk_coverage")


def test_a_table_of_another_kind_is_refused(db, refused):
    db.execute("CREATE SCHEMA app; CREATE TABLE app.documents (id bigint PRIMARY KEY, content text)")
    diagnostics = refused("42703", "SELECT pgchunk.create_tables('app')")
    assert "content_hash, format, metadata, source_uri, title, updated_at" in diagnostics.message_primary
    assert diagnostics.message_hint


def test_partitioned_documents(db, value):
    db.execute(
        "CREATE SCHEMA app;"
        "CREATE TABLE app.documents (id bigint PRIMARY KEY, source_uri text NOT NULL, title text NOT NULL,"
        " content text NOT NULL, metadata jsonb NOT NULL DEFAULT '{}', content_hash text NOT NULL,"
        " format text NOT NULL DEFAULT 'markdown', updated_at timestamptz NOT NULL DEFAULT now())"
        " PARTITION BY RANGE (id);"
        "CREATE TABLE app.low PARTITION OF app.documents FOR VALUES FROM (0) TO (10);"
        "SELECT pgchunk.create_tables('app', 3);"
        "CREATE TABLE app.high PARTITION OF app.documents FOR VALUES FROM (10) TO (20)"
        " PARTITION BY RANGE (id);"
        "CREATE TABLE app.higher PARTITION OF app.high FOR VALUES FROM (10) TO (20)"
    )
    insert = "INSERT INTO {} (id, source_uri, content) VALUES (%s, %s, E'# T\\n\\nx')"
    db.execute(insert.format("app.documents"), (1, "a"))
    db.execute(insert.format("app.documents"), (11, "b"))
    db.execute(insert.format("app.higher"), (12, "c"))
    assert value("SELECT array_agg(document_id ORDER BY 1) FROM app.chunks") == [1, 11, 12]
    db.execute("UPDATE app.documents SET content = 'y' WHERE id > 5")
    assert value("SELECT array_agg(raw_content ORDER BY document_id) FROM app.chunks") == ["x", "y", "y"]
    assert value("SELECT bool_and(ok) FROM app.chunk_coverage")
    db.execute("DELETE FROM app.documents WHERE id = 11")
    assert value("SELECT count(*) FROM app.chunks") == 2


def test_tables_may_be_dropped_and_made_again(db, insert, value):
    insert("a", "x")
    db.execute("DROP TABLE documents, chunks CASCADE")
    assert value("SELECT pgchunk.create_tables(dimensions => 3)") == "default"
    insert("b", "y")
    assert value("SELECT count(*) FROM chunks") == 1
    assert value("SELECT count(*) FROM pgchunk.collections") == 1


def test_drop_extension_drops_no_document(db, insert, value):
    insert("a", "x")
    with pytest.raises(psycopg.errors.DependentObjectsStillExist):
        db.execute("DROP EXTENSION pgchunk")
    db.execute("DROP EXTENSION pgchunk CASCADE")
    assert value("SELECT count(*) FROM documents JOIN chunks ON document_id = documents.id") == 1
    assert value("SELECT count(*) FROM pg_proc WHERE proname LIKE '%pgchunk%'") == 0
    db.execute("INSERT INTO documents (source_uri, title, content, content_hash) VALUES ('b', 't', 'y', '')")
    db.execute("CREATE EXTENSION pgchunk; SELECT pgchunk.create_tables()")
    insert("c", "z")
    assert value("SELECT count(*) FROM chunks") == 2
    assert value("SELECT array_agg(source_uri) FROM chunk_coverage WHERE NOT ok") == ["b"]
