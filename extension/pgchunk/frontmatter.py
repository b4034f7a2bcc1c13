"""Front matter: metadata at the very start of a document, which is neither heading nor chunk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

BYTE_ORDER_MARK: Final = "\ufeff"

#: Longer metadata are not read: a few lines of YAML aliases can stand for gigabytes.
MAX_CHARS: Final = 256 * 1024

_LINE_END: Final = re.compile(r"\r\n|\r")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FENCES: Final = {
    "yaml": (re.compile(r"---[ \t]*(?:\r\n|\r|\n)"), re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")),
    "toml": (re.compile(r"\+\+\+[ \t]*(?:\r\n|\r|\n)"), re.compile(r"\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)")),
}
#: What a line that starts a value looks like; text between two thematic breaks must not pass for metadata.
_ENTRY: Final = {
    "yaml": re.compile(r"""(?:[\w.$@/-][^:\r\n]*|"[^"\r\n]*"|'[^'\r\n]*')\s*:(?:\s|\Z)"""),
    "toml": re.compile(r"""(?:[\w.-]+|"[^"\r\n]*"|'[^'\r\n]*')[\w.\s"'-]*=|\["""),
}
_LOOSE: Final = {"yaml": re.compile(r"[\s#\-\]}]"), "toml": re.compile(r"[\s#\]}\"'\w]")}


class FrontMatterError(ValueError):
    """Front matter that is there but cannot be read; the document can be chunked and stored without it."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A metadata block.

    Offsets are in characters of the document; `start` is behind a byte-order mark, `end` behind the closing line.
    """

    start: int
    end: int
    #: 'yaml' or 'toml'
    kind: str
    #: what stands between the two delimiter lines
    body: str


def body_start(text: str) -> int:
    """Offset in characters at which markdown begins: behind a byte-order mark and front matter."""
    found = split_front_matter(text)
    return found.end if found else _mark_length(text)


def split_front_matter(text: str) -> FrontMatter | None:
    """Finds YAML (---) or TOML (+++) front matter; None when there is none, or when it is never closed.

    A first line of dashes is a thematic break unless what follows up to a closing line reads like metadata.
    """
    start = _mark_length(text)
    for kind, (opening, closing) in _FENCES.items():
        opened = opening.match(text, start)
        if opened:
            return _scan(text, start, opened.end(), kind, closing)
    return None


def load_front_matter(front: FrontMatter) -> Any:
    """What the metadata say, as YAML's or TOML's own values; None when they are empty.

    Raises:
        FrontMatterError: they are not valid, or longer than MAX_CHARS.
    """
    import tomllib  # late: most documents have no front matter, and a session may never see one

    import yaml

    if len(front.body) > MAX_CHARS:
        raise FrontMatterError(f"it is longer than {MAX_CHARS:,} characters")
    body = _LINE_END.sub("\n", front.body)
    try:
        if front.kind == "toml":
            return tomllib.loads(body)
        return yaml.load(body, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise FrontMatterError(f"{error.problem or error}{where}") from None
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError, AttributeError) as error:
        raise FrontMatterError(" ".join(str(error).split())) from None


def _mark_length(text: str) -> int:
    return 1 if text.startswith(BYTE_ORDER_MARK) else 0


def _scan(text: str, start: int, body: int, kind: str, closing: re.Pattern[str]) -> FrontMatter | None:
    entry, loose = _ENTRY[kind], _LOOSE[kind]
    position = body
    entries = 0
    while position < len(text):
        closed = closing.match(text, position)
        if closed:
            return FrontMatter(start, closed.end(), kind, text[body:position])
        if entry.match(text, position):
            entries += 1
        elif not loose.match(text, position) or (not entries and text[position] not in "\r\n#"):
            return None
        line = _LINE.match(text, position)
        position = line.end() if line else len(text)
    return None
