"""Makes .bench/venv, the environment of the benchmarks, and .bench/tiktoken, the ranks in the form tiktoken reads.

Does nothing when both are there. Nothing is downloaded but wheels: the ranks are the product's own data.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import sys
from itertools import accumulate, pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

from checkout import PACKAGE, REQUIREMENTS, ROOT, VENV_PYTHON, one_at_a_time, run, say

FOLDER = ROOT / ".bench"
PYTHON = FOLDER / "venv" / "bin" / "python"
CACHE = FOLDER / "tiktoken"
STAMP = FOLDER / "venv" / "made-from"
PINS = ROOT / "bench" / "requirements.txt"
#: tiktoken looks for a file that is named by the SHA-1 of the address it would be fetched from.
ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = hashlib.sha256(PINS.read_bytes() + REQUIREMENTS.read_bytes()).hexdigest()
    if not STAMP.exists() or STAMP.read_text() != wanted:
        say("making .bench/venv")
        run([VENV_PYTHON, "-m", "venv", "--clear", FOLDER / "venv"])
        run([PYTHON, "-m", "pip", "install", "--quiet", "-r", PINS])
        STAMP.write_text(wanted)
    ranks = CACHE / hashlib.sha1(ADDRESS.encode(), usedforsecurity=False).hexdigest()
    if not ranks.exists():
        CACHE.mkdir(exist_ok=True)
        ranks.write_bytes(tiktoken_text((PACKAGE / "data" / "cl100k_base.ranks").read_bytes()))


def tiktoken_text(ranks: bytes) -> bytes:
    """The lines 'BASE64 RANK' of a .ranks file, which tools/tokenizer_data.py describes."""
    (n,) = struct.unpack_from("<I", ranks)
    ends = accumulate(ranks[4 : 4 + n], initial=4 + n)
    return b"".join(b"%s %d\n" % (base64.b64encode(ranks[a:b]), rank) for rank, (a, b) in enumerate(pairwise(ends)))


if __name__ == "__main__":
    with one_at_a_time():
        main()
