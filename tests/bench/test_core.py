"""What the benchmarks count on: documents that are the same every time, and checks that see what is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from contender import coverage
from contenders import Slice
from documents import documents, generated
from rows import Row, finish, ratio

TEXT = "---\ntitle: T\n---\n# One\n\nalpha beta\n\n## Two\n\n---\n\ngamma\n"


def test_without_folders_the_documents_are_the_projects_own_and_generated_ones():
    texts = documents([], 300_000)
    assert texts == documents([], 300_000)
    assert any(text.startswith("# Document ") for text in texts)
    assert any("pgchunk" in text for text in texts)
    assert 200_000 < sum(len(text.encode()) for text in texts) < 320_000


def test_each_folder_gives_its_share(tmp_path: Path):
    for name, character, number in (("a", "x", 30), ("b", "y", 10)):
        (tmp_path / name).mkdir()
        for i in range(number):
            (tmp_path / name / f"{i}.md").write_text(character * 1000)
    whole = "".join(documents([tmp_path / "a", tmp_path / "b"], 20_000))
    assert (whole.count("x"), whole.count("y")) == (15_000, 5_000)


def test_a_folder_without_documents_is_named(tmp_path: Path):
    with pytest.raises(SystemExit, match="no documents below"):
        documents([tmp_path], 0)


@pytest.mark.parametrize("size", [100, 1_000, 50_000])
def test_a_generated_document_has_the_size_asked_for(size: int):
    assert len(generated(size, 1)) == size
    assert generated(size, 1) != generated(size, 2)


def test_a_chunk_is_found_whatever_became_of_its_white_space():
    total, covered = coverage(TEXT, ["--- title: T\n---\n# One\nalpha", "beta\n## Two\n\n\n---", "gamma"])
    assert total == covered == len("#Onealphabeta##Two---gamma")


def test_what_no_chunk_has_is_seen():
    total, covered = coverage(TEXT, ["# One\n\nalpha beta", "gamma"])
    assert total - covered == len("##Two---")
    total, covered = coverage(TEXT, [Slice("One > Two\n\ngamma", TEXT.index("gamma"), len(TEXT))])
    assert total - covered == len("alphabeta---")


def test_a_row_is_ok_or_short(capsys: pytest.CaptureFixture[str]):
    assert finish([Row("a", 1.3, 1.3), Row("b", 1.0, 1.3, at_most=True)]) == 0
    assert finish([Row("a", 1.29, 1.3), Row("b", 1.0, 1.3, at_most=True)]) == 1
    assert "short" in capsys.readouterr().out


def test_a_ratio_is_the_median_of_those_within_rounds():
    assert ratio([1, 2, 4], [2, 4, 40]) == 2
