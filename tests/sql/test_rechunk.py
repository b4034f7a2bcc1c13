"""CALL rechunk(): in batches, beside readers and writers, resumable, with the rights of the owner and no others."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter

import psycopg
import pytest

SMALLER = "UPDATE pgchunk.strategies SET max_tokens = 64 WHERE name = 'default'"
PART = "Some words of a part that goes on. "


@pytest.fixture
def many(db):
    """Sixty documents of several chunks that have become stale."""
    db.execute(
        "INSERT INTO documents (source_uri, content)"
        " SELECT 'd/' || n, E'# Document\\n\\n' || repeat(%s, 60) || n FROM generate_series(1, 60) AS n",
        [PART],
    )
    db.execute(SMALLER)
    return db


@pytest.fixture
def notices(db):
    found: list[str] = []
    db.add_notice_handler(lambda notice: found.append(notice.message_primary))
    return found


def is_fresh(value):
    return value("SELECT count(*) FROM chunk_stale") == 0 and value("SELECT bool_and(ok) FROM chunk_coverage")


def test_progress_is_told(many, notices, value):
    many.execute("CALL pgchunk.rechunk(batch_size => 25)")
    assert notices == [
        "rechunk: 60 stale documents in collection default",
        "rechunk: 25 of 60 documents chunked again",
        "rechunk: 50 of 60 documents chunked again",
        "rechunk: 60 of 60 documents chunked again",
    ]
    assert is_fresh(value)
    notices.clear()
    many.execute("CALL pgchunk.rechunk()")
    assert notices == ["rechunk: 0 stale documents in collection default"]


def test_it_commits_after_each_batch(many, connect):
    other, left = connect(), []
    many.add_notice_handler(lambda _: left.extend(other.execute("SELECT count(*) FROM chunk_stale").fetchone()))
    many.execute("CALL pgchunk.rechunk(batch_size => 25)")
    assert left == [60, 35, 10, 0]


def test_only_what_is_stale_is_touched(many, rows, insert):
    insert("fresh", PART * 60)
    other = "SELECT xmin::text, * FROM chunks WHERE document_id = 61 ORDER BY id"
    before = rows(other)
    many.execute("CALL pgchunk.rechunk()")
    assert rows(other) == before


def test_one_strategy(many, rows, value):
    many.execute("UPDATE pgchunk.strategies SET is_active = true WHERE name = 'packed'")
    many.execute("CALL pgchunk.rechunk('packed')")
    assert {r["strategy"] for r in rows("SELECT DISTINCT strategy FROM chunk_stale")} == {"default"}
    many.execute("CALL pgchunk.rechunk()")
    assert is_fresh(value)


def test_stopped_and_resumed(many, connect, notices, value):
    """A cancel between batches or within one loses that batch at most."""
    stopped = connect()
    stopped.add_notice_handler(lambda notice: "20 of 60" in notice.message_primary and stopped.cancel())
    with pytest.raises(psycopg.errors.QueryCanceled):
        stopped.execute("CALL pgchunk.rechunk(batch_size => 10)")
    left = value("SELECT count(*) FROM chunk_stale")
    assert 0 < left <= 40
    assert value("SELECT bool_and(ok) FROM chunk_coverage WHERE document_id <= 20")
    many.execute("CALL pgchunk.rechunk(batch_size => 10)")
    assert notices[0] == f"rechunk: {left} stale documents in collection default"
    assert is_fresh(value)
    assert stopped.execute("SHOW search_path").fetchone() == ('"$user", public',)


def test_readers_see_whole_sets_throughout(many, connect, value):
    """Each look of a reader finds every document with one recipe's chunks, from the first to the last."""
    look = (
        "SELECT document_id, array_agg(ordinal ORDER BY ordinal) AS ordinals, count(DISTINCT recipe_hash) AS recipes"
        " FROM chunks GROUP BY document_id"
    )
    seen: Counter[tuple[int, bool, int]] = Counter()
    done = threading.Event()

    def read():
        reader = connect()
        while not done.is_set():
            found = reader.execute(look).fetchall()
            whole = all(row[1] == list(range(len(row[1]))) for row in found)
            seen[(len(found), whole, max(row[2] for row in found))] += 1

    thread = threading.Thread(target=read)
    thread.start()
    try:
        many.execute("CALL pgchunk.rechunk(batch_size => 3)")
    finally:
        done.set()
        thread.join(timeout=30)
    assert set(seen) == {(60, True, 1)}
    assert seen.total() > 3
    assert is_fresh(value)


