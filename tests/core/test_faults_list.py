"""Every reported fault has a test that is named for it."""

from __future__ import annotations

import re
from pathlib import Path

NUMBERS = {"b": 85, "r": 11}


def test_every_reported_fault_has_a_test():
    named = {
        found
        for path in Path(__file__).parent.glob("test_faults_*.py")
        for found in re.findall(r"^def test_([br]\d\d)_", path.read_text("utf-8"), re.MULTILINE)
    }
    assert named == {f"{letter}{i:02}" for letter, last in NUMBERS.items() for i in range(1, last + 1)}
