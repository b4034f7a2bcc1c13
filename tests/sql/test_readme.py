"""The README's SQL and Python run as they stand, and print what the README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
SQL_AND_OUTPUT = re.compile(r"```sql\n(.*?)```(?:\s*```text\n(.*?)```)?", re.DOTALL)


def trimmed(output: str) -> list[str]:
    """Lines without blanks at their ends, which editors remove."""
    return [line.rstrip() for line in output.strip("\n").splitlines()]


def test_the_sql_prints_what_is_shown(empty_dsn, psql_at):
    blocks = SQL_AND_OUTPUT.findall(README.read_text("utf-8"))
    assert 3 <= len(blocks) <= 5
    assert sum(bool(shown) for _, shown in blocks) >= 2
    for sql, shown in blocks:
        done = psql_at(empty_dsn, "-q", "-c", sql)
        assert done.returncode == 0, done.stderr
        if shown:
            assert trimmed(done.stdout) == trimmed(shown)


def test_the_python_runs(monkeypatch: pytest.MonkeyPatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(README.parent)
    exec(compile(code, "README.md", "exec"), {})
    assert "('pgchunk', 'Two commands')" in capsys.readouterr().out


def test_every_file_that_is_linked_exists():
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8"))
    assert links
    assert [link for link in links if not (README.parent / link).exists()] == []
