"""Markdown and plain text to blocks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from markdown_it.token import Token

from pgchunk.blocks import Block, Parsed
from pgchunk.checkpoint import Checkpoint, no_checkpoint
from pgchunk.commonmark import CONTAINER_ENDS, block_tokens
from pgchunk.frontmatter import body_start
from pgchunk.lines import line_starts
from pgchunk.titles import plain_title

_CONTAINERS: Final = {
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
}
#: Tokens or lines that are looked at between two chances to interrupt.
_AT_ONCE: Final = 1024
_LEAVES: Final = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
    "table_open": "table",
}


def parse_markdown(text: str, checkpoint: Checkpoint = no_checkpoint) -> Parsed:
    """Parses a document into its top-level blocks; front matter and a byte-order mark are passed over.

    Args:
        text: the document.
        checkpoint: called often; may raise to stop the parser.
    """
    start = body_start(text)
    environment: dict[str, Any] = {}
    tokens = block_tokens(text[start:] if start else text, environment, checkpoint)
    starts = line_starts(text, start)
    blocks = _with_definitions(text, _build(tokens, starts, checkpoint), starts[0])
    return Parsed(blocks, lambda raw: plain_title(raw, environment))


def parse_text(text: str, checkpoint: Checkpoint = no_checkpoint) -> Parsed:
    """Takes plain text apart into paragraphs, which blank lines separate.

    Args:
        text: the document.
        checkpoint: called often; may raise to stop the work.
    """
    starts = line_starts(text, body_start(text[:1]))
    blocks: list[Block] = []
    inside = False
    for number, (start, end) in enumerate(pairwise(starts)):
        if not number % _AT_ONCE:
            checkpoint()
        if not text[start:end].strip():
            inside = False
        elif inside:
            blocks[-1].end = end
        else:
            blocks.append(Block("paragraph", start, end))
            inside = True
    return Parsed(blocks, str)


def _build(tokens: list[Token], starts: list[int], checkpoint: Checkpoint) -> list[Block]:
    """Builds the tree of blocks from the parser's flat tokens."""
    root: list[Block] = []
    siblings = root
    stack: list[list[Block]] = []
    for index, token in enumerate(tokens):
        if not index % _AT_ONCE:
            checkpoint()
        kind = _LEAVES.get(token.type)
        if kind is not None and token.map:
            block = Block(kind, starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
            if kind == "heading":
                block.level = int(token.tag[1])
                block.raw_title = tokens[index + 1].content
            siblings.append(block)
        elif token.type in _CONTAINERS and token.map:
            block = Block(_CONTAINERS[token.type], starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)])
            siblings.append(block)
            stack.append(siblings)
            siblings = block.children
        elif token.type in CONTAINER_ENDS:
            siblings = stack.pop()
    return root


def _with_definitions(text: str, blocks: list[Block], start: int) -> list[Block]:
    """Adds the lines that gave no token, such as link reference definitions, as blocks of their own."""
    result: list[Block] = []
    position = start
    for block in [*blocks, Block("end", len(text), len(text))]:
        gap = text[position : block.start]
        if gap and not gap.isspace():
            result.append(Block("definition", position + len(gap) - len(gap.lstrip("\r\n")), block.start))
        result.append(block)
        position = max(position, block.end)
    result.pop()
    return result
