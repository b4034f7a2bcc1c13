"""The laws L1 to L6 as properties of random documents and of mutated real ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_markdown import documents, options

from pgchunk import STRATEGIES, Chunk, Strategy, chunk, count_tokens
from pgchunk.laws import problems

pytestmark = pytest.mark.timeout(900)  # thousands of examples, on a machine that may be busy

RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def checked(text: str, title: str, strategy: Strategy, format: str = "markdown") -> list[Chunk]:
    chunks = chunk(text, title, strategy, format=format)
    found = problems(text, title, strategy, chunks, format)
    assert not found, found[:5]
    assert chunk(text, title, strategy, format=format) == chunks
    return chunks


@settings(max_examples=1200, deadline=None, suppress_health_check=RELAXED)
@given(documents(), options(), st.sampled_from(["", "T", "alpha beta", "A title > with a separator in it"]))
def test_laws_hold_for_any_document_and_options(text, chosen, title):
    checked(text, title, Strategy(**chosen))


@settings(max_examples=600, deadline=None, suppress_health_check=RELAXED)
@given(documents(), st.sampled_from(sorted(STRATEGIES)))
def test_laws_hold_for_the_shipped_strategies(text, name):
    checked(text, "T", STRATEGIES[name])


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(documents(), options())
def test_laws_hold_for_plain_text(text, chosen):
    checked(text, "T", Strategy(**chosen), "text")


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(
    st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=400),
    options(),
)
def test_laws_hold_for_any_text(text, chosen):
    checked(text, "", Strategy(**chosen))


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(documents(), st.sampled_from(["\r\n", "\r"]))
def test_line_ends_change_nothing_but_themselves(text, line_end):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    other = text.replace("\n", line_end)
    paths = [[c.heading_path for c in chunk(t, "T", "sections", max_tokens=1_000_000)] for t in (text, other)]
    assert paths[0] == paths[1]


@settings(max_examples=300, deadline=None, suppress_health_check=RELAXED)
@given(
    st.lists(documents(), min_size=3, max_size=3),
    documents(),
    st.sampled_from(["default", "sections", "focused"]),
)
def test_an_edit_in_one_section_leaves_the_others_alone(bodies, edited, name):
    """L6: sections between untouched H1 sections of their own can change only themselves and merge neighbours."""
    fence = "\n\n```\n" + "kept whole " * 60 + "\n```\n"
    strategy = STRATEGIES[name]

    def document(middle: str) -> str:
        middle = "".join(
            line for line in middle.replace("\r", "\n").replace("\ufeff", "").splitlines(True) if "#" not in line
        )
        middle = middle.replace("`", "'").replace("~", "-").replace("<", "(").replace("=", "+").replace("---", "***")
        return f"# First{fence}\n# Second{fence}\n# Middle{fence}\n{middle}\n\n# Fourth{fence}\n# Fifth{fence}"

    before = chunk(document(bodies[0]), "T", strategy)
    after = chunk(document(edited), "T", strategy)
    for outer in ("First", "Second", "Fifth"):
        assert _texts(before, outer) == _texts(after, outer)


def _texts(chunks: list[Chunk], heading: str) -> list[str]:
    return [c.content for c in chunks if c.heading_path[:1] == (heading,)]


@pytest.mark.parametrize("seed", range(40))
def test_laws_hold_for_mutated_real_documents(seed, corpus_files):
    """Real files with lines moved, doubled, dropped and re-indented."""
    rng = random.Random(seed)
    lines = rng.choice(corpus_files).read_text("utf-8").split("\n")
    for _ in range(rng.randint(1, 12)):
        a, b = sorted(rng.randrange(len(lines) + 1) for _ in range(2))
        part = lines[a : min(b, a + 40)]
        change = rng.randrange(4)
        if change == 0:
            lines[a : a + len(part)] = []
        elif change == 1:
            at = rng.randrange(len(lines) + 1)
            lines[at:at] = part
        elif change == 2:
            lines[a : a + len(part)] = [rng.choice(["  ", "> ", "\t", "- "]) + line for line in part]
        else:
            lines[a : a + len(part)] = [line[: rng.randrange(len(line) + 1)] for line in part]
    text = "\n".join(lines)
    strategy = rng.choice(list(STRATEGIES.values()))
    size = rng.choice([64, 200, 512])
    scaled = strategy.with_overrides(max_tokens=size, target_tokens=None, min_tokens=None)
    checked(text, "T", scaled)


def test_nothing_is_carried_from_one_document_to_the_next():
    first, second = "# A\n\n" + "one two. " * 400, "# B\n\n[r]: /x\n\n" + "three four. " * 400
    alone = chunk(second, "T")
    chunk(first, "T")
    assert chunk(second, "T") == alone


@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n", "\ufeff", "\ufeff\n", "\u3000\n", "---\na: b\n---\n"])
def test_blank_documents_have_no_chunks(text):
    for strategy in STRATEGIES.values():
        assert chunk(text, "T", strategy) == []
    assert count_tokens("") == 0
