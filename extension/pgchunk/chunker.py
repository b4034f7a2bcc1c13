"""The chunker: text to blocks, sections, pieces, merged spans and chunks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from pgchunk.blocks import Parsed
from pgchunk.breadcrumb import GAP, breadcrumb_parts, render
from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.errors import DocumentTooLarge, InvalidDocument, InvalidFormat, UnknownStrategy
from pgchunk.ladder import Unit, group_by_heading
from pgchunk.merge import Merger, Span
from pgchunk.meter import Meter
from pgchunk.parse import parse_markdown, parse_text
from pgchunk.sections import Heading, Section, build_sections, headings
from pgchunk.split import Piece, Splitter
from pgchunk.strategy import STRATEGIES, Strategy
from pgchunk.title import title_of
from pgchunk.titles import fold
from pgchunk.tokenizers import get_tokenizer

FORMATS = ("markdown", "text")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of a document. Token counts are those of the strategy's tokenizer."""

    #: place in the document, from 0
    ordinal: int
    #: what is embedded: breadcrumb, blank line, raw_prefix, raw_content, raw_suffix
    content: str
    #: what is shown: a verbatim slice of the document
    raw_content: str
    #: what raw_content needs in front to stand alone: a table's header rows, a fence's opening line
    raw_prefix: str
    #: what it needs behind: a fence's closing line
    raw_suffix: str
    #: the headings above, outermost first
    heading_path: tuple[str, ...]
    #: tokens of raw_content
    token_count: int
    #: tokens of content
    content_token_count: int
    #: the slice, half-open, in characters of the document
    char_start: int
    char_end: int
    #: whether this is a piece of a section, but not its first
    continuation: bool
    #: what happened to it, sorted; see docs/chunking.md
    flags: tuple[str, ...]
    #: hex SHA-256 of content
    content_hash: str
    #: hex SHA-256 of the recipe that made it
    recipe_hash: str


def chunk(
    text: str,
    title: str | None = None,
    strategy: str | Strategy = "default",
    *,
    format: str = "markdown",
    checkpoint: Checkpoint = no_checkpoint,
    **overrides: Any,
) -> list[Chunk]:
    """Cuts a document into chunks.

    Args:
        text: the document.
        title: its title; None: from front matter or the first H1; an empty string: none.
        strategy: a strategy, or the name of a shipped one.
        format: 'markdown' or 'text' (no headings, paragraphs only).
        checkpoint: called often; may raise to stop the work.
        overrides: options that replace those of the strategy.

    Returns:
        The chunks in order; none for a blank document.

    Raises:
        InvalidOption: an override is unknown or out of range.
        UnknownStrategy: no shipped strategy has this name.
        InvalidFormat: the format is neither 'markdown' nor 'text'.
        DocumentTooLarge: the text has more than max_document_bytes.
        InvalidDocument: the text has a NUL character or is not valid Unicode.
        TokenizerDataMissing: the tokenizer's data are not installed.
    """
    chosen = resolve_strategy(strategy).with_overrides(**overrides)
    check_format(format)
    check_document(text, chosen.max_document_bytes)
    parsed = (parse_text if format == "text" else parse_markdown)(text, checkpoint)
    if title is None:
        title = title_of(text, parsed) if format == "markdown" else ""
    return _Document(text, fold(title), chosen, parsed, checkpoint).chunks()


def outline(text: str) -> list[Heading]:
    """The top-level headings of a markdown document, H1 to H6, in order."""
    return headings(parse_markdown(text))


def resolve_strategy(strategy: str | Strategy) -> Strategy:
    """A strategy from itself or from a shipped one's name.

    Raises:
        UnknownStrategy: no shipped strategy has this name.
    """
    if isinstance(strategy, Strategy):
        return strategy
    try:
        return STRATEGIES[strategy]
    except KeyError:
        raise UnknownStrategy(
            f"unknown strategy {strategy!r}",
            detail=f"The strategies are {', '.join(sorted(STRATEGIES))}.",
            hint="Give one of these names, or a Strategy of your own.",
        ) from None


def check_format(format: str) -> None:
    """Raises InvalidFormat unless the format is known."""
    if format not in FORMATS:
        raise InvalidFormat(
            f"invalid format {format!r}",
            detail="The format of a document is 'markdown' or 'text'.",
            hint="Convert other formats before they are stored.",
        )


def check_document(text: str, max_bytes: int) -> None:
    """Raises DocumentTooLarge or InvalidDocument unless the text can be chunked and stored."""
    if len(text) * 4 > max_bytes:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > max_bytes:
            raise DocumentTooLarge(
                f"document of {size} bytes is too large",
                detail=f"The strategy's max_document_bytes is {max_bytes}.",
                hint="Cut the document into several, or raise max_document_bytes.",
            )
    if "\0" in text:
        raise InvalidDocument(
            f"document has a NUL character at offset {text.index(chr(0))}",
            detail="PostgreSQL's type text cannot hold it.",
            hint="Remove NUL characters before storing the text; they often mean that the file is not text.",
        )
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidDocument(
            f"document is not valid Unicode at offset {error.start}",
            detail="It has half of a surrogate pair.",
            hint="Decode the file with the right encoding.",
        ) from None


