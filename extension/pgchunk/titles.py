"""Plain text of headings: markup, link targets, images, tags, ids and anchors removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: Longer headings are taken as they stand: they are no titles, and inline rules would cost too much.
MAX_INLINE_CHARS: Final = 10_000

_MARKUP: Final = re.compile(r"[\\`*_\[\]<>&!~{\r\n]")
_TRAILING_ID: Final = re.compile(r"\s*(?:\{[#.:][^{}\r\n]*\}|\{/\*[^{}\r\n]*\*/\})\s*\Z")
_FOLD: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_ANCHOR_TEXTS: Final = frozenset({"", "#", "¶", "§", "🔗", "⚓"})


def fold(text: str) -> str:
    """Makes one line of a text: runs of white space and control characters become one blank, none at the ends."""
    return _FOLD.sub(" ", text).strip()


def plain_title(raw: str, environment: dict[str, Any] | None = None) -> str:
    """The text of a heading as a person reads it.

    Args:
        raw: the heading without its markers.
        environment: the parser's environment of the document, which knows its link references.
    """
    if not _MARKUP.search(raw) or len(raw) > MAX_INLINE_CHARS:
        return fold(raw)
    without_id = _TRAILING_ID.sub("", raw)
    inline = _parser().parseInline(without_id, {"references": (environment or {}).get("references", {})})
    tokens = [token for block in inline for token in block.children or ()]
    title = fold("".join(map(_token_text, _without_anchor(tokens))))
    return title or fold("".join(token.content for token in tokens if token.type == "image"))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def _token_text(token: Token) -> str:
    if token.type in ("text", "code_inline", "text_special"):
        return token.content
    return " " if token.type in ("softbreak", "hardbreak") else ""


def _without_anchor(tokens: Sequence[Token]) -> Sequence[Token]:
    """Leaves out a link at the very end that only points at the heading itself."""
    if not tokens or tokens[-1].type != "link_close":
        return tokens
    opening = max(index for index, token in enumerate(tokens) if token.type == "link_open")
    text = "".join(map(_token_text, tokens[opening:])).strip()
    target = str(tokens[opening].attrs.get("href", ""))
    return tokens[:opening] if text in _ANCHOR_TEXTS and target.startswith("#") else tokens
