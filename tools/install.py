"""Install pgchunk into the server: control file, extension script, and the Python package in its private folder.

The private folder is PKGLIBDIR/pgchunk-VERSION, a link to a folder that is named for its content. A new content is put
beside it and the link is then changed in one step, so that a running server never sees half a package. The content
before is kept, for what has it open. Does nothing when the server has exactly this content.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from checkout import (
    BUILD,
    CONTROL,
    PACKAGE,
    REQUIREMENTS,
    ROOT,
    VENV_PYTHON,
    SourceError,
    fail,
    one_at_a_time,
    run,
    say,
    version,
)
from servers import Server, chosen, chosen_python

KEPT = 2
"""Contents kept in the server: the current one and the one that sessions may still have loaded."""


def private_dir(server: Server) -> Path:
    return server.pkglibdir / f"pgchunk-{version()}"


# What is to be there


def package_files() -> Iterator[Path]:
    """The files of the package, relative to its folder, in a fixed order."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith("."):
            yield path.relative_to(PACKAGE)


def content_hash(python: Path) -> str:
    """Hash of everything that decides what the private folder holds."""
    whole = hashlib.sha256(f"{version()}\0{python}\0{python_tag(python)}\0".encode())
    whole.update(REQUIREMENTS.read_bytes())
    for path in package_files():
        data = (PACKAGE / path).read_bytes()
        whole.update(f"\0{path}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()[:16]


def python_tag(python: Path) -> str:
    """The interpreter's version and cache tag: byte code and wheels belong to it."""
    code = "import sys; print(sys.version, sys.implementation.cache_tag)"
    return subprocess.run([python, "-I", "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def extension_files(server: Server) -> dict[Path, str]:
    """Path in the server to text: control file and scripts, the private folder written into them."""
    folder = str(private_dir(server))
    if set(folder) & set("'\"\\$"):
        fail(f"{folder} can't be written into the extension script: it holds a quote, backslash or dollar sign")
    files = {server.extension_dir / CONTROL.name: CONTROL.read_text(encoding="utf-8")}
    for name, text in build_sql().scripts().items():
        files[server.extension_dir / name] = text.replace("@PRIVATE_DIR@", folder)
    return files


def build_sql() -> ModuleType:
    """sql/build.py as a module."""
    spec = importlib.util.spec_from_file_location("build_sql", ROOT / "sql" / "build.py")
    if spec is None or spec.loader is None:
        fail("sql/build.py can't be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Staging: nothing here needs rights in the server


def staged_dependencies(python: Path) -> Path:
    """A folder with the pinned dependencies for the server's Python; made once for each set of pins."""
    key = hashlib.sha256(REQUIREMENTS.read_bytes() + python_tag(python).encode()).hexdigest()[:16]
    folder = BUILD / "server-dependencies" / key
    if folder.exists():
        return folder
    say("fetching the server's Python dependencies")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        part = Path(temporary) / "part"
        options: list[str | Path] = [
            "--quiet",
            "--no-deps",
            "--no-compile",
            "--only-binary",
            ":all:",
            "--target",
            part,
        ]
        run([VENV_PYTHON, "-m", "pip", "install", *options, "-r", REQUIREMENTS])
        shutil.rmtree(part / "bin", ignore_errors=True)
        run([python, "-I", "-m", "compileall", "-q", part])
        os.rename(part, folder)
    return folder


def stage(folder: Path, python: Path) -> None:
    """Put package, dependencies and byte code into folder, and try them in the server's Python."""
    shutil.copytree(staged_dependencies(python), folder)
    for path in package_files():
        target = folder / "pgchunk" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PACKAGE / path, target)
    (folder / "pgchunk" / "_version.py").write_text(f'__version__ = "{version()}"\n')
    run([python, "-I", "-m", "compileall", "-q", folder])
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    verify(folder, python)


def verify(folder: Path, python: Path) -> None:
    """Chunk with the staged package in the server's own Python, with nothing else on its path."""
    code = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import pgchunk, pgchunk.server; "
        f"assert pgchunk.__file__.startswith({str(folder)!r}), pgchunk.__file__; "
        f"assert pgchunk.__version__ == {version()!r}, pgchunk.__version__; "
        "assert pgchunk.chunk('# a\\n\\nb\\n') and pgchunk.count_tokens('a', 'o200k_base') == 1"
    )
    run([python, "-I", "-B", "-c", code])


# Putting it into the server


def require_writable(*folders: Path) -> None:
    closed = [folder for folder in folders if not os.access(folder, os.W_OK)]
    if closed:
        fail(f"you may not write to {' and '.join(map(str, closed))}\n  run: sudo make install")


def install_package(server: Server, python: Path, content: str) -> None:
    target, link = private_dir(server).with_name(f"pgchunk-{version()}.{content}"), private_dir(server)
    with tempfile.TemporaryDirectory(prefix="pgchunk-stage-") as temporary:
        staged = Path(temporary) / "package"
        stage(staged, python)
        require_writable(server.pkglibdir, server.extension_dir)
        part = target.with_name(f".{target.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(staged, part)
    shutil.rmtree(target, ignore_errors=True)
    os.rename(part, target)
    point(link, target)
    remove_old(link, target)


def point(link: Path, target: Path) -> None:
    """Make link lead to target, in one step."""
    if link.is_dir() and not link.is_symlink():
        fail(f"{link} is a folder that this tool did not make; remove it first")
    new = link.with_name(f".{link.name}.new")
    new.unlink(missing_ok=True)
    new.symlink_to(target.name)
    os.replace(new, link)


def remove_old(link: Path, current: Path) -> None:
    """Remove the contents of this version beyond the KEPT newest; current always stays."""
    contents = sorted(link.parent.glob(f"{link.name}.*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in [path for path in contents if path != current][KEPT - 1 :]:
        shutil.rmtree(path)


def write_whole(path: Path, text: str) -> None:
    """Write a file beside its place and rename it, so that nobody reads half of it."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.chmod(0o644)
    os.replace(part, path)


def has_package(server: Server, content: str) -> bool:
    link = private_dir(server)
    return link.is_symlink() and os.readlink(link) == f"{link.name}.{content}" and link.is_dir()


def main() -> None:
    server = chosen()
    python = chosen_python(server)
    content = content_hash(python)
    try:
        files = extension_files(server)
    except SourceError as error:
        fail(str(error))
    changed = {path: text for path, text in files.items() if not path.exists() or path.read_text("utf-8") != text}
    if has_package(server, content) and not changed:
        return
    say(f"installing pgchunk {version()} into {server.version}")
    if not has_package(server, content):
        install_package(server, python, content)
    require_writable(server.extension_dir)
    server.pkglibdir.joinpath("pgchunk-tokenizers").mkdir(mode=0o755, exist_ok=True)
    for path, text in changed.items():
        write_whole(path, text)


if __name__ == "__main__":
    with one_at_a_time():
        main()
