"""The process of one contender. It is asked on standard input, a line for each question, and answers with JSON.

time    seconds that one pass over all documents takes
check   the largest chunk in tokens, the share of non-blank characters in chunks, and how many chunks there are
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from contenders import CONTENDERS, ENCODING, Chunker, Chunks, Slice


def main() -> None:
    chunker = CONTENDERS[sys.argv[1]]()
    texts: list[str] = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    for line in sys.stdin:
        answer = time_pass(chunker, texts) if line.strip() == "time" else check(chunker, texts)
        print(json.dumps(answer), flush=True)


def time_pass(chunker: Chunker, texts: list[str]) -> float:
    """Seconds for all documents. What a pass leaves behind is collected before the next, not within it by chance."""
    gc.collect()
    started = perf_counter()
    for text in texts:
        chunker(text)
    return perf_counter() - started


def check(chunker: Chunker, texts: list[str]) -> dict[str, Any]:
    import tiktoken

    encode = tiktoken.get_encoding(ENCODING).encode_ordinary
    largest = number = said = total = 0
    for text in texts:
        chunks = chunker(text)
        number += len(chunks)
        largest = max(largest, *(len(encode(one if isinstance(one, str) else one.text)) for one in chunks), 0)
        present, covered = coverage(text, chunks)
        total += present
        said += covered
    return {"largest": largest, "covered": said / total, "chunks": number}


def coverage(text: str, chunks: Chunks) -> tuple[int, int]:
    """Non-blank characters of a document behind its front matter, and how many of them are in a chunk.

    What pgchunk leaves out of a slice because it stands in the heading path counts as covered.
    """
    from pgchunk.frontmatter import body_start

    body = body_start(text)
    places = [i for i, character in enumerate(text) if not character.isspace()]
    covered = _sliced(text, [one for one in chunks if isinstance(one, Slice)])
    for one in _found(text, places, [one for one in chunks if isinstance(one, str)]):
        covered[one] = 1
    counted = [i for i in places if i >= body]
    return len(counted), sum(covered[i] for i in counted)


def _sliced(text: str, slices: list[Slice]) -> bytearray:
    from pgchunk import outline

    covered = bytearray(len(text))
    for one in slices:
        covered[one.start : one.end] = b"\1" * (one.end - one.start)
    if slices:
        said = "\n".join(one.text for one in slices)
        for heading in outline(text):
            if heading.title in said:
                covered[heading.char_start : heading.char_end] = b"\1" * (heading.char_end - heading.char_start)
    return covered


def _found(text: str, places: list[int], chunks: list[str]) -> list[int]:
    """Places of the characters of chunks, looked for in order; white space does not matter, as peers change it."""
    whole = "".join(text[i] for i in places)
    found: list[int] = []
    at = 0
    for one in chunks:
        for part in [one] if whole.find(_squeezed(one), at) >= 0 else one.split("\n"):
            squeezed = _squeezed(part)
            start = whole.find(squeezed, at) if squeezed else -1
            if start >= 0:
                found += places[start : start + len(squeezed)]
                at = start + len(squeezed)
    return found


def _squeezed(text: str) -> str:
    return "".join(text.split())


if __name__ == "__main__":
    main()
