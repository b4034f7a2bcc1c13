"""The tokenizer data in place are the ones tiktoken expects, and a damaged file is noticed."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

import tokenizer_data


def text(*tokens: bytes, first: int = 0) -> bytes:
    lines = [b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens, first)]
    return b"".join(lines)


def test_format() -> None:
    assert tokenizer_data.packed(text(b"a", b"\x00\xff", b"xyz")) == b"\x03\0\0\0" + b"\x01\x02\x03" + b"a\x00\xffxyz"


def test_refuses_ranks_that_do_not_run_from_0() -> None:
    for lines in (text(b"a", first=1), text(b"a") + text(b"b", first=2), text(b"a") + text(b"b")):
        with pytest.raises(ValueError, match="rank"):
            tokenizer_data.packed(lines)


def test_refuses_a_token_that_is_too_long() -> None:
    with pytest.raises(ValueError, match="range\\(0, 256\\)"):
        tokenizer_data.packed(text(b"x" * 256))


@pytest.mark.parametrize("name", sorted(tokenizer_data.TIKTOKEN_SHA256))
def test_data_are_in_place_and_have_the_right_number_of_tokens(name: str) -> None:
    assert tokenizer_data.is_in_place(name)
    data = tokenizer_data.target(name).read_bytes()
    count = int.from_bytes(data[:4], "little")
    assert count == {"cl100k_base": 100_256, "o200k_base": 199_998}[name]
    assert 4 + count + sum(data[4 : 4 + count]) == len(data)


def test_damage_is_noticed_and_mended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tokenizer_data, "PACKAGE", tmp_path)
    assert not tokenizer_data.is_in_place("cl100k_base")
    tokenizer_data.write("cl100k_base", b"half")
    assert not tokenizer_data.is_in_place("cl100k_base")
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["cl100k_base.ranks"]
    assert tokenizer_data.target("cl100k_base").stat().st_mode & 0o777 == 0o644


def test_nothing_is_fetched_when_all_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> Path:
        raise AssertionError(f"fetched into {folder}")

    monkeypatch.setattr(tokenizer_data, "fetch", refuse)
    tokenizer_data.main()


def test_another_file_than_expected_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import gzip
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.whl", "w") as archive:
        archive.writestr("bpe_openai/data/cl100k_base.tiktoken.gz", gzip.compress(text(b"a")))
    with pytest.raises(SystemExit):
        tokenizer_data.read(tmp_path / "a.whl", "cl100k_base")
    assert tokenizer_data.TIKTOKEN_SHA256["cl100k_base"] in capsys.readouterr().err
