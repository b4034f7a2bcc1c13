"""An edit history queues for embedding what is new in it, to the token. `make replay EDITS=...` takes a longer one."""

from __future__ import annotations

import random

import pytest

import replay
from conftest import connections, scratch_database


@pytest.fixture
def database(session_server):
    """A database with tables of three dimensions."""
    with scratch_database(session_server, "template0") as conninfo, connections(conninfo) as connect:
        connection = connect()
        connection.execute("CREATE EXTENSION pgchunk CASCADE")
        connection.execute("SELECT pgchunk.create_tables(dimensions => 3, index => 'none')")
        yield connection


def history(number):
    """Edits of three documents: words changed, sections put in, moved, doubled and taken out."""
    chance = random.Random(5)
    versions = {f"doc/{n}.md": [section(chance) for _ in range(8)] for n in range(3)}
    for _ in range(number):
        uri = chance.choice(sorted(versions))
        old = list(versions[uri])
        new = versions[uri]
        place = chance.randrange(len(new))
        match chance.randrange(5):
            case 0:
                new[place] = new[place].replace("word", "changed", 3)
            case 1:
                new.insert(place, section(chance))
            case 2:
                new.append(new.pop(place))
            case 3:
                new.insert(place, new[place])
            case 4 if len(new) > 2:
                del new[place]
        yield {"source_uri": uri, "old": text(old), "new": text(new)}


def section(chance):
    return f"## Section {chance.randrange(10**6)}\n\n" + "word " * chance.randrange(20, 900)


def text(sections):
    return "# Title\n\n" + "\n\n".join(sections) + "\n"


def test_an_edit_queues_what_is_new(database):
    report = replay.replay(database, history(40))
    assert report.problems == []
    assert report.edits == 40
    assert report.queued == report.new > 0
    assert report.rebuild > 3 * report.new
    assert "1.00 x" in report.lines()[2]


def test_a_difference_is_found(database):
    """The count is not of the server's own making: with a trigger that loses embeddings it tells so."""
    database.execute(
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.embedding := NULL; RETURN NEW; END $$;"
        "CREATE TRIGGER lose BEFORE UPDATE OF ordinal ON chunks FOR EACH ROW EXECUTE FUNCTION lose()"
    )
    report = replay.replay(database, history(12))
    assert any("tokens queued" in problem for problem in report.problems)