def test_an_update_during_rechunk(many, connect, value):
    """What another session has locked is left for the end, and then waited for; its text is the one that counts."""
    writer = connect(autocommit=False)
    writer.execute(
        "UPDATE documents SET content = '# New' || E'\\n\\n' || repeat('new words ', 100) WHERE id IN (3, 40)"
    )
    messages: list[str] = []
    rechunker = connect()
    rechunker.add_notice_handler(lambda notice: messages.append(notice.message_primary))
    thread = threading.Thread(target=rechunker.execute, args=("CALL pgchunk.rechunk(batch_size => 7)",))
    thread.start()
    deadline = time.monotonic() + 30
    while not any("58 of 60" in message for message in messages) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert thread.is_alive(), messages
    assert value("SELECT count(*) FROM chunk_stale") == 2
    # It holds no lock while it waits: no deadlock, whatever the writer asks for now.
    writer.execute("SET lock_timeout = '5s'")
    writer.execute("UPDATE documents SET content = content || ' more' WHERE id IN (1, 2, 50)")
    writer.commit()
    thread.join(timeout=30)
    assert not thread.is_alive()
    assert value("SELECT count(*) FROM chunks WHERE document_id = 3 AND raw_content LIKE 'new words%'") >= 1
    assert value("SELECT count(*) FROM chunks WHERE document_id = 3 AND raw_content LIKE 'Some words%'") == 0
    assert is_fresh(value)


def test_a_delete_and_another_choice_during_rechunk(many, connect, value):
    writer = connect(autocommit=False)
    writer.execute("DELETE FROM documents WHERE id = 3")
    writer.execute('UPDATE documents SET metadata = \'{"pgchunk.strategy": "packed"}\' WHERE id = 4')
    rechunker = connect()
    thread = threading.Thread(target=rechunker.execute, args=("CALL pgchunk.rechunk()",))
    thread.start()
    time.sleep(0.5)
    writer.commit()
    thread.join(timeout=30)
    assert value("SELECT array_agg(DISTINCT strategy) FROM chunks WHERE document_id = 4") == ["packed"]
    assert value("SELECT count(*) FROM chunks WHERE document_id = 3") == 0
    assert is_fresh(value)


