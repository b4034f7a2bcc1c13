"""The private server: where it goes, that serving twice is serving once, and who reaches it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import cluster
import serve
from servers import chosen

pytestmark = pytest.mark.xdist_group("serve")


def patched(patch: pytest.MonkeyPatch, root: Path) -> Path:
    """Let serve take root for the checkout; return its state folder."""
    patch.setattr(serve, "ROOT", root)
    patch.setattr(serve, "STATE", root / ".pgchunk")
    patch.setattr(serve, "REMEMBERED", root / ".pgchunk" / "cluster")
    patch.setattr(serve, "SETTINGS", cluster.THROWAWAY)
    return root / ".pgchunk"


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The state folder, not made yet, of a checkout of this test's own."""
    return patched(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A checkout in which this module's tests serve; what they served is removed at the end."""
    root = tmp_path_factory.mktemp("checkout")
    yield root
    with pytest.MonkeyPatch.context() as patch:
        patched(patch, root)
        serve.stop()
        for folder in serve.folders():
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """serve() and stop() work on the module's checkout."""
    patched(monkeypatch, root)


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1]


def test_serving_twice_gives_the_same_server_with_tables(served: None, capsys: pytest.CaptureFixture[str]) -> None:
    serve.serve()
    dsn = last_line(capsys)
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("INSERT INTO documents (source_uri, content) VALUES ('a', E'# T\\n\\nbody')")
        started = db.execute("SELECT pg_postmaster_start_time()").fetchone()
    serve.serve()
    assert last_line(capsys) == dsn
    with psycopg.connect(dsn) as db:
        assert db.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
        assert db.execute("SELECT pg_postmaster_start_time()").fetchone() == started
        assert db.execute("SHOW listen_addresses").fetchone() == ("",)

    serve.stop()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn)
    serve.serve()
    assert last_line(capsys) == dsn
    with psycopg.connect(dsn) as db:
        assert db.execute("SELECT count(*) FROM documents").fetchone() == (1,)


def test_only_its_owner_reaches_the_socket(served: None, capsys: pytest.CaptureFixture[str]) -> None:
    serve.serve()
    socket_folder = Path(conninfo_to_dict(last_line(capsys))["host"])
    assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
    assert socket_folder.stat().st_uid == cluster.server_user().pw_uid


def test_stopping_what_was_never_started_is_no_error(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    serve.stop()
    assert "no private server" in capsys.readouterr().err


def test_settings_made_by_the_owner_survive_a_restart(served: None, capsys: pytest.CaptureFixture[str]) -> None:
    serve.serve()
    dsn = last_line(capsys)
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("ALTER SYSTEM SET work_mem = '5MB'")
    serve.stop()
    serve.serve()
    with psycopg.connect(dsn) as db:
        assert db.execute("SHOW work_mem").fetchone() == ("5MB",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as somebody else")
def test_a_checkout_that_the_servers_user_cannot_reach_has_its_cluster_elsewhere(state: Path) -> None:
    state.parent.chmod(0o700)
    folder, socket = serve.folders()
    assert state not in folder.parents
    assert cluster.can_reach(folder.parent)
    assert cluster.fits_socket(socket)


def test_a_socket_path_that_would_be_too_long_is_put_elsewhere(
    state: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * 100)
    monkeypatch.setattr(serve, "reachable_folder", lambda: deep)
    folder, socket = serve.folders()
    assert folder == deep
    assert cluster.fits_socket(socket)
    socket.rmdir()


def test_a_copy_of_the_checkout_does_not_take_the_originals_cluster(
    state: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    state.mkdir()
    theirs = "/srv/original/.pgchunk/server"
    serve.REMEMBERED.write_text(f"/srv/original\n{theirs}\n{theirs}/socket\n")
    assert serve.remembered() is None
    assert serve.folders()[0] != Path(theirs)
    monkeypatch.setattr(serve, "ROOT", Path("/srv/original"))
    assert serve.folders() == (Path(theirs), Path(theirs) / "socket")
    serve.REMEMBERED.unlink()


def test_says_when_the_sql_was_changed_without_a_new_version(served: None, capsys: pytest.CaptureFixture[str]) -> None:
    serve.serve()
    assert "has changed" not in capsys.readouterr().err
    made_from = serve.folders()[0] / "made-from"
    made_from.write_text(made_from.read_text() + "0")
    serve.serve()
    assert "has changed" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["plain", "with space", "with'quote", "with\\backslash", "ümläut"])
def test_the_connection_string_names_any_folder(name: str) -> None:
    host = Path("/srv") / name
    dsn = cluster.Cluster(chosen(), host, host).dsn("pgchunk")
    assert conninfo_to_dict(dsn)["host"] == str(host)
    assert conninfo_to_dict(dsn)["dbname"] == "pgchunk"


def test_a_failing_program_is_told_with_what_it_said(tmp_path: Path) -> None:
    broken = cluster.Cluster(chosen(), Path("/"), tmp_path)
    with pytest.raises(cluster.ClusterError, match="initdb ended with status"):
        cluster.Cluster(chosen(), Path("/proc"), tmp_path).create()
    with pytest.raises(cluster.ClusterError, match="psql ended with status 2"):
        broken.sql("SELECT 1")
