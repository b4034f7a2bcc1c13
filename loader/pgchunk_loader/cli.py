"""The command line: what can be asked for, and the exit status. Each command is a call into its module."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from pgchunk import STRATEGIES, __version__
from pgchunk_loader.files import File, Source, format_of
from pgchunk_loader.options import parse_options
from pgchunk_loader.problems import CANNOT_WORK, INTERRUPTED, SOME_SKIPPED, SkipError, UnusableError
from pgchunk_loader.report import Report, Screen
from pgchunk_loader.roots import open_root
from pgchunk_loader.target import Target
from pgchunk_loader.text import decode, read_text
from pgchunk_loader.walk import DEFAULT_MAX_BYTES, Rules

app = typer.Typer(
    help="Markdown and text files into PostgreSQL, chunked by the database (extension pgchunk).",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)

#: What the exit status of each command means.
LOAD_STATUSES: Final = (
    "Exit status: 0 all well; 1 some files were skipped; 2 wrong usage, or no server, extension, tables or right to"
    " use them; 130 interrupted."
)
PREVIEW_STATUSES: Final = "Exit status: 0 all well; 1 the file cannot be chunked; 2 wrong usage, or no such file."
INSPECT_STATUSES: Final = (
    "Exit status: 0 all well; 1 the file cannot be chunked; 2 wrong usage, no such file or document, the page cannot be"
    " written, or no server, extension, tables or right to read them."
)
STATUS_STATUSES: Final = (
    "Exit status: 0 all well; 2 wrong usage, or no server, extension, tables or right to read them."
)
MAX_CONNECTIONS: Final = 64
_LINE_END: Final = re.compile(r"(?<!\n)\n(?!\n)")
_SIZE: Final = re.compile(r"(\d+)\s*([kmg]?)(i?b)?", re.IGNORECASE)
_FACTORS: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


class Format(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"


def _strategy_names(incomplete: str) -> list[str]:
    return [name for name in STRATEGIES if name.startswith(incomplete)]


def _help(text: str) -> str:
    """A help text whose paragraphs fill the terminal's lines, not ours."""
    return _LINE_END.sub(" ", textwrap.dedent(text).strip())


def _size(text: str | int) -> int:
    match = _SIZE.fullmatch(str(text).strip())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size; give bytes, or for instance 500kB or 8MB")
    return int(match[1]) * _FACTORS[match[2].lower()]


Dsn = Annotated[
    str,
    typer.Option(
        envvar="PGCHUNK_DSN",
        metavar="DSN",
        help="Connection string; without it libpq's PG* variables and defaults hold.",
        show_default=False,
    ),
]
CollectionName = Annotated[
    str | None,
    typer.Option("--collection", metavar="NAME", help="The pair of tables; not needed while there is one."),
]
StrategyName = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        "-s",
        metavar="NAME",
        help="Chunk with this strategy, kept as metadata key 'pgchunk.strategy'.",
        autocompletion=_strategy_names,
    ),
]
OutputFormat = Annotated[
    Format, typer.Option("--format", "-f", metavar="table|json", help="For a person or for a program.")
]


def _flag(*names: str, text: str) -> Any:
    """An option without a value."""
    return typer.Option(*names, help=text, metavar="")


def _max_bytes(what: str) -> Any:
    text = f"{what}; bytes, or with kB, MB, GB; 8MB when not given."
    return typer.Option("--max-bytes", metavar="SIZE", parser=_size, help=text, show_default=False)


@contextmanager
def _exit_statuses(screen: Screen) -> Iterator[None]:
    """Turns what ended a command into a message and an exit status."""
    try:
        yield
    except UnusableError as problem:
        screen.problem(problem.message, problem.hint)
        raise typer.Exit(CANNOT_WORK) from None
    except BrokenPipeError:
        # The reader has seen enough, as with `| head`; without this Python complains once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(SOME_SKIPPED) from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"pgchunk {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, metavar="", help="Print the version and exit."
        ),
    ] = False,
) -> None:
    pass