class _Document:
    """One document on its way through the chunker; nothing outlives it."""

    def __init__(self, text: str, title: str, strategy: Strategy, parsed: Parsed, checkpoint: Checkpoint) -> None:
        self.text = text
        self.title = title if strategy.include_title else ""
        self.strategy = strategy
        self.checkpoint = checkpoint
        self.tokenizer = get_tokenizer(strategy.tokenizer)
        self.recipe_hash = strategy.recipe_hash
        self.sections = build_sections(parsed, strategy.split_levels)
        starts = [section.heading.start for section in self.sections if section.heading]
        self.meter = Meter(text, self.tokenizer, starts, checkpoint)
        self._crumb: Callable[[int, bool], tuple[str, bool]] = cache(self._render_crumb)

    def chunks(self) -> list[Chunk]:
        spans = [span for section in self.sections for span in self._spans(section)]
        merged = Merger(self.strategy, self.meter.count, self._fits).merge(spans)
        return [self._chunk(ordinal, span) for ordinal, span in enumerate(merged)]

    def _spans(self, section: Section) -> list[Span]:
        self.checkpoint()
        if self._is_preamble(section) and not self.strategy.include_preamble:
            return []
        units = self._units(section)
        if not units or not self.text[units[0].start : units[-1].end].strip():
            return []
        splitter = Splitter(self.meter, self.strategy, section, self._head_of(section), self.checkpoint)
        pieces = splitter.split(units)
        return [self._span(piece, heading_only=not section.blocks) for piece in pieces]

    def _is_preamble(self, section: Section) -> bool:
        """Text without a heading is a preamble only where a heading follows."""
        return section.is_preamble and len(self.sections) > 1

    def _units(self, section: Section) -> list[Unit]:
        """What the section's chunks are made of; without a body of its own it is its heading line, or nothing."""
        heading = section.heading
        body = group_by_heading(section.blocks)
        if heading is None:
            return body
        kept = self.strategy.heading_line == "include" or not section.titled
        if kept or not (body or section.has_children):
            return [Unit.of(heading), *body]
        return body

    def _span(self, piece: Piece, *, heading_only: bool) -> Span:
        if self._is_preamble(piece.section):
            piece.flags.add("preamble")
        return Span.of(piece, self.meter.count(piece.start, piece.end), heading_only=heading_only)

    def _head_of(self, section: Section) -> Callable[[int], str]:
        heading = section.heading
        whole = _with_gap(self._crumb(section.index, False)[0])
        if heading is None or not section.titled:
            return lambda _start: whole
        short = _with_gap(self._crumb(section.index, True)[0])
        return lambda start: short if heading.start <= start < heading.end else whole

    def _render_crumb(self, section: int, own_heading_line: bool) -> tuple[str, bool]:
        parts = breadcrumb_parts(self.title, self.sections[section].path, own_heading_line=own_heading_line)
        limit = self.strategy.heading_path_limit
        return render(parts, self.strategy.separator, limit, self.tokenizer.count)

    def _fits(self, span: Span) -> bool:
        crumb, _ = self._crumb(span.crumb_section.index, span.own_heading_line)
        return self._tokens(crumb, span) <= self.strategy.max_tokens

    def _tokens(self, crumb: str, span: Span) -> int:
        return self.meter.joined(_with_gap(crumb) + span.prefix, span.start, span.end, span.suffix)

    def _chunk(self, ordinal: int, span: Span) -> Chunk:
        self.checkpoint()
        crumb, truncated = self._crumb(span.crumb_section.index, span.own_heading_line)
        tokens = self._tokens(crumb, span)
        if tokens > self.strategy.max_tokens:
            crumb, tokens = self._squeezed(crumb, span)
            truncated = True
        raw = self.text[span.start : span.end]
        content = _with_gap(crumb) + span.prefix + raw + span.suffix
        additive = self.tokenizer.additive
        raw_tokens = span.tokens if additive else self.tokenizer.count(raw)
        return Chunk(
            ordinal=ordinal,
            content=content,
            raw_content=raw,
            raw_prefix=span.prefix,
            raw_suffix=span.suffix,
            heading_path=span.section.path,
            token_count=raw_tokens,
            content_token_count=tokens,
            char_start=span.start,
            char_end=span.end,
            continuation=span.continuation,
            flags=self._flags(span, raw_tokens, truncated),
            content_hash=hashlib.sha256(content.encode()).hexdigest(),
            recipe_hash=self.recipe_hash,
        )

    def _squeezed(self, crumb: str, span: Span) -> tuple[str, int]:
        """A breadcrumb that leaves room for a grapheme cluster that cannot be cut; none when there is no room."""
        span.prefix = span.suffix = ""
        limit = self.tokenizer.count(crumb)
        section, own = span.crumb_section, span.own_heading_line
        parts = breadcrumb_parts(self.title, section.path, own_heading_line=own)
        while limit > 0:
            limit -= 1
            crumb, _ = render(parts, self.strategy.separator, limit, self.tokenizer.count)
            tokens = self._tokens(crumb, span)
            if tokens <= self.strategy.max_tokens:
                return crumb, tokens
        return "", self._tokens("", span)

    def _flags(self, span: Span, raw_tokens: int, truncated: bool) -> tuple[str, ...]:
        flags = set(span.flags)
        if truncated:
            flags.add("breadcrumb_truncated")
        if span.heading_only:
            flags.add("heading_only")
        if raw_tokens < self.strategy.min:
            flags.add("undersized")
        return tuple(sorted(flags))


def _with_gap(crumb: str) -> str:
    return crumb + GAP if crumb else ""
