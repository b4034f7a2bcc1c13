"""What a document is called, and which file a name stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgchunk_loader.problems import SkipError, UnusableError
from pgchunk_loader.roots import Root, open_root

parts = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=8)
paths = st.lists(parts.filter(lambda part: part not in (".", "..")), min_size=1, max_size=4).map("/".join)
ROOTS = [Root(Path("/r")), Root(Path("/")), Root(Path("/r"), "https://x.org/d"), Root(Path("/r"), "s:")]


@pytest.mark.parametrize("root", ROOTS)
@settings(deadline=None)
@given(paths, paths)
def test_a_name_and_its_file_determine_each_other(root: Root, one: str, other: str) -> None:
    assert root.relative(root.uri(one)) == one
    assert (root.uri(one) == root.uri(other)) == (one == other)


def test_the_path_is_the_same_from_every_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    named = []
    for directory, name in [
        ("/", tmp_path / "a"),
        (tmp_path, "a"),
        (tmp_path / "a", "."),
        (tmp_path / "a/b", ".."),
    ]:
        monkeypatch.chdir(directory)
        named.append(open_root(Path(name), None)[0].uri("x.md"))
    named += [open_root(tmp_path / name, None)[0].uri("x.md") for name in ("link", "a/", "a/b/..", "link/.")]
    assert set(named) == {f"{tmp_path.resolve()}/a/x.md"}


@pytest.mark.parametrize(
    ("relative", "encoded"),
    [
        ("a b.md", "a%20b.md"),
        ("100%.md", "100%25.md"),
        ("q?a#b.md", "q%3Fa%23b.md"),
        ("dir/ö.md", "dir/%C3%B6.md"),
        ("line\nbreak.md", "line%0Abreak.md"),
        ("quo\"te's.md", "quo%22te's.md"),
        ("a:b@c.md", "a:b@c.md"),
        ("[x]<y>.md", "%5Bx%5D%3Cy%3E.md"),
        (os.fsdecode(b"\xff.md"), "%FF.md"),
    ],
)
@pytest.mark.parametrize("base", ["https://example.org/docs", "https://example.org/docs/"])
def test_a_url_is_percent_encoded_part_by_part(relative: str, encoded: str, base: str, tmp_path: Path) -> None:
    root, _ = open_root(tmp_path, base)
    assert root.uri(relative) == f"https://example.org/docs/{encoded}"
    assert root.relative(root.uri(relative)) == relative


def test_a_path_that_is_not_utf8_has_no_name_without_a_base_url() -> None:
    with pytest.raises(SkipError):
        Root(Path("/r")).uri(os.fsdecode(b"\xff.md"))


@pytest.mark.parametrize("url", ["", "docs", "/docs", "https://x?q", "https://x#f", " https://x", "https://["])
def test_what_is_no_base_url_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(UnusableError):
        open_root(tmp_path, url)


def test_what_is_neither_directory_nor_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "loop", "missing"):
        with pytest.raises(UnusableError):
            open_root(tmp_path / name, None)


@pytest.mark.parametrize(
    "uri",
    [
        "https://x.org/docs",
        "https://x.org/docs/",
        "https://x.org/docsets/a.md",
        "https://x.org/docs/../a.md",
        "https://x.org/docs/%2e%2e/a.md",
        "https://x.org/docs/a//b.md",
        "https://x.org/docs/a%2Fb.md",
        "https://x.org/docs/%00.md",
        "https://x.org/docs/a b.md",
        "/docs/a.md",
    ],
)
def test_names_that_this_root_does_not_give_stand_for_no_file_of_it(uri: str, tmp_path: Path) -> None:
    root = Root(tmp_path, "https://x.org/docs")
    assert root.relative(uri) is None
    assert not root.is_gone(uri)


def test_gone_is_only_what_is_certainly_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Root(tmp_path)
    (tmp_path / "here.md").write_text("")
    (tmp_path / ".hidden.md").write_text("")
    (tmp_path / "directory.md").mkdir()
    (tmp_path / "link.md").symlink_to("here.md")
    (tmp_path / "linked").symlink_to(tmp_path)
    gone = {
        name: root.is_gone(root.uri(name))
        for name in (
            "here.md",
            ".hidden.md",
            "missing.md",
            "here.md/below.md",
            "directory.md",
            "link.md",
            "linked/here.md",
        )
    }
    assert [name for name, is_gone in gone.items() if not is_gone] == ["here.md", ".hidden.md"]

    def refuse(_path: Path) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "lstat", refuse)
    assert not root.is_gone(root.uri("missing.md"))
