"""docs/sql.md names every function and view; the statements of docs/operations.md on strategies run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_reference_is_complete(rows):
    documented = set(re.findall(r"^\| `(?:CALL )?(\w+)", (DOCS / "sql.md").read_text("utf-8"), re.MULTILINE))
    found = rows(
        "SELECT proname AS name FROM pg_proc WHERE pronamespace = 'pgchunk'::regnamespace AND proname !~ '^_'"
        " UNION SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'pgchunk'::regnamespace"
        " UNION SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace"
    )
    assert documented == {row["name"] for row in found}


def test_changing_a_strategy(db, insert, value, guide):
    insert("guide.md", guide())
    text = (DOCS / "operations.md").read_text("utf-8")
    section = text[text.index("## Changing a strategy") :].split("\n## ")[0]
    blocks = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        for statement in block.split(";\n"):
            if statement.strip():
                db.execute(statement)
    assert value("SELECT count(*) FROM chunk_stale") == 0


def test_reasons_are_those_of_the_view(value):
    text = (DOCS / "operations.md").read_text("utf-8")
    documented = set(re.findall(r"^\| `(\w+)` \|", text.split("| reason in `chunk_stale` |")[1], re.MULTILINE)[:8])
    view = value("SELECT pg_get_viewdef('chunk_stale'::regclass)")
    assert documented == set(re.findall(r"THEN '(\w+)'::text", view))
