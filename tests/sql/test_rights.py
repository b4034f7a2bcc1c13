"""Who may do what: a writer needs INSERT on documents only, nobody gains by our triggers and functions."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import sql


@pytest.fixture
def role(make_role, connect):
    """role(*grants): a new role's name and connection, after the grants, in which {} is its name."""

    def make(db, *grants):
        name = make_role()
        for grant in grants:
            db.execute(sql.SQL(grant).format(sql.Identifier(name)))
        return name, connect(user=name, password=name)

    return make


def denied(connection, statement):
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(statement)


# The writer


def test_a_writer_needs_insert_on_documents_only(db, role, rows, problems):
    _, writer = role(db, "GRANT INSERT ON documents TO {}")
    writer.execute("INSERT INTO documents (source_uri, content) VALUES ('a', E'# A\\n\\nx'), ('b', 'y')")
    with writer.cursor().copy("COPY documents (source_uri, content) FROM STDIN") as copy:
        copy.write_row(("c", "z"))
    assert len(rows("SELECT * FROM chunks")) == 3
    assert problems() == []
    for statement in (
        "SELECT * FROM documents",
        "UPDATE documents SET content = 'x'",
        "DELETE FROM documents",
        "SELECT * FROM chunks",
        "INSERT INTO chunks SELECT * FROM chunks",
        "DELETE FROM chunks",
        "SELECT * FROM chunk_quality",
        "SELECT * FROM chunk_coverage",
        "SELECT * FROM pgchunk.strategies",
        "SELECT * FROM pgchunk.collections",
        "SELECT pgchunk.preview('x')",
        "SELECT pgchunk.count_tokens('x')",
        "SELECT pgchunk.create_tables()",
        "SELECT documents_pgchunk_after()",
    ):
        denied(writer, statement)


def test_a_writer_with_update(db, role, value):
    _, writer = role(db, "GRANT INSERT, UPDATE, SELECT ON documents TO {}")
    writer.execute("INSERT INTO documents (source_uri, content) VALUES ('a', 'x')")
    writer.execute("UPDATE documents SET content = 'y'")
    assert value("SELECT raw_content FROM chunks") == "y"


def test_an_error_reaches_the_writer_whole(db, role):
    _, writer = role(db, "GRANT INSERT ON documents TO {}")
    with pytest.raises(psycopg.Error) as caught:
        writer.execute("INSERT INTO documents (source_uri, content, format) VALUES ('a', 'x', 'html')")
    assert caught.value.sqlstate == "MD004"
    assert caught.value.diag.message_hint


# The reader


def test_usage_of_the_schema_opens_what_only_looks(db, role, insert):
    insert("a", "x")
    _, reader = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}")
    assert reader.execute("SELECT count(*) FROM pgchunk.preview('x')").fetchone() == (1,)
    assert reader.execute("SELECT count(*) FROM pgchunk.strategies").fetchone() == (4,)
    denied(reader, "SELECT pgchunk.preview_document('a')")
    denied(reader, "UPDATE pgchunk.strategies SET max_tokens = 100")
    denied(reader, "INSERT INTO pgchunk.collections SELECT * FROM pgchunk.collections")
    denied(reader, "SELECT pgchunk._ship_strategies()")


def test_views_and_previews_obey_row_security(db, role, insert):
    for uri in ("mine", "yours"):
        insert(uri, f"text of {uri}")
    db.execute(
        "ALTER TABLE documents ENABLE ROW LEVEL SECURITY; ALTER TABLE chunks ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY d ON documents USING (source_uri = 'mine');"
        "CREATE POLICY c ON chunks USING (raw_content = 'text of mine')"
    )
    views = "chunk_quality, chunk_coverage, chunk_outliers, chunk_histogram"
    _, reader = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}", f"GRANT SELECT ON documents, chunks, {views} TO {{}}")
    assert reader.execute("SELECT source_uri, ok FROM chunk_coverage").fetchall() == [("mine", True)]
    assert reader.execute("SELECT documents FROM chunk_quality").fetchall() == [(1,)]
    assert reader.execute("SELECT DISTINCT source_uri FROM chunk_outliers").fetchall() == [("mine",)]
    assert len(reader.execute("SELECT * FROM pgchunk.preview_document('mine')").fetchall()) == 1
    with pytest.raises(psycopg.Error) as caught:
        reader.execute("SELECT * FROM pgchunk.preview_document('yours')")
    assert caught.value.sqlstate == "MD009"


# The owner of tables


@pytest.fixture
def owner(db, role):
    """A role with a schema of its own, its name and connection; no superuser."""
    name, connection = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}", "CREATE SCHEMA app AUTHORIZATION {}")
    connection.execute("SELECT pgchunk.create_tables('app', 3)")
    return name, connection


def test_anybody_can_have_tables(owner, db):
    name, connection = owner
    connection.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', E'# A\\n\\nx')")
    assert connection.execute("SELECT content FROM app.chunks").fetchone() == ("A\n\nx",)
    assert connection.execute("SELECT ok FROM app.chunk_coverage").fetchone() == (True,)
    owners = db.execute(
        "SELECT DISTINCT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'app'::regnamespace"
    ).fetchall()
    assert owners == [(name,)]


def test_the_owner_cannot_change_the_body_of_a_trigger_function(owner):
    _, connection = owner
    denied(
        connection,
        "CREATE OR REPLACE FUNCTION app.documents_pgchunk_after() RETURNS trigger LANGUAGE plpython3u AS 'pass'",
    )


