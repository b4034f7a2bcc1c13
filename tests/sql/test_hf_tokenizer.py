"""A tokenizer.json in the server's folder is used by name, and only by name."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import psycopg
import pytest

import servers
import tokenizer_files


@pytest.fixture
def tokenizer(request):
    """The name of a tokenizer that the server has for the time of a test."""
    server = servers.complete()
    folder = server.pkglibdir / "pgchunk-tokenizers" if server else Path("/nonexistent")
    if (
        request.config.getoption("--testcontainers")
        or os.environ.get("PGCHUNK_TEST_DSN")
        or not os.access(folder, os.W_OK)
    ):
        pytest.skip("needs to write to the library folder of a server on this machine")
    name = f"test-{uuid.uuid4().hex}"
    path = tokenizer_files.write(folder, "word-piece", name)
    yield name
    path.unlink()


def test_a_strategy_can_use_the_models_own_tokenizer(db, tokenizer):
    db.execute(
        "INSERT INTO pgchunk.strategies (name, max_tokens, tokenizer) VALUES ('own', 64, %s)", [f"hf:{tokenizer}"]
    )
    rows = db.execute(
        "SELECT content, content_token_count, pgchunk.count_tokens(content, %s) FROM pgchunk.preview(%s, 'T', 'own')",
        [f"hf:{tokenizer}", "# A\n\n" + "Grind right before you brew. " * 60],
    ).fetchall()
    assert len(rows) > 3
    assert all(stored == counted <= 64 for _, stored, counted in rows)


def test_a_tokenizer_that_is_not_there_is_refused_when_the_strategy_is_written(db):
    with pytest.raises(psycopg.Error) as caught:
        db.execute("INSERT INTO pgchunk.strategies (name, tokenizer) VALUES ('own', 'hf:not-there')")
    assert caught.value.sqlstate == "MD005"
    assert "pgchunk-tokenizers/not-there.json" in caught.value.diag.message_hint


@pytest.mark.parametrize("name", ["hf:../../etc/passwd", "hf:/etc/passwd", "/etc/passwd"])
def test_a_path_is_refused(db, name):
    with pytest.raises(psycopg.Error) as caught:
        db.execute("INSERT INTO pgchunk.strategies (name, tokenizer) VALUES ('own', %s)", [name])
    assert caught.value.sqlstate == "MD001"
