"""Tokenizers hf:NAME: a model's own tokenizer.json, by name, with exact budgets although its counts do not add up."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from random_markdown import documents
from test_laws import RELAXED
from tokenizers import Tokenizer

import tokenizer_files
from pgchunk import STRATEGIES, Strategy, chunk, count_tokens, tokenizers
from pgchunk.errors import InvalidOption, TokenizerDataMissing, UnknownTokenizer
from pgchunk.laws import problems

pytestmark = pytest.mark.timeout(900)  # thousands of examples, on a machine that may be busy


@pytest.fixture(scope="module", params=sorted(tokenizer_files.FAMILIES))
def installed(request, tmp_path_factory):
    """The name of an installed tokenizer, and the tokenizer itself."""
    folder = tmp_path_factory.mktemp("tokenizers")
    path = tokenizer_files.write(folder, request.param, request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokenizers, "JSON_DIRECTORIES", (folder,))
        tokenizers.get_tokenizer.cache_clear()
        yield f"hf:{request.param}", Tokenizer.from_file(str(path))
    tokenizers.get_tokenizer.cache_clear()


def test_counts_are_the_models_own_with_special_tokens_and_without_truncation(installed):
    name, model = installed
    model.no_truncation()
    model.no_padding()
    for text in ["", "coffee", "a b " * 200, "今日は晴れです。", "[CLS] <s> <|endoftext|>"]:
        assert count_tokens(text, name) == len(model.encode(text).ids)
    assert count_tokens("coffee " * 100, name) >= 100


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_no_chunk_is_over_the_models_budget(installed, strategy):
    name, _ = installed
    rows = "".join(f"| {i} | row {i} text |\n" for i in range(60))
    code = "".join(f"key{i}: value {i}\n" for i in range(80))
    text = (
        f"# A\n\n{'Grind right before you brew. ' * 80}\n\n| id | note |\n|---|---|\n{rows}\n```yaml\n{code}```\n\n"
        + "猫" * 300
    )
    chosen = STRATEGIES[strategy].with_overrides(max_tokens=96, target_tokens=None, min_tokens=None, tokenizer=name)
    chunks = chunk(text, "T", chosen)
    assert len(chunks) > 5
    assert problems(text, "T", chosen, chunks) == []


def test_laws_hold_for_any_document(installed):
    name, _ = installed

    @settings(max_examples=60, deadline=None, suppress_health_check=RELAXED)
    @given(documents())
    def check(text: str) -> None:
        chosen = Strategy(max_tokens=48, tokenizer=name)
        assert problems(text, "T", chosen, chunk(text, "T", chosen)) == []

    check()


@pytest.mark.parametrize(
    "name", ["hf:../x", "hf:/etc/passwd", "hf:a/b", "hf:", "hf:.x", "hf:a\nb", "hf:é", "x.json", "HF:a"]
)
def test_a_path_is_no_name(name):
    with pytest.raises(InvalidOption, match="tokenizer"):
        Strategy(tokenizer=name)
    with pytest.raises(UnknownTokenizer):
        count_tokens("x", name)


def test_a_missing_file_is_an_error_that_says_where_it_belongs():
    with pytest.raises(TokenizerDataMissing) as caught:
        chunk("# A\n\nx", tokenizer="hf:not-there")
    assert "hf:not-there" in caught.value.message
    assert "pgchunk-tokenizers/not-there.json" in str(caught.value.hint)


def test_a_broken_file_is_an_error_that_names_it(tmp_path, monkeypatch):
    (tmp_path / "broken.json").write_text("{}")
    monkeypatch.setattr(tokenizers, "JSON_DIRECTORIES", (tmp_path,))
    with pytest.raises(TokenizerDataMissing, match=r"hf:broken") as caught:
        count_tokens("x", "hf:broken")
    assert "broken.json" in str(caught.value.detail)
