"""pgchunk: structure-aware chunking of documents for retrieval.

The core is a pure function of text, title and strategy. It runs the same inside PostgreSQL, as the extension of this
name, and outside.
"""

from pgchunk._version import __version__
from pgchunk.chunker import Chunk, chunk, outline
from pgchunk.sections import Heading
from pgchunk.strategy import STRATEGIES, Strategy
from pgchunk.tokenizers import count_tokens

__all__ = ["STRATEGIES", "Chunk", "Heading", "Strategy", "__version__", "chunk", "count_tokens", "outline"]