HOSTILE = """
    CREATE FUNCTION app.hostile() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.raw_content := current_user; EXECUTE format('SET ROLE %I', session_user); RETURN NEW; END $$;
    CREATE TRIGGER hostile BEFORE INSERT ON app.chunks FOR EACH ROW EXECUTE FUNCTION app.hostile()
"""


def test_a_trigger_on_chunks_runs_as_the_owner(db, owner):
    """A superuser writes a document; the owner's trigger on chunks does not become superuser by it."""
    name, connection = owner
    connection.execute(HOSTILE.replace("EXECUTE format('SET ROLE %I', session_user);", ""))
    db.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', 'x')")
    assert db.execute("SELECT raw_content FROM app.chunks").fetchone() == (name,)


def test_a_trigger_on_chunks_cannot_climb_back(db, owner):
    _, connection = owner
    connection.execute(HOSTILE)
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="security-definer"):
        db.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', 'x')")


def test_adopt_takes_the_callers_own_tables_only(db, owner, role, refused):
    _, connection = owner
    columns = '\'{"key_column": "id", "content_column": "content"}\''
    for pair in ("'documents', 'chunks'", "'app.documents', 'chunks'", "'documents', 'app.chunks'"):
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"SELECT pgchunk._adopt({pair}, 'stolen', {columns})")
        assert caught.value.sqlstate == "42501"
    _, other = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}")
    with pytest.raises(psycopg.Error) as caught:
        other.execute(f"SELECT pgchunk._adopt('app.documents', 'app.chunks', 'stolen', {columns})")
    assert caught.value.sqlstate == "42501"
    assert db.execute("SELECT count(*) FROM pgchunk.collections").fetchone() == (2,)


def test_set_role_counts_not_who_logged_in(db, role):
    name, _ = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}")
    db.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(name)))
    with pytest.raises(psycopg.Error) as caught:
        db.execute("SELECT pgchunk._adopt('documents', 'chunks', 'x', '{}')")
    assert caught.value.sqlstate == "42501"


def test_a_trigger_function_serves_no_table_of_others(db, owner, role):
    """Even with EXECUTE granted by mistake, a function writes to no chunks but its owner's."""
    name, _ = owner
    thief, connection = role(
        db,
        "GRANT USAGE ON SCHEMA pgchunk, app TO {}",
        "CREATE SCHEMA thief AUTHORIZATION {}",
        "GRANT EXECUTE ON FUNCTION app.documents_pgchunk_after() TO {}",
    )
    connection.execute("SELECT pgchunk.create_tables('thief', 3)")
    connection.execute(
        "DROP TRIGGER zz_pgchunk_after_insert ON thief.documents;"
        "CREATE TRIGGER t AFTER INSERT ON thief.documents FOR EACH ROW"
        " EXECUTE FUNCTION app.documents_pgchunk_after()"
    )
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("INSERT INTO thief.documents (source_uri, content) VALUES ('a', 'x')")
    assert caught.value.sqlstate == "42501"
    assert name in caught.value.diag.message_detail
    assert thief in caught.value.diag.message_detail


def test_a_function_that_is_in_the_way_is_not_replaced(db, role):
    _, connection = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}", "CREATE SCHEMA app AUTHORIZATION {}")
    connection.execute(
        "CREATE FUNCTION app.documents_pgchunk_after() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"
    )
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT pgchunk.create_tables('app', 3)")
    assert caught.value.sqlstate == "42710"
    assert "app.documents_pgchunk_after()" in caught.value.diag.message_primary


def test_a_new_owner_adopts_again(db, owner, role):
    _, _ = owner
    heir, connection = role(db, "GRANT USAGE ON SCHEMA pgchunk TO {}", "GRANT ALL ON SCHEMA app TO {}")
    db.execute(f"ALTER TABLE app.documents OWNER TO {heir}; ALTER TABLE app.chunks OWNER TO {heir}")
    for view in ("quality", "histogram", "outliers", "coverage", "stale"):
        db.execute(f"ALTER VIEW app.chunk_{view} OWNER TO {heir}")
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', 'x')")
    assert caught.value.sqlstate == "42501"
    assert "create_tables" in caught.value.diag.message_hint
    connection.execute("SELECT pgchunk.create_tables('app', 3)")
    connection.execute("INSERT INTO app.documents (source_uri, content) VALUES ('a', 'x')")
    assert connection.execute("SELECT raw_content FROM app.chunks").fetchone() == ("x",)


def test_search_path_of_the_caller_does_not_matter(db, insert, value):
    db.execute(
        "CREATE SCHEMA evil;"
        "CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'evil'; END $$;"
        "CREATE FUNCTION evil.ne(text, text) RETURNS boolean"
        " LANGUAGE plpgsql AS $$ BEGIN RAISE 'evil'; END $$;"
        "CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.ne);"
        "CREATE TEMP TABLE collections (name text); CREATE TEMP TABLE pg_class (oid oid);"
        "SET search_path = evil, pg_temp, pg_catalog, public"
    )
    insert("a", "x")
    db.execute("UPDATE documents SET content = 'y'")
    assert value("SELECT raw_content FROM chunks") == "y"
    assert value("SELECT count(*) FROM pgchunk.preview_document('a'::text)") == 1
