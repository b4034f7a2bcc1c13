"""The title of a document that came without one."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from pgchunk.blocks import Parsed
from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.frontmatter import FrontMatterError, body_start, load_front_matter, split_front_matter
from pgchunk.parse import parse_markdown
from pgchunk.titles import fold

#: A line that may make an H1: an ATX heading, or the underline of a setext one.
_MAYBE_H1: Final = re.compile(r"(?<![^\r\n\ufeff]) {0,3}(?:#(?:[ \t][^\r\n]*)?|=+[ \t]*)(?:\r\n|\r|\n|\Z)")


def derive_title(
    text: str, source_uri: str, format: str = "markdown", checkpoint: Checkpoint = no_checkpoint
) -> str:
    """The title a document gets when none is given.

    It comes from front matter, else the first H1, else the last part of ``source_uri``; plain text has only the last.

    Args:
        text: the document.
        source_uri: what names it.
        format: 'markdown' or 'text'.
        checkpoint: called often; may raise to stop the work.
    """
    said = _front_matter_title(text) or _first_h1(text, checkpoint) if format == "markdown" else ""
    return said or _last_part(source_uri)


def title_of(text: str, parsed: Parsed) -> str:
    """The title that a parsed document says itself: from front matter, else the first H1, else an empty string."""
    return _front_matter_title(text) or _h1_of(parsed)


def _front_matter_title(text: str) -> str:
    front = split_front_matter(text)
    if front is None or "title" not in front.body:
        return ""
    try:
        values = load_front_matter(front)
    except FrontMatterError:
        return ""
    title = values.get("title") if isinstance(values, dict) else None
    return fold(str(title)) if isinstance(title, (str, int, float, date)) and not isinstance(title, bool) else ""


def _first_h1(text: str, checkpoint: Checkpoint) -> str:
    """The first H1. Most documents begin with it, so only the text up to the first line that may be one is parsed."""
    candidate = _MAYBE_H1.search(text, body_start(text))
    if candidate is None:
        return ""
    beginning = text[: candidate.end()]
    return _h1_of(parse_markdown(beginning, checkpoint)) or _h1_of(parse_markdown(text, checkpoint))


def _h1_of(parsed: Parsed) -> str:
    for block in parsed.blocks:
        if block.kind == "heading" and block.level == 1:
            title = parsed.plain_title(block.raw_title)
            if title:
                return title
    return ""


def _last_part(source_uri: str) -> str:
    trimmed = re.sub(r"[?#].*\Z", "", source_uri).rstrip("/") or source_uri
    return fold(trimmed.rsplit("/", 1)[-1]) or source_uri
