"""Recipes as rows of ``pgchunk.recipes``: what a recipe_hash stands for."""

from __future__ import annotations

import json
from typing import Any, Final

from pgchunk.frontmatter import BYTE_ORDER_MARK, body_start
from pgchunk.server.database import Database
from pgchunk.server.errors import reported
from pgchunk.strategy import CHUNKER_VERSION, OPTION_NAMES, Strategy

#: They change no chunk, so that they are in no recipe.
_NO_PART: Final = ("parser", "max_document_bytes")


def options(strategy: Strategy) -> dict[str, Any]:
    """The options that the strategy's recipe_hash is made of, with the values in force."""
    in_force = {
        "target_tokens": strategy.target,
        "min_tokens": strategy.min,
        "overlap_tokens": strategy.overlap_limit,
        "heading_path_tokens": strategy.heading_path_limit,
    }
    return {name: getattr(strategy, name) for name in OPTION_NAMES if name not in _NO_PART} | in_force


def record(db: Database, strategy: Strategy, *, shipped: bool) -> None:
    """Writes down the strategy's recipe, once.

    Args:
        shipped: whether CREATE EXTENSION of this version writes it too.
    """
    db.fetch(
        "INSERT INTO pgchunk.recipes AS r (recipe_hash, chunker_version, options, shipped) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (recipe_hash) DO UPDATE SET shipped = true WHERE NOT r.shipped",
        ["text", "integer", "jsonb", "boolean"],
        strategy.recipe_hash,
        CHUNKER_VERSION,
        json.dumps(options(strategy)),
        shipped,
    )


def forget_shipped(db: Database) -> None:
    """Makes recipes that an older version shipped like any other; those of this version are recorded after."""
    db.fetch("UPDATE pgchunk.recipes SET shipped = false WHERE shipped")


@reported
def has_text(_db: Database, content: str | None, format: str | None) -> bool:
    """Whether a document gets any chunks, whatever the strategy.

    Args:
        content: None counts as blank.
        format: 'markdown' or 'text'; None: markdown.
    """
    text = content or ""
    start = body_start(text) if format in (None, "markdown") else len(text) - len(text.lstrip(BYTE_ORDER_MARK))
    body = text[start:]
    return bool(body) and not body.isspace()
