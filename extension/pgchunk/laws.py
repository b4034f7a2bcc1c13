"""The laws of chunking, checked on the chunks of a document.

L1 identity: raw_content is a verbatim slice. L2 coverage: every non-blank character is in a chunk, or in an excluded
heading line whose title stands in a heading path, or in front matter. L3 budget: no embedded text is over max_tokens,
and stored counts are right. L4 order: starts never decrease, overlap only inside a section and within its limit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgchunk.breadcrumb import GAP, breadcrumb_parts
from pgchunk.chunker import Chunk
from pgchunk.frontmatter import body_start
from pgchunk.graphemes import cluster_end, is_boundary
from pgchunk.parse import parse_markdown
from pgchunk.sections import Heading, build_sections, headings
from pgchunk.strategy import Strategy
from pgchunk.titles import fold
from pgchunk.tokenizers import get_tokenizer

_WRAPPED = {"split_table", "split_code"}


def problems(text: str, title: str, strategy: Strategy, chunks: Sequence[Chunk], format: str = "markdown") -> list[str]:
    """What is wrong with the chunks of a document, a sentence each; an empty list when L1 to L4 hold.

    Args:
        text: the document.
        title: its title, which may stand in breadcrumbs.
        strategy: what the chunks were made with.
        chunks: all of the document's, by ordinal.
        format: the document's format.
    """
    found: list[str] = []
    for chunk in chunks:
        found.extend(_identity(text, chunk))
        found.extend(_breadcrumb(title, strategy, chunk))
        found.extend(_budget(chunk, strategy))
    found.extend(_coverage(text, strategy, chunks, format))
    found.extend(_order(text, strategy, chunks))
    return found


def _identity(text: str, chunk: Chunk) -> Iterator[str]:
    name = f"L1: chunk {chunk.ordinal}"
    if not 0 <= chunk.char_start < chunk.char_end <= len(text):
        yield f"{name} has offsets outside the document"
    elif chunk.raw_content != text[chunk.char_start : chunk.char_end]:
        yield f"{name}: raw_content is not the slice that its offsets name"
    elif not (is_boundary(text, chunk.char_start) and is_boundary(text, chunk.char_end)):
        yield f"{name} is cut inside a grapheme cluster"
    if (chunk.raw_prefix or chunk.raw_suffix) and not _WRAPPED & set(chunk.flags):
        yield f"{name} has a prefix or suffix but is no piece of a table or of code"
    embedded = chunk.raw_prefix + chunk.raw_content + chunk.raw_suffix
    crumb = chunk.content.removesuffix(embedded)
    if not chunk.content.endswith(embedded) or (crumb and not crumb.endswith(GAP)):
        yield f"{name}: content is not breadcrumb, blank line, prefix, raw_content and suffix"


def _breadcrumb(title: str, strategy: Strategy, chunk: Chunk) -> Iterator[str]:
    """The embedded text says title and path, but for the headings that the slice itself begins with."""
    if "breadcrumb_truncated" in chunk.flags:
        return
    parts = breadcrumb_parts(fold(title) if strategy.include_title else "", chunk.heading_path)
    crumb = chunk.content.removesuffix(chunk.raw_prefix + chunk.raw_content + chunk.raw_suffix).removesuffix(GAP)
    may_begin_with_heading = strategy.heading_line == "include" or {"merged", "heading_only"} & set(chunk.flags)
    fewest = 0 if may_begin_with_heading else len(parts)
    if crumb not in (strategy.separator.join(parts[:kept]) for kept in range(fewest, len(parts) + 1)):
        yield f"L1: chunk {chunk.ordinal}: the breadcrumb is not made of title and heading path"


def _budget(chunk: Chunk, strategy: Strategy) -> Iterator[str]:
    count = get_tokenizer(strategy.tokenizer).count
    name = f"L3: chunk {chunk.ordinal}"
    tokens = count(chunk.content)
    if tokens != chunk.content_token_count:
        yield f"{name} stores {chunk.content_token_count} tokens of content, there are {tokens}"
    raw_tokens = count(chunk.raw_content)
    if raw_tokens != chunk.token_count:
        yield f"{name} stores {chunk.token_count} tokens of raw_content, there are {raw_tokens}"
    if tokens > strategy.max_tokens and not _one_cluster_too_big(chunk, raw_tokens, strategy):
        yield f"{name} has {tokens} tokens, over the budget of {strategy.max_tokens}"


def _one_cluster_too_big(chunk: Chunk, raw_tokens: int, strategy: Strategy) -> bool:
    return raw_tokens > strategy.max_tokens and cluster_end(chunk.raw_content, 0) == len(chunk.raw_content)


def _order(text: str, strategy: Strategy, chunks: Sequence[Chunk]) -> Iterator[str]:
    count = get_tokenizer(strategy.tokenizer).count
    for expected, chunk in enumerate(chunks):
        if chunk.ordinal != expected:
            yield f"L4: ordinal {chunk.ordinal} where {expected} was expected"
    for first, second in pairwise(chunks):
        name = f"L4: chunk {second.ordinal}"
        if second.char_start < first.char_start:
            yield f"{name} begins before the chunk in front of it"
        if second.char_start >= first.char_end:
            continue
        if second.char_end <= first.char_end:
            yield f"{name} says nothing that the chunk in front of it does not say"
        if not second.continuation or (second.heading_path != first.heading_path and "merged" not in first.flags):
            yield f"{name} overlaps text of another section"
        if count(text[second.char_start : first.char_end]) > strategy.overlap_limit:
            yield f"{name} overlaps by more than {strategy.overlap_limit} tokens"


def _coverage(text: str, strategy: Strategy, chunks: Sequence[Chunk], format: str) -> Iterator[str]:
    start = body_start(text[:1] if format == "text" else text)
    gaps = [(a, b) for a, b in _gaps(chunks, start, len(text)) if text[a:b].strip()]
    if not gaps:
        return
    excused = [] if format == "text" else _excused(text, strategy, chunks)
    for a, b in gaps:
        rest = _without(text, a, b, excused)
        if rest:
            yield f"L2: text at offset {rest[0]} is in no chunk: {text[rest[0] : rest[0] + 40]!r}"


def _gaps(chunks: Sequence[Chunk], start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for chunk in sorted(chunks, key=lambda chunk: chunk.char_start):
        if chunk.char_start > at:
            yield at, chunk.char_start
        at = max(at, chunk.char_end)
    if at < end:
        yield at, end


def _excused(text: str, strategy: Strategy, chunks: Sequence[Chunk]) -> list[tuple[int, int]]:
    """Spans that need not be in a chunk: headings said in a path, and a preamble that is switched off."""
    parsed = parse_markdown(text)
    said = {title for chunk in chunks for title in chunk.heading_path}
    spans = [
        (heading.char_start, heading.char_end)
        for heading in headings(parsed)
        if _may_be_excluded(heading, strategy, said)
    ]
    if not strategy.include_preamble:
        first = build_sections(parsed, strategy.split_levels)[1:2]
        spans[:0] = [(0, section.heading.start) for section in first if section.heading]
    return spans


def _may_be_excluded(heading: Heading, strategy: Strategy, said: set[str]) -> bool:
    return strategy.heading_line == "exclude" and heading.level in strategy.split_levels and heading.title in said


def _without(text: str, start: int, end: int, excused: Sequence[tuple[int, int]]) -> list[int]:
    """Offsets of non-blank stretches of text[start:end] that lie outside the excused spans."""
    found: list[int] = []
    at = start
    for a, b in [*excused, (end, end)]:
        if b <= at or a > end:
            continue
        if text[at : max(at, a)].strip():
            found.append(at + len(text[at:a]) - len(text[at:a].lstrip()))
        at = max(at, b)
    return found
