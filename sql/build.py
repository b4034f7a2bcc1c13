"""Assemble the extension scripts from their sources.

    header.sql                    session settings for the script
    state/VERSION/NNN-topic.sql   tables, types and explicit drops: each runs once, in its version
    code/NN-topic.sql             functions, triggers, comments, grants: replaced as a whole at any time

Install of a version is header + all state up to it + code. The step to it from an earlier version is header + the
state of the versions between + code; there is one from every earlier version, so that nothing needs the scripts of
versions that were left out.

A line that holds only @PRELUDE@ becomes the text of prelude.py.in; @VERSION@ becomes the version.
@PRIVATE_DIR@, the folder of the Python package, depends on the server and is filled in when the script is
installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SQL = Path(__file__).resolve().parent
sys.path.insert(0, str(SQL.parent / "tools"))

import checkout  # noqa: E402
from checkout import SourceError  # noqa: E402

NUMBERED = re.compile(r"(\d+)-[a-z0-9_-]+\.sql")
PLACEHOLDER = re.compile(r"@[A-Z][A-Z_]*@")
LEFT_FOR_INSTALL = "@PRIVATE_DIR@"


def versions(sql: Path = SQL) -> list[str]:
    """The versions that have a state folder, oldest first."""
    folders = [path.name for path in (sql / "state").iterdir() if path.is_dir()]
    return sorted(folders, key=version_key)


def version_key(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def numbered(folder: Path) -> list[Path]:
    """The sources in a folder in the order of their numbers.

    Raises SourceError when a name has no number or two have the same one. In a state folder the numbers must
    also run 001, 002, 003 ...: a gap there is a file that somebody forgot to add.
    """
    seen: dict[int, Path] = {}
    for path in sorted(folder.glob("*.sql")):
        name = NUMBERED.fullmatch(path.name)
        if name is None:
            raise SourceError(f"{path}: a source is named NN-topic.sql")
        number = int(name[1])
        if number in seen:
            raise SourceError(f"{path}: {seen[number].name} has the same number")
        seen[number] = path
    if folder.parent.name == "state" and sorted(seen) != list(range(1, len(seen) + 1)):
        raise SourceError(f"{folder}: the numbers must run from 001 without a gap, and are {sorted(seen)}")
    return [seen[number] for number in sorted(seen)]


def guard(version: str, since: str | None) -> str:
    """The line that stops psql when somebody runs the script by hand."""
    command = f"ALTER EXTENSION pgchunk UPDATE TO '{version}'" if since else "CREATE EXTENSION pgchunk"
    return f'\\echo Use "{command}" to load this file. \\quit\n'


def script(version: str, since: str | None = None, sql: Path = SQL) -> str:
    """The text of the install script of a version or, with since, of the step to it from that version."""
    wanted = [one for one in versions(sql) if version_key(one) <= version_key(version)]
    if since is not None:
        wanted = [one for one in wanted if version_key(one) > version_key(since)]
    sources = [sql / "header.sql"]
    for one in wanted:
        sources += numbered(sql / "state" / one)
    sources += numbered(sql / "code")
    parts = [f"-- from {source.relative_to(sql)}\n{expanded(source, version, sql)}\n" for source in sources]
    return guard(version, since) + "\n" + "\n".join(parts)


def expanded(source: Path, version: str, sql: Path) -> str:
    """The text of one source with its placeholders filled in. Raises SourceError for an unknown one."""
    text = source.read_text(encoding="utf-8")
    if "@PRELUDE@" in text:
        prelude = (sql / "prelude.py.in").read_text(encoding="utf-8").rstrip("\n")
        # A function, so that a backslash in the prelude stays one.
        text = re.sub(r"^([ \t]*)@PRELUDE@[ \t]*$", lambda found: indented(prelude, found[1]), text, flags=re.MULTILINE)
    text = text.replace("@VERSION@", version)
    if unknown := set(PLACEHOLDER.findall(text)) - {LEFT_FOR_INSTALL}:
        raise SourceError(f"{source}: unknown placeholder {', '.join(sorted(unknown))}")
    return text.rstrip("\n") + "\n"


def indented(text: str, margin: str) -> str:
    return "\n".join(margin + line if line else line for line in text.split("\n"))


def scripts(sql: Path = SQL) -> dict[str, str]:
    """File name to text of the current version's scripts: install, and the step from each earlier version."""
    version = checkout.version()
    if version_key(version) < version_key(versions(sql)[-1]):
        raise SourceError(f"sql/state holds {versions(sql)[-1]}, and the control file says {version}")
    named = {f"pgchunk--{version}.sql": script(version, sql=sql)}
    for earlier in versions(sql):
        if version_key(earlier) < version_key(version):
            named[f"pgchunk--{earlier}--{version}.sql"] = script(version, since=earlier, sql=sql)
    return named


def main() -> None:
    """Write the scripts into build/sql and print their paths."""
    folder = checkout.BUILD / "sql"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        named = scripts()
    except SourceError as error:
        checkout.fail(str(error))
    for name, text in named.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)


if __name__ == "__main__":
    main()
