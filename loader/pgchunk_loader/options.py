"""The options of a strategy as they are written on a command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, Final

from pgchunk import Strategy
from pgchunk_loader.problems import UnusableError

_DEFAULTS: Final = {field.name: field.default for field in fields(Strategy)}
_NUMBERS: Final = re.compile(r"\d{1,9}(\s*,\s*\d{1,9})*")
_TRUTH: Final = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}

HOW_TO_WRITE: Final = "Write --option max_tokens=256, --option split_levels=1,2 or --option include_title=no."


def parse_options(given: Iterable[str]) -> dict[str, Any]:
    """Options by name from NAME=VALUE; of a name given twice the last counts.

    The value is JSON; a list of numbers may stand without brackets, a text without quotes, and yes, no, on and off are
    truth values. Whether there is such an option and the value is in its range is left to the strategy.

    Raises:
        UnusableError: there is no '='.
    """
    options = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals:
            raise UnusableError(f"--option {each!r} is not NAME=VALUE", HOW_TO_WRITE)
        options[name.strip()] = _value(value, _DEFAULTS.get(name.strip()))
    return options


def _value(text: str, default: object) -> Any:
    if isinstance(default, bool) and text.strip().lower() in _TRUTH:
        return _TRUTH[text.strip().lower()]
    if isinstance(default, tuple) and _NUMBERS.fullmatch(text.strip()):
        return [int(number) for number in text.split(",")]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(default, str) and not isinstance(value, str) else value
