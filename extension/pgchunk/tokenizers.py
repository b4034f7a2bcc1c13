"""Tokenizers by name: exact counts, and the seams at which counts add up.

A *seam* is a position where the tokens of a text are the tokens of what stands before it followed by the tokens of
what stands after it, whatever the two are. Knowing seams, a document is tokenized once and the count of any slice
is a sum. The rules below follow from the published splitting patterns of cl100k_base and o200k_base: no token
reaches from a non-blank over a following blank, from a line end over a following non-blank (but for '/' in
o200k_base), or from a letter or digit over a following mark of punctuation (but for the apostrophe).
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, Protocol

from pgchunk.errors import TokenizerDataMissing, UnknownTokenizer

#: Where tokenizer data lies; written by the install, read only.
DATA_DIRECTORY: Final = Path(__file__).resolve().parent / "data"
#: Where tokenizer.json files are looked for: beside the package, and in the server's own folder, which outlives
#: every version of the package. Only who may write to the server's library folder can put one there.
JSON_DIRECTORIES: Final = (DATA_DIRECTORY / "hf", Path(__file__).resolve().parents[2] / "pgchunk-tokenizers")

_PATTERNS: Final[dict[str, str]] = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
        r"|\s+(?!\S)|\s"
    ),
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}

TOKENIZER_NAMES: Final = tuple(_PATTERNS)
_HF_NAME: Final = re.compile(r"hf:[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
#: Punctuation that no letter or digit before it shares a token with. Listed, not asked of Unicode tables: those of
#: Python and of the tokenizer may be of different ages.
_SEAM_PUNCTUATION: Final = frozenset('!"#$%&()*+,-.:;<=>?@[\\]^_`{|}~。、！？，．；：「」『』（）【】《》〈〉…—–“”')


class Tokenizer(Protocol):
    """Counts tokens and knows where counts add up."""

    name: str
    #: whether sums over seams are exact; if not, a final text has to be counted whole
    additive: bool
    #: tokens that the model adds to every text, such as [CLS]; part of every count
    overhead: int
    #: no token has more characters
    longest: int

    def count(self, text: str) -> int:
        """Tokens of ``text`` as it stands, special-token text being ordinary text."""

    def ends(self, text: str, start: int = 0) -> Iterable[int]:
        """Ascending offsets, ``start`` more than in ``text``, at which its tokens end.

        A token that ends inside a character counts as ending behind it.
        """

    def is_seam(self, before: str, after: str) -> bool:
        """Whether the tokens never reach from character ``before`` over to character ``after``."""


class BytePairTokenizer:
    """cl100k_base or o200k_base."""

    additive = True
    overhead = 0
    longest = 128

    def __init__(self, name: str) -> None:
        from tiktoken import Encoding  # late: a session that never counts need not load it

        self.name = name
        encoding = Encoding(name=name, pat_str=_PATTERNS[name], mergeable_ranks=_load_ranks(name), special_tokens={})
        self._encode: Callable[[str], list[int]] = encoding.encode_ordinary
        self._characters = _Characters(encoding.decode_single_token_bytes)
        self._slash_joins_lines = name == "o200k_base"

    def count(self, text: str) -> int:
        return len(self._encode(text))

    def ends(self, text: str, start: int = 0) -> Iterable[int]:
        ends = accumulate(map(self._characters.__getitem__, self._encode(text)), initial=start)
        next(ends)
        return ends

    def is_seam(self, before: str, after: str) -> bool:
        if after == " ":
            return not before.isspace()
        if before == "\n" or before == "\r":
            return not after.isspace() and not (after == "/" and self._slash_joins_lines)
        return after in _SEAM_PUNCTUATION and before.isalnum()


class _Characters(dict[int, int]):
    """How many characters begin in a token, by rank; worked out when it is first asked for."""

    def __init__(self, token_bytes: Callable[[int], bytes]) -> None:
        self._token_bytes = token_bytes

    def __missing__(self, rank: int) -> int:
        n = self[rank] = sum(byte & 0xC0 != 0x80 for byte in self._token_bytes(rank))
        return n


class JsonTokenizer:
    """A tokenizer.json of the `tokenizers` library, put into the install directory under a name."""

    additive = False
    longest = sys.maxsize  # an unknown word is one token, however long it is

    def __init__(self, name: str) -> None:
        self.name = name
        file = f"{name.removeprefix('hf:')}.json"
        path = next((folder / file for folder in JSON_DIRECTORIES if (folder / file).is_file()), None)
        if path is None:
            raise TokenizerDataMissing(
                f"tokenizer {name!r} is not installed",
                detail=f"There is no file {file} in the folder pgchunk-tokenizers of the server's library folder.",
                hint=f"Put the model's tokenizer.json there: $(pg_config --pkglibdir)/pgchunk-tokenizers/{file}",
            )
        try:
            from tokenizers import Tokenizer as Backend
        except ImportError as error:
            raise TokenizerDataMissing(
                f"tokenizer {name!r} needs the Python package tokenizers",
                detail="The package is not installed beside pgchunk.",
                hint="Install pgchunk with its extra 'hf'.",
            ) from error
        try:
            backend = Backend.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            raise TokenizerDataMissing(
                f"tokenizer {name!r} cannot be read",
                detail=f"{file}: {error}",
                hint="Put a tokenizer.json of the tokenizers library there.",
            ) from error
        backend.no_truncation()
        backend.no_padding()
        self._backend = backend
        self.overhead: int = backend.num_special_tokens_to_add(is_pair=False)

    def count(self, text: str) -> int:
        return len(self._backend.encode(text).ids)

    def ends(self, text: str, start: int = 0) -> Iterable[int]:
        offsets = self._backend.encode(text, add_special_tokens=False).offsets
        return accumulate((start + end for _, end in offsets), max)

    def is_seam(self, before: str, after: str) -> bool:
        return (after == " " and not before.isspace()) or (before in "\r\n" and not after.isspace())


def is_tokenizer_name(name: str) -> bool:
    """Whether ``name`` is well formed; a well-formed hf:NAME may still not be installed."""
    return name in _PATTERNS or _HF_NAME.fullmatch(name) is not None


@lru_cache(maxsize=8)
def get_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of this name, loaded once a process.

    Raises:
        UnknownTokenizer: the name is none of cl100k_base, o200k_base, hf:NAME.
        TokenizerDataMissing: its data are not installed.
    """
    if not is_tokenizer_name(name):
        raise UnknownTokenizer(
            f"unknown tokenizer {name!r}",
            detail=f"Tokenizers are {', '.join(TOKENIZER_NAMES)} and hf:NAME.",
            hint="A tokenizer.json is named, never given as a path.",
        )
    return BytePairTokenizer(name) if name in _PATTERNS else JsonTokenizer(name)


def count_tokens(text: str, tokenizer: str = "cl100k_base") -> int:
    """Tokens of ``text`` exactly as the named tokenizer counts them; special-token text is ordinary text.

    Raises:
        UnknownTokenizer, TokenizerDataMissing: see `get_tokenizer`.
    """
    return get_tokenizer(tokenizer).count(text)


def _load_ranks(name: str) -> dict[bytes, int]:
    """Reads `data/NAME.ranks`: a count n, n token lengths of one byte, the tokens one after the other by rank."""
    path = DATA_DIRECTORY / f"{name}.ranks"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise TokenizerDataMissing(
            f"data of tokenizer {name!r} are not installed",
            detail=f"There is no file {path.name} in the installed tokenizer data; nothing is ever downloaded.",
            hint="Run `make install` (or `pgchunk install`) again.",
        ) from None
    (n,) = struct.unpack_from("<I", data)
    ends = accumulate(data[4 : 4 + n], initial=4 + n)
    return {data[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}
