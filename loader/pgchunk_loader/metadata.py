"""Front matter to the metadata of a document, in values that JSON has and PostgreSQL's jsonb takes."""

from __future__ import annotations

import base64
import datetime
import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from pgchunk.frontmatter import FrontMatterError, load_front_matter, split_front_matter

#: Metadata keys that belong to pgchunk; the first can be set in front matter, the second only by the loader.
STRATEGY_KEY: Final = "pgchunk.strategy"
ROOT_KEY: Final = "pgchunk.root"

#: Limits on front matter, so that a few lines of YAML aliases cannot become gigabytes.
MAX_VALUES: Final = 20_000
MAX_DEPTH: Final = 64

#: What JSON can write and jsonb cannot store.
_NOT_IN_JSONB: Final = re.compile("[\0\ud800-\udfff]")

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def metadata_of(text: str) -> dict[str, Json]:
    """The front matter of a document as a JSON object; empty when there is none.

    Dates and times become ISO 8601 text, binary values base64, sets lists, infinities and keys text.

    Raises:
        FrontMatterError: it is not valid YAML or TOML, not a mapping, or larger than metadata may be.
    """
    found = split_front_matter(text)
    if found is None:
        return {}
    values = load_front_matter(found)
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise FrontMatterError("it holds no keys and values")
    try:
        safe = _Jsonable().mapping(values, 0)
        json.dumps(safe, allow_nan=False)
    except (ValueError, RecursionError) as error:
        raise FrontMatterError(str(error)) from None
    safe.pop(ROOT_KEY, None)
    return safe


class _Jsonable:
    """Turns the values of YAML and TOML into JSON's, and counts them."""

    def __init__(self) -> None:
        self._left = MAX_VALUES

    def mapping(self, values: Mapping[Any, Any], depth: int) -> dict[str, Json]:
        return {self._key(key): self.value(value, depth + 1) for key, value in values.items()}

    def value(self, value: Any, depth: int) -> Json:
        self._left -= 1
        if self._left < 0:
            raise FrontMatterError(f"it holds more than {MAX_VALUES:,} values")
        if depth > MAX_DEPTH:
            raise FrontMatterError(f"it is nested more than {MAX_DEPTH} deep")
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, set | frozenset):
            return [self.value(item, depth + 1) for item in sorted(value, key=str)]
        return _scalar(value)

    def _key(self, key: Any) -> str:
        scalar = _scalar(key)
        return scalar if isinstance(scalar, str) else json.dumps(scalar)


def _scalar(value: Any) -> Json:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return _NOT_IN_JSONB.sub("\ufffd", str(value))
