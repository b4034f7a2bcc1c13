"""The page as HTML: one file that loads nothing, and in which nothing of the document can run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Final

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from pgchunk_loader.inspect.model import HEIGHTS, Page

#: What the meta element of a page says about its maker; a file that has it may be replaced.
GENERATOR: Final = "pgchunk inspect"


def render(page: Page) -> str:
    """The page as a complete HTML document, the same for the same page."""
    style, script = Markup(_file("page.css") + _heights()), Markup(_file("page.js"))
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    template = _environment().from_string(_file("page.html.j2"))
    return template.render(page=page, style=style, script=script, policy=policy, generator=GENERATOR)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["verbatim"] = verbatim
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment


def verbatim(text: str) -> Markup:
    """Escapes a text so that a browser has exactly these characters: by itself it would change line ends."""
    return Markup(str(escape(text)).replace("\r", "&#13;"))


def _heights() -> str:
    """The heights that a browser assumes of segments it has not laid out."""
    return "".join(f".e{step}{{--lines:{lines}}}\n" for step, lines in enumerate(HEIGHTS) if step)


def _hash(text: str) -> str:
    """A source of the content security policy: this style or script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _file(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
