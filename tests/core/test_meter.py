"""Counts by sums over seams equal counts of the whole, always."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_markdown import documents

from pgchunk.meter import Meter
from pgchunk.tokenizers import TOKENIZER_NAMES, get_tokenizer

pytestmark = pytest.mark.timeout(900)  # thousands of examples, on a machine that may be busy

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
any_text = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60)
texts = st.one_of(
    documents(), any_text, st.lists(st.one_of(any_text, st.sampled_from(list(" \n\t.'/-a1。")))).map("".join)
)


@pytest.mark.parametrize("name", TOKENIZER_NAMES)
@settings(max_examples=400, deadline=None, suppress_health_check=RELAXED)
@given(texts)
def test_tokens_add_up_over_seams(name, text):
    tokenizer = get_tokenizer(name)
    whole = tokenizer.count(text)
    for at in range(1, min(len(text), 200)):
        if tokenizer.is_seam(text[at - 1], text[at]):
            assert tokenizer.count(text[:at]) + tokenizer.count(text[at:]) == whole, (text[:at], text[at:])


@pytest.mark.parametrize("name", TOKENIZER_NAMES)
@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(texts, st.data())
def test_slices_and_joined_strings_are_counted_exactly(name, text, data):
    tokenizer = get_tokenizer(name)
    offsets = st.integers(0, len(text))
    meter = Meter(text, tokenizer, sorted(data.draw(st.sets(offsets, max_size=6)) - {len(text)}))
    for _ in range(8):
        start, end = sorted((data.draw(offsets), data.draw(offsets)))
        assert meter.count(start, end) == tokenizer.count(text[start:end])
        if start < end:
            head = data.draw(st.sampled_from(["", "T > A\n\n", "T\n\n| a |\n|---|\n", "…\n\n```py\n", "x"]))
            tail = data.draw(st.sampled_from(["", "\n```", "\n> ~~~"]))
            assert meter.joined(head, start, end, tail) == tokenizer.count(head + text[start:end] + tail)
