"""Put the tokenizer ranks in place as package data, extension/pgchunk/data/NAME.ranks.

tiktoken downloads its ranks on first use; the server never downloads. A wheel on the package index carries
the same files, so an ordinary `pip download` fetches them once, here. Their SHA-256 must be the one tiktoken
expects.

A .ranks file is a little-endian 4-byte count n, n bytes of token lengths, and the n byte strings in rank
order: it loads in a tenth of the time that the base64 text takes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import tempfile
import zipfile
from pathlib import Path

from checkout import PACKAGE, VENV_PYTHON, fail, one_at_a_time, run, say

SOURCE = "bpe-openai==0.1.4"
TIKTOKEN_SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
RANKS_SHA256 = {
    "cl100k_base": "79045c4dbf49c4e3b90893afbcbfd80cf94cf2b99256bd84b19ffcace49d9bd2",
    "o200k_base": "ba55b38e477b631966c2496061ecd7d10108501c7c47358222d9dc27c22f9422",
}
"""Of the files written here; they say without a download whether the data in place are right."""


def target(name: str) -> Path:
    return PACKAGE / "data" / f"{name}.ranks"


def is_in_place(name: str) -> bool:
    path = target(name)
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == RANKS_SHA256[name]


def packed(tiktoken_text: bytes) -> bytes:
    """Turn the lines 'BASE64 RANK' into the .ranks format.

    Raises ValueError when the ranks do not run 0, 1, 2 ... or a token is longer than 255 bytes.
    """
    tokens = []
    for expected, line in enumerate(tiktoken_text.splitlines()):
        token, rank = line.split()
        if int(rank) != expected:
            raise ValueError(f"rank {int(rank)} stands where {expected} was expected")
        tokens.append(base64.b64decode(token))
    return len(tokens).to_bytes(4, "little") + bytes(map(len, tokens)) + b"".join(tokens)


def fetch(folder: Path) -> Path:
    """Download the wheel into folder and return its path."""
    options: list[str | Path] = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder]
    run([VENV_PYTHON, "-m", "pip", "download", *options, SOURCE])
    return next(folder.glob("*.whl"))


def read(wheel: Path, name: str) -> bytes:
    """Return the .tiktoken text of one encoding. Stops when it is not the one tiktoken expects."""
    with zipfile.ZipFile(wheel) as archive:
        text = gzip.decompress(archive.read(f"bpe_openai/data/{name}.tiktoken.gz"))
    if (actual := hashlib.sha256(text).hexdigest()) != TIKTOKEN_SHA256[name]:
        fail(f"{name} from {SOURCE} has SHA-256 {actual}, not {TIKTOKEN_SHA256[name]}")
    return text


def write(name: str, data: bytes) -> None:
    """Write the file beside its place, then rename, so that nobody reads half of it."""
    path = target(name)
    path.parent.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{name}", delete=False) as part:
        part.write(data)
        os.fchmod(part.fileno(), 0o644)
    os.replace(part.name, path)


def main() -> None:
    wanted = [name for name in TIKTOKEN_SHA256 if not is_in_place(name)]
    if not wanted:
        return
    say(f"fetching tokenizer data: {', '.join(wanted)}")
    with tempfile.TemporaryDirectory() as folder:
        wheel = fetch(Path(folder))
        for name in wanted:
            write(name, packed(read(wheel, name)))
            if not is_in_place(name):
                fail(f"{target(name)} is not what was expected; this tool and its source disagree")


if __name__ == "__main__":
    with one_at_a_time():
        main()
