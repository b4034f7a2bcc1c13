"""What make install leaves in the server, and how it changes it under a running one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import checkout
import install
from servers import chosen, chosen_python


@pytest.fixture(scope="module")
def private() -> Path:
    """The private folder of the server under test; it is the one `make test` has just installed."""
    return install.private_dir(chosen())


def in_the_server(code: str) -> str:
    """Run code in the server's own Python, with nothing of ours on its path."""
    done = subprocess.run([chosen_python(chosen()), "-I", "-B", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_second_install_says_and_changes_nothing(private: Path) -> None:
    before = (os.readlink(private), private.stat().st_mtime_ns)
    done = subprocess.run([sys.executable, checkout.ROOT / "tools" / "install.py"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (os.readlink(private), private.stat().st_mtime_ns) == before


def test_the_servers_python_finds_everything_in_the_private_folder(private: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(private)!r}); import pgchunk.server, tiktoken, regex, "
        "markdown_it, mdurl, sentencex; pgchunk.chunk('# a\\n\\nb'); "
        "print(*(sys.modules[n].__file__ for n in ('pgchunk tiktoken regex markdown_it sentencex'.split())))"
    )
    assert all(path.startswith(f"{private}/") for path in in_the_server(code).split())


def test_chunking_in_the_server_loads_nothing_that_could_open_a_connection(private: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(private)!r}); import pgchunk.server; "
        "pgchunk.chunk('# a\\n\\n' + 'word. ' * 3000); pgchunk.count_tokens('a', 'o200k_base'); "
        "print(*sys.modules)"
    )
    loaded = set(in_the_server(code).split())
    assert not loaded & {
        "requests",
        "urllib3",
        "socket",
        "ssl",
        "http.client",
        "urllib.request",
        "asyncio",
        "plpy",
    }


def test_the_servers_own_path_is_left_alone() -> None:
    code = "from importlib.util import find_spec; print(list(filter(find_spec, ('pgchunk', 'tiktoken'))))"
    assert in_the_server(code).strip() == "[]"


def test_it_holds_no_client_and_no_loader(private: Path) -> None:
    names = {path.name for path in private.iterdir()}
    assert not names & {"pgchunk_loader", "requests", "urllib3", "psycopg", "certifi", "bin"}


def test_the_servers_user_can_read_it_and_only_its_owner_can_write(private: Path) -> None:
    for path in [private.resolve(), *private.resolve().rglob("*")]:
        mode = path.stat().st_mode
        assert mode & (stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0))
        assert not mode & (stat.S_IWGRP | stat.S_IWOTH)


def test_it_is_byte_compiled(private: Path) -> None:
    for source in (private / "pgchunk").rglob("*.py"):
        assert list((source.parent / "__pycache__").glob(f"{source.stem}.cpython-*.pyc")), source


def test_a_new_content_is_linked_in_one_step(tmp_path: Path) -> None:
    link = tmp_path / "pgchunk-1"
    for content in ("pgchunk-1.a", "pgchunk-1.b"):
        (tmp_path / content).mkdir()
        install.point(link, tmp_path / content)
        assert os.readlink(link) == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pgchunk-1", "pgchunk-1.a", "pgchunk-1.b"]


def test_a_folder_of_somebody_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "pgchunk-1").mkdir()
    with pytest.raises(SystemExit):
        install.point(tmp_path / "pgchunk-1", tmp_path / "pgchunk-1.a")


def test_the_content_before_is_kept_for_running_sessions(tmp_path: Path) -> None:
    for age, content in enumerate("abcd"):
        folder = tmp_path / f"pgchunk-1.{content}"
        folder.mkdir()
        os.utime(folder, (age, age))
    (tmp_path / "pgchunk-10.z").mkdir()
    install.remove_old(tmp_path / "pgchunk-1", tmp_path / "pgchunk-1.d")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pgchunk-1.c", "pgchunk-1.d", "pgchunk-10.z"]


def test_a_changed_file_is_another_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = Path(sys.executable)
    (tmp_path / "a.py").write_text("1")
    monkeypatch.setattr(install, "PACKAGE", tmp_path)
    hashes = {install.content_hash(python)}
    (tmp_path / "a.py").write_text("2")
    hashes.add(install.content_hash(python))
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    hashes.add(install.content_hash(python))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "b.pyc").write_text("no matter")
    hashes.add(install.content_hash(python))
    assert len(hashes) == 3


def test_a_user_who_may_not_write_is_told_how(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        install.require_writable(tmp_path / "absent")
    assert "sudo make install" in capsys.readouterr().err