@app.command(
    epilog=LOAD_STATUSES,
    help=_help("""
    Load a directory, or one file, and keep the database in step with it.

    Files are known by their absolute path, or by --base-url and the path below the directory. An unchanged
    file costs no write. Loaded are *.md, *.markdown, *.mdx and *.txt; dotfiles and dot-directories are left
    out and symbolic links are never followed. Front matter becomes metadata.

    The role needs USAGE on schema pgchunk and SELECT, INSERT and UPDATE on the table of documents; DELETE too
    for --prune, and SELECT on that of chunks for their counts in the summary.

    Examples:

    pgchunk load docs

    pgchunk load docs --base-url https://example.org/docs --prune

    pgchunk load docs --dry-run

    pgchunk load . --gitignore --exclude 'drafts/' --include '*.rst' -j 8
    """),
)
def load(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A directory, or one file of whatever type.",
            show_default=False,
            readable=False,  # whether it can be read we say ourselves
        ),
    ],
    dsn: Dsn = "",
    collection: CollectionName = None,
    strategy: StrategyName = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="What stands for DIR in source_uri; paths are percent-encoded."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Load these files too; a pattern as in .gitignore."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave these out; a pattern as in .gitignore.")
    ] = None,
    gitignore: Annotated[bool, _flag("--gitignore", text="Leave out what git ignores.")] = False,
    hidden: Annotated[bool, _flag("--hidden", text="Load dotfiles and dot-directories too, except .git.")] = False,
    max_bytes: Annotated[int, _max_bytes("Skip longer files")] = DEFAULT_MAX_BYTES,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, max=MAX_CONNECTIONS, help="Connections to write on.")
    ] = min(4, os.cpu_count() or 1),
    prune: Annotated[bool, _flag("--prune", text="Delete documents of this directory whose file is gone.")] = False,
    yes: Annotated[bool, _flag("--yes", "-y", text="Prune over 20 % without asking.")] = False,
    watch: Annotated[bool, _flag("--watch", text="Go on, and load what changes.")] = False,
    dry_run: Annotated[bool, _flag("--dry-run", "-n", text="Show what would be chunked; uses no server.")] = False,
    output: OutputFormat = Format.TABLE,
    verbose: Annotated[bool, _flag("--verbose", "-v", text="Name what the rules leave out.")] = False,
    quiet: Annotated[
        bool,
        _flag("--quiet", "-q", text="No progress, notes or summary; problems, the plan of --dry-run and JSON stay."),
    ] = False,
) -> None:
    screen = Screen(quiet=quiet, verbose=verbose, as_json=output is Format.JSON)
    with _exit_statuses(screen):
        root, only = open_root(path, base_url)
        source = Source(root, Rules(include or (), exclude or (), gitignore, max_bytes, hidden), only)
        if only is not None and (prune or watch):
            raise UnusableError("--prune and --watch need a directory", f"Give the directory of {only!r}.")
        if only is not None and not source.rules.wants(only):
            screen.warn(only, f"of no type that directories are searched for; taken as {format_of(only)}")
        if dry_run:
            if prune or watch:
                raise UnusableError("--dry-run asks no server, so it cannot go with --prune or --watch")
            _dry_run(source, strategy, screen)
        else:
            _load(source, Target(dsn, collection, strategy, jobs, prune, yes), screen, watch=watch)
    raise typer.Exit(screen.report.exit_status)


def _dry_run(source: Source, strategy: str | None, screen: Screen) -> None:
    from pgchunk_loader.plan import plans, show_plans

    show_plans(plans(source, strategy, screen), screen)


def _load(source: Source, target: Target, screen: Screen, *, watch: bool) -> None:
    from pgchunk_loader.run import load_once

    if not watch:
        load_once(source, target, screen)
        return
    from pgchunk_loader.watch import changes

    try:
        for _ in changes(source.root.directory, hidden=source.rules.hidden):
            screen.report = Report()
            load_once(source, target, screen)
    except KeyboardInterrupt:
        screen.note("no longer watching")


@app.command(
    epilog=PREVIEW_STATUSES,
    help=_help("""
    Show the chunks that the database would make of a file; uses no server.

    A *.txt file is plain text, any other is markdown.

    Examples:

    pgchunk preview README.md

    pgchunk preview README.md --strategy sections --option max_tokens=256 --full

    pgchunk preview - --format json < notes.md
    """),
)
def preview(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file, or - for standard input.", readable=False)],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", metavar="NAME", help="Chunk with this strategy.", autocompletion=_strategy_names
        ),
    ] = "default",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            "-o",
            metavar="NAME=VALUE",
            help="Change an option of the strategy, such as max_tokens=256, split_levels=1,2 or include_title=no.",
        ),
    ] = None,
    full: Annotated[bool, _flag("--full", text="Write the whole text that would be embedded.")] = False,
    max_bytes: Annotated[int, _max_bytes("Refuse a longer file")] = DEFAULT_MAX_BYTES,
    output: OutputFormat = Format.TABLE,
    quiet: Annotated[bool, _flag("--quiet", "-q", text="The chunks only, without the line of totals.")] = False,
) -> None:
    from pgchunk_loader.plan import chunks_of, find_strategy, show_chunks

    screen = Screen(quiet=quiet, as_json=output is Format.JSON)
    with _exit_statuses(screen):
        chosen = find_strategy(strategy, parse_options(option or []))
        try:
            title, chunks = chunks_of(_one_file(file, max_bytes), chosen)
        except SkipError as skipped:
            screen.skip(str(file), skipped)
        else:
            show_chunks(title, chunks, screen, full=full)
    raise typer.Exit(screen.report.exit_status)