def test_two_at_once(many, connect, value):
    threads = [
        threading.Thread(target=connect().execute, args=("CALL pgchunk.rechunk(batch_size => 5)",)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert is_fresh(value)


def test_documents_that_cannot_be_chunked_keep_their_chunks(many, notices, value):
    many.execute(f"UPDATE documents SET content = repeat('{PART}', 100) WHERE id IN (5, 59)")
    many.execute("UPDATE pgchunk.strategies SET max_tokens = 50, max_document_bytes = 3000 WHERE name = 'default'")
    many.execute("CALL pgchunk.rechunk(batch_size => 50)")
    assert notices[-1] == "rechunk: 2 documents keep the chunks they had: see the warnings"
    assert "document d/5 keeps its chunks: document of 3500 bytes is too large" in notices
    assert value("SELECT array_agg(document_id ORDER BY 1) FROM chunk_stale") == [5, 59]


def test_odd_and_changed_names(db, value):
    """The schema's name needs quotes; it and the table are renamed later."""
    db.execute('CREATE SCHEMA "Odd \' schema"')
    name = value("SELECT pgchunk.create_tables('Odd '' schema', dimensions => 3)")
    documents = '"Odd \' schema".documents'
    db.execute(
        f"INSERT INTO {documents} (source_uri, content) SELECT n, repeat('w ', 300) FROM generate_series(1, 5) n"
    )
    db.execute(SMALLER)
    call = f"CALL pgchunk.rechunk(collection => '{name.replace(chr(39), chr(39) * 2)}', batch_size => 2)"
    db.execute(call)
    assert value('SELECT count(*) FROM "Odd \' schema".chunk_stale') == 0
    db.execute('ALTER SCHEMA "Odd \' schema" RENAME TO odd; ALTER TABLE odd.documents RENAME TO papers')
    db.execute("UPDATE pgchunk.strategies SET max_tokens = 32 WHERE name = 'default'")
    db.execute(call)
    assert value("SELECT count(*) FROM odd.chunk_stale") == 0
    assert value("SELECT max(content_token_count) FROM odd.chunks") <= 32


# What it refuses


def test_refused(db, refused):
    refused("22023", "CALL pgchunk.rechunk(batch_size => 0)")
    refused("22023", "CALL pgchunk.rechunk(batch_size => NULL)")
    refused("MD002", "CALL pgchunk.rechunk('nowhere')")
    refused("MD008", "CALL pgchunk.rechunk(collection => 'nowhere')")
    db.execute("BEGIN")
    diagnostics = refused("2D000", "CALL pgchunk.rechunk()")
    assert "autocommit" in diagnostics.message_hint
    db.execute("ROLLBACK")


def test_only_for_owners(many, make_role, connect, value):
    role = make_role()
    many.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; GRANT ALL ON documents, chunks TO {role}")
    caller = connect(user=role, password=role)
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
        caller.execute("CALL pgchunk.rechunk()")
    assert "do not belong to" in caught.value.diag.message_primary
    assert "owner" in caught.value.diag.message_hint
    assert value("SELECT count(*) FROM chunk_stale") == 60
    for task in ("count", "remove"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            caller.execute("SELECT documents_pgchunk_work(%s)", [json.dumps({"task": task})])


@pytest.fixture
def owned(db, make_role, connect):
    """A collection of a role of its own; the role's name and connection."""
    role = make_role()
    db.execute(f"GRANT USAGE ON SCHEMA pgchunk TO {role}; CREATE SCHEMA theirs AUTHORIZATION {role}")
    owner = connect(user=role, password=role)
    owner.execute("SELECT pgchunk.create_tables('theirs', 3)")
    owner.execute("INSERT INTO theirs.documents (source_uri, content) VALUES ('a', 'x')")
    return role, owner


RECHUNK = "CALL pgchunk.rechunk(collection => 'theirs')"


@pytest.mark.parametrize("who", ["owner", "member", "superuser"])
def test_whoever_calls_the_owner_writes(db, owned, make_role, connect, value, who):
    """A trigger on the chunk table, which the owner may make, gains nothing from a superuser's call."""
    role, owner = owned
    owner.execute(
        "CREATE TABLE theirs.seen AS SELECT ''::text AS name;"
        "CREATE FUNCTION theirs.spy() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN INSERT INTO theirs.seen VALUES (current_user); RETURN NULL; END $$;"
        "CREATE TRIGGER spy AFTER UPDATE ON theirs.chunks FOR EACH ROW EXECUTE FUNCTION theirs.spy()"
    )
    caller = {"owner": owner, "superuser": db}.get(who)
    if caller is None:
        member = make_role(f"IN ROLE {role}")
        caller = connect(user=member, password=member)
    db.execute(SMALLER)
    caller.execute(RECHUNK)
    assert value("SELECT array_agg(name) FROM theirs.seen WHERE name <> ''") == [role]
    assert value("SELECT count(*) FROM theirs.chunk_stale") == 0


@pytest.mark.parametrize(
    "trick",
    [
        "ALTER FUNCTION theirs.documents_pgchunk_work(jsonb) SECURITY INVOKER",
        "ALTER FUNCTION theirs.documents_pgchunk_work(jsonb) SET search_path = theirs",
        "ALTER FUNCTION theirs.documents_pgchunk_work(jsonb) SET role = 'postgres'",
        "CREATE OR REPLACE FUNCTION theirs.documents_pgchunk_work(task jsonb) RETURNS jsonb LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'got %', current_user; END $$",
        "DROP FUNCTION theirs.documents_pgchunk_work(jsonb)",
    ],
)
def test_an_altered_worker_is_not_called(db, owned, refused, value, trick):
    _, owner = owned
    owner.execute(trick)
    db.execute(SMALLER)
    message = refused("42501", RECHUNK).message_primary
    assert "worker function" in message
    refused("42501", "SELECT pgchunk.remove_chunks('default', 'theirs')")
    if "REPLACE" in trick:
        with pytest.raises(psycopg.errors.DuplicateObject, match="did not make this one"):
            owner.execute("SELECT pgchunk.create_tables('theirs', 3)")
        owner.execute("DROP FUNCTION theirs.documents_pgchunk_work(jsonb)")
    owner.execute("SELECT pgchunk.create_tables('theirs', 3)")
    db.execute(RECHUNK)
    assert value("SELECT count(*) FROM theirs.chunk_stale") == 0


def test_the_callers_search_path_misleads_nobody(db, owned, value):
    """Functions, operators and tables of a hostile schema that comes first are not used, and the path is given back."""
    _, owner = owned
    owner.execute(
        "CREATE FUNCTION theirs.trap(text, text) RETURNS boolean LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'trapped %', current_user; END $$;"
        "CREATE OPERATOR theirs.= (LEFTARG = text, RIGHTARG = text, FUNCTION = theirs.trap);"
        "CREATE FUNCTION theirs.set_config(text, text, boolean) RETURNS text LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'trapped %', current_user; END $$;"
        "CREATE TABLE theirs.pg_class (); CREATE TABLE theirs.pg_proc ()"
    )
    db.execute(SMALLER)
    db.execute("SET search_path = theirs, pg_catalog")
    db.execute(RECHUNK)
    assert db.execute("SHOW search_path").fetchone() == ("theirs, pg_catalog",)
    db.execute("RESET search_path")
    assert value("SELECT count(*) FROM theirs.chunk_stale") == 0
