"""Front matter to values that jsonb takes, whatever YAML and TOML can hold."""

from __future__ import annotations

import json

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgchunk.frontmatter import MAX_CHARS, FrontMatterError
from pgchunk_loader.metadata import metadata_of


def yaml(body: str) -> object:
    return metadata_of(f"---\n{body}\n---\n\ntext\n")


def toml(body: str) -> object:
    return metadata_of(f"+++\n{body}\n+++\n\ntext\n")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a: 1\nb: [x, 2.5, true, null]", {"a": 1, "b": ["x", 2.5, True, None]}),
        ("date: 2024-05-06", {"date": "2024-05-06"}),
        ("date: 2024-05-06 07:08:09Z", {"date": "2024-05-06T07:08:09+00:00"}),
        ("date: 2024-05-06 07:08:09.5", {"date": "2024-05-06T07:08:09.500000"}),
        ("a: .inf\nb: -.inf\nc: .nan", {"a": "inf", "b": "-inf", "c": "nan"}),
        ("a: !!binary aGVsbG8=", {"a": "aGVsbG8="}),
        ("a: !!set {y, x}", {"a": ["x", "y"]}),
        ("a: !!omap [b: 1, a: 2]", {"a": [["b", 1], ["a", 2]]}),
        ("1: one\ntrue: yes\nnull: no\n2.5: x\n2024-05-06: d", None),
        ('a: "be\\0fore"', {"a": "be\ufffdfore"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: &x {k: v}\nb:\n  <<: *x\n  w: 1", {"a": {"k": "v"}, "b": {"k": "v", "w": 1}}),
        ("title: größe 🙂\n大: 小", {"title": "größe 🙂", "大": "小"}),
        ("a: 12345678901234567890123", {"a": 12345678901234567890123}),
        ("a: 0o17\nb: 017\nc: 1_000", None),
        ("# only a comment\na:", {"a": None}),
        ("pgchunk.strategy: sections", {"pgchunk.strategy": "sections"}),
        ("pgchunk.root: stolen\na: 1", {"a": 1}),
    ],
)
def test_yaml_values_become_json(body: str, expected: object) -> None:
    found = yaml(body)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    if expected is not None:
        assert found == expected


def test_keys_become_text() -> None:
    assert yaml("7: a\ntrue: b\nnull: c\n2.5: d\n2024-05-06: e") == {
        "7": "a",
        "true": "b",
        "null": "c",
        "2.5": "d",
        "2024-05-06": "e",
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('a = 1\nb = ["x", 2.5, true]', {"a": 1, "b": ["x", 2.5, True]}),
        ("d = 2024-05-06", {"d": "2024-05-06"}),
        ("d = 2024-05-06T07:08:09Z", {"d": "2024-05-06T07:08:09+00:00"}),
        ("t = 07:08:09", {"t": "07:08:09"}),
        ("a = inf\nb = nan", {"a": "inf", "b": "nan"}),
        ("[params]\nk = 'v'", {"params": {"k": "v"}}),
        ('a = "be\\u0000fore"', {"a": "be\ufffdfore"}),
    ],
)
def test_toml_values_become_json(body: str, expected: object) -> None:
    assert toml(body) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("line", "entry"), [("---", "a: 1"), ("+++", "a = 1")])
def test_every_line_end_is_taken(end: str, line: str, entry: str) -> None:
    assert metadata_of(end.join([line, entry, line, "", "text"])) == {"a": 1}


@pytest.mark.parametrize("text", ["", "# Heading\n", "---\n\nbreak\n\n---\n", "text\n---\na: 1\n---\n", "---\n---\n"])
def test_without_front_matter_there_is_no_metadata(text: str) -> None:
    assert metadata_of(text) == {}


NINE_LEVELS = "\n".join(["l0: &l0 [x]"] + [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 10)])


@pytest.mark.parametrize(
    "body",
    [
        "a: [1, 2",
        "a: b: c",
        "a: 1\n\tb: 2",
        "a: !!python/object/apply:os.system [id]",
        "a: *nowhere",
        "a: &x [*x]",
        NINE_LEVELS,
        "a: " + "[" * 500 + "]" * 500,
        "a: " + "[" * 100_000,
        "a: " + "{b: " * 50_000,
        "a:\n" + "\n".join("  " * n + f"k{n}:" for n in range(1, 400)),
        "a: 2024-99-99 00:00:00",
        "a: " + "9" * 5000,
        "a: 0x" + "f" * 5000,
        "? [1, 2]\n: x\na: 1",
        "a: x" * 1 + "\nb: " + "y" * MAX_CHARS,
        "a: !unknown x",
    ],
)
def test_front_matter_that_cannot_be_read_is_said_to_be_so(body: str) -> None:
    found = outcome(f"---\n{body}\n---\n")
    if not isinstance(found, str):
        assert found in ({}, {"a": 1, "[1, 2]": "x"}), "only what is no front matter may pass"


def outcome(text: str) -> object:
    """The metadata, or the words of the error, which must be some and on one line."""
    try:
        return metadata_of(text)
    except FrontMatterError as error:
        words = str(error)
    assert words.strip()
    assert "\n" not in words
    return words


@pytest.mark.parametrize("body", ["a = ", "a = 1\na = 2", "[a\nb = 1", "a = " + "[" * 5000])
def test_toml_that_cannot_be_read_is_said_to_be_so(body: str) -> None:
    found = outcome(f"+++\n{body}\n+++\n")
    assert isinstance(found, str) or found == {}


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_makes_the_reader_fall_over(body: str) -> None:
    for line, entry in (("---", "a: 1"), ("+++", "a = 1")):
        json.dumps(outcome(f"{line}\n{entry}\n{body}\n{line}\n"), allow_nan=False)


def test_jsonb_takes_whatever_is_made(db: psycopg.Connection[object]) -> None:
    bodies = [
        'a: "\\0x\\uffff"',
        '"\\0k": v',
        "a: .nan",
        "a: " + "9" * 4000,
        "a: 1.0e+400",
        'a: "\\U0010ffff"',
    ]
    for body in bodies:
        made = json.dumps(yaml(body))
        assert db.execute("SELECT jsonb_typeof(%s::jsonb)", [made]).fetchone() == ("object",)
