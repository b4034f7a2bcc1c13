"""`make laws`: a table of zeros is a proof, so it must not come out of nothing."""

from __future__ import annotations

import pytest

import laws


@pytest.mark.parametrize("directories", [[], ["/nonexistent"]])
def test_nothing_to_check_is_no_proof(directories, capsys):
    assert laws.main(directories) == 2
    assert capsys.readouterr().out == ""


def test_broken_laws_are_counted_and_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.md").write_text("# A\n\nsome text\n")
    assert laws.main([str(tmp_path)]) == 0
    assert "0 violations" in capsys.readouterr().out
    monkeypatch.setattr(laws, "problems", lambda *_: ["L2: text is lost"])
    assert laws.main([str(tmp_path)]) == 1
    assert "a.md: L2: text is lost" in capsys.readouterr().out
