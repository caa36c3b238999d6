"""Random programs have one result: with passes, without, on two devices, plainly run.

`make fuzz` runs many more; what it finds is shrunk and kept in `found.json`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.fuzz.agreement import between
from tests.fuzz.modes import ALL_PASSES, ALONE, DEVICES, INTERPRETED, MODES
from tests.fuzz.programs import random_program

COUNT = int(os.environ.get("FUZZ_PROGRAMS", "200"))
FOUND = [
    [tuple(statement) for statement in program]
    for program in json.loads((Path(__file__).parent / "found.json").read_text())
]


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_random_program(seed: int) -> None:
    modes = [ALL_PASSES, (DEVICES, INTERPRETED)[seed % 2], ALONE[seed % len(ALONE)]]
    assert not between(modes)(random_program(seed, length=10))


@pytest.mark.parametrize("program", FOUND, ids=range(len(FOUND)))
def test_a_program_that_differed(program: list[tuple[int, ...]]) -> None:
    assert not between(MODES)(program)
