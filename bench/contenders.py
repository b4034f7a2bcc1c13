"""Who is measured: each is a function that makes the chunks of one document, with 512 tokens of cl100k_base at most.

A contender is made in a process of its own and imports what it needs there. Of the peers each is set up the way its
documentation shows for markdown, with its exact tokenizer and no overlap.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

MAX_TOKENS: Final = 512
ENCODING: Final = "cl100k_base"
#: What pgchunk uses only where it is installed.
FAST_EXTRAS: Final = ("pyromark", "gigatoken")
#: Headings that split, as in pgchunk's strategy 'default'.
_HEADERS: Final = [("#", "h1"), ("##", "h2"), ("###", "h3")]


class Slice(NamedTuple):
    """A chunk that says where it stands, in characters of the document."""

    text: str
    start: int
    end: int


#: A chunk as it would be embedded; its place is looked for where it is not said.
Chunks = list[str] | list[Slice]
Chunker = Callable[[str], Chunks]


def core() -> Chunker:
    """pgchunk with default dependencies: what it uses only when installed is hidden."""
    for name in FAST_EXTRAS:
        sys.modules[name] = None  # type: ignore[assignment]
    return core_fast()


def core_fast() -> Chunker:
    """pgchunk with all it can use."""
    from pgchunk import chunk

    return lambda text: [Slice(one.content, one.char_start, one.char_end) for one in chunk(text)]


def langchain() -> Chunker:
    """MarkdownHeaderTextSplitter, then RecursiveCharacterTextSplitter with tiktoken."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    headers = MarkdownHeaderTextSplitter(_HEADERS, strip_headers=False)
    recursive = RecursiveCharacterTextSplitter.from_tiktoken_encoder(
        ENCODING, chunk_size=MAX_TOKENS, chunk_overlap=0, disallowed_special=()
    )
    return lambda text: [one.page_content for one in recursive.split_documents(headers.split_text(text))]


def llama_index() -> Chunker:
    """MarkdownNodeParser, then SentenceSplitter with tiktoken."""
    import tiktoken
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter

    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    sections = MarkdownNodeParser()
    sentences = SentenceSplitter(chunk_size=MAX_TOKENS, chunk_overlap=0, tokenizer=encode)
    return lambda text: [node.get_content() for node in sentences(sections([Document(text=text)]))]


def chonkie() -> Chunker:
    """RecursiveChunker with tiktoken."""
    import tiktoken
    from chonkie import RecursiveChunker

    chunker = RecursiveChunker(tokenizer=tiktoken.get_encoding(ENCODING), chunk_size=MAX_TOKENS)
    return lambda text: [one.text for one in chunker(text)] if text.strip() else []


def text_splitter() -> Chunker:
    """semantic-text-splitter's MarkdownSplitter, whose tiktoken is its own, in Rust."""
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter.from_tiktoken_model("gpt-4", MAX_TOKENS)
    return lambda text: list(splitter.chunks(text))


def semchunk() -> Chunker:
    """semchunk with tiktoken, nothing remembered: what it remembers it would carry from pass to pass."""
    import semchunk as library
    import tiktoken

    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    chunker = library.chunkerify(lambda text: len(encode(text)), MAX_TOKENS, memoize=False)
    return lambda text: list(chunker(text))


def tokenizer() -> Chunker:
    """tiktoken counts each document once and cuts nothing: the limit for everyone who uses it."""
    import tiktoken

    encode = tiktoken.get_encoding(ENCODING).encode_ordinary

    def count(text: str) -> list[str]:
        encode(text)
        return [text]

    return count


CONTENDERS: Final[Mapping[str, Callable[[], Chunker]]] = {
    "pgchunk": core,
    "pgchunk, fast extras": core_fast,
    "langchain": langchain,
    "llama_index": llama_index,
    "chonkie": chonkie,
    "semantic-text-splitter": text_splitter,
    "semchunk": semchunk,
    "tiktoken alone": tokenizer,
}