def _one_file(path: Path, max_bytes: int) -> File:
    if str(path) == "-":
        return File("-", "", decode(sys.stdin.buffer.read()), "markdown")
    root, only = open_root(path, None)
    if only is None:
        raise UnusableError(f"{str(path)!r} is a directory", f"Run: pgchunk load --dry-run {path}")
    text = read_text(root.directory / only, max_bytes)
    return File(only, root.uri(only), text, format_of(only))


@app.command(
    epilog=INSPECT_STATUSES,
    help=_help("""
    Write a document with its chunks as one HTML page, to look at in a browser.

    The page loads nothing, and nothing of the document runs in it. It shows the text with the chunks coloured,
    their sizes, and for each chunk its path, tokens, flags and embedded text. With two strategies both stand side
    by side.

    A FILE is chunked without a server. With --document a document of the database is shown with the chunks that
    are stored or, where there are none or with --option, those that it would get; the role needs USAGE on schema
    pgchunk and SELECT on both tables.

    Examples:

    pgchunk inspect README.md --open

    pgchunk inspect README.md --strategy default --strategy sections -o readme.html

    pgchunk inspect README.md --strategy default --strategy default --option 2:max_tokens=256

    pgchunk inspect --document https://example.org/docs/guide.md --dsn postgresql://app@db.example.org/app

    pgchunk inspect - < notes.md > notes.html
    """),
)
def inspect(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A file, or - for standard input.", readable=False, show_default=False),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(metavar="URI", help="Instead of FILE: a document of the database, by source_uri or key."),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="NAME",
            help="Show the chunks of this strategy; give it twice for two side by side.",
            autocompletion=_strategy_names,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="Change an option, such as max_tokens=256; 2:max_tokens=256 changes that of the second strategy only.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PAGE",
            help="Where to write, - for standard output; else a name made of the document's, in this directory.",
        ),
    ] = None,
    open_page: Annotated[bool, _flag("--open", text="Open the page in a browser.")] = False,
    dsn: Dsn = "",
    collection: CollectionName = None,
    max_bytes: Annotated[int, _max_bytes("Refuse a longer file")] = DEFAULT_MAX_BYTES,
    quiet: Annotated[bool, _flag("--quiet", "-q", text="Do not say where the page is.")] = False,
) -> None:
    from pgchunk_loader.inspect.sources import from_file
    from pgchunk_loader.inspect.wanted import parse_wanted
    from pgchunk_loader.inspect.write import target_of, write_page

    screen = Screen(quiet=quiet)
    with _exit_statuses(screen):
        if (file is None) == (document is None):
            raise UnusableError("give a FILE or --document URI, and not both", "pgchunk inspect --help has examples.")
        target = target_of(str(file or document), output, open_page=open_page)
        wanted = parse_wanted(strategy or [], option or [])
        try:
            if document is not None:
                from pgchunk_loader.run import read_document

                found = read_document(dsn, collection, document, wanted, screen)
            else:
                found = from_file(_one_file(file or Path("-"), max_bytes), wanted)
        except SkipError as skipped:
            screen.skip(str(file), skipped)
        else:
            write_page(*found, target, screen)
    raise typer.Exit(screen.report.exit_status)


@app.command(
    epilog=STATUS_STATUSES,
    help=_help("""
    Show what the database holds: documents, chunks, how many are stale or wait for an embedding, how many
    documents miss chunks, and the statement to run then.

    The role needs USAGE on schema pgchunk and SELECT on both tables.

    Examples:

    pgchunk status

    pgchunk status --dsn postgresql://app@db.example.org/app --format json
    """),
)
def status(dsn: Dsn = "", collection: CollectionName = None, output: OutputFormat = Format.TABLE) -> None:
    from pgchunk_loader.run import read_status
    from pgchunk_loader.status import show_status

    screen = Screen(as_json=output is Format.JSON)
    with _exit_statuses(screen):
        show_status(read_status(dsn, collection, screen), screen)
