"""sql/build.py puts the extension scripts together, and refuses sources that don't fit together."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import checkout
import install
from checkout import SourceError

build = install.build_sql()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A small set of sources: two versions, one function."""
    files = {
        "header.sql": "-- head\n",
        "prelude.py.in": "import re\nre.sub(r'\\d', '', '@PRIVATE_DIR@')\n",
        "state/0.1.0/001-one.sql": "CREATE TABLE one ();\n",
        "state/0.2.0/001-two.sql": "CREATE TABLE two ();\n",
        "code/10-f.sql": "-- version @VERSION@\n  @PRELUDE@\nreturn 1\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_install_script_is_header_state_up_to_the_version_and_code(sources: Path) -> None:
    text = build.script("0.2.0", sql=sources)
    order = [text.index(part) for part in ("-- head", "TABLE one", "TABLE two", "-- version 0.2.0")]
    assert order == sorted(order)
    assert "TABLE two" not in build.script("0.1.0", sql=sources)


def test_step_holds_only_the_new_state_and_all_code(sources: Path) -> None:
    text = build.script("0.2.0", since="0.1.0", sql=sources)
    assert "TABLE one" not in text
    assert "TABLE two" in text
    assert "-- version 0.2.0" in text
    assert text.startswith("\\echo Use \"ALTER EXTENSION pgchunk UPDATE TO '0.2.0'\" to load this file. \\quit\n")


def test_versions_are_ordered_as_numbers(sources: Path) -> None:
    (sources / "state" / "0.10.0").mkdir()
    assert build.versions(sources) == ["0.1.0", "0.2.0", "0.10.0"]


def test_prelude_keeps_its_margin_and_its_backslashes(sources: Path) -> None:
    text = build.script("0.1.0", sql=sources)
    assert "\n  import re\n  re.sub(r'\\d', '', '@PRIVATE_DIR@')\nreturn 1\n" in text


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("code/10-again.sql", "same number"),
        ("code/unnumbered.sql", "NN-topic"),
        ("state/0.1.0/003-gap.sql", "without a gap"),
        ("code/20-strange.sql", "unknown placeholder @STRANGE@"),
    ],
)
def test_refuses_sources_that_do_not_fit(sources: Path, name: str, fault: str) -> None:
    (sources / name).write_text("@STRANGE@\n" if "strange" in name else "SELECT 1;\n")
    with pytest.raises(SourceError, match=fault):
        build.script("0.2.0", sql=sources)


def test_refuses_state_of_a_version_that_the_control_file_does_not_have(sources: Path) -> None:
    (sources / "state" / "99.0.0").mkdir()
    with pytest.raises(SourceError, match="control file"):
        build.scripts(sql=sources)


def test_the_real_script_is_guarded_and_whole() -> None:
    scripts = build.scripts()
    text = scripts[f"pgchunk--{checkout.version()}.sql"]
    assert text.startswith('\\echo Use "CREATE EXTENSION pgchunk" to load this file. \\quit\n')
    assert set(re.findall(r"@[A-Z_]+@", text)) == {"@PRIVATE_DIR@"}
    assert "CREATE OR REPLACE FUNCTION pgchunk.create_tables" in text


def test_what_is_installed_has_no_placeholder_left() -> None:
    server = install.chosen()
    for path, text in install.extension_files(server).items():
        assert path.read_text("utf-8") == text, f"{path} is not what this checkout makes; run make install"
        assert not re.search(r"@[A-Z_]+@", text)
    assert str(install.private_dir(server)) in text


def test_running_the_script_by_hand_does_nothing(
    empty_dsn: str, psql_at: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    script = install.chosen().extension_dir / f"pgchunk--{checkout.version()}.sql"
    done = psql_at(empty_dsn, "-f", script)
    assert "CREATE EXTENSION pgchunk" in done.stdout
    assert psql_at(empty_dsn, "-Atc", "SELECT count(*) FROM pg_namespace WHERE nspname = 'pgchunk'").stdout == "0\n"
