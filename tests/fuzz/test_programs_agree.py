"""Random programs have one result: with passes, without, on two devices, plainly run.

`make fuzz` runs many more; what it finds is shrunk and kept in `found/`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.agreement import between
from tests.fuzz.modes import (
    ALL_PASSES,
    ALONE,
    DEVICES,
    INTERPRETED,
    INTERPRETED_DEVICES,
)
from tests.fuzz.programs import random_program, render

COUNT = int(os.environ.get("FUZZ_PROGRAMS", "200"))
FOUND = sorted((Path(__file__).parent / "found").glob("*.txt"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_random_program(seed: int) -> None:
    modes = [
        ALL_PASSES,
        (DEVICES, INTERPRETED, INTERPRETED_DEVICES)[seed % 3],
        ALONE[seed % len(ALONE)],
    ]
    assert not between(modes)(render(random_program(seed, length=10)))


@pytest.mark.parametrize("program", FOUND, ids=lambda path: path.stem)
def test_a_program_that_differed(program: Path) -> None:
    modes = [ALL_PASSES, DEVICES, INTERPRETED, INTERPRETED_DEVICES]
    assert not between(modes)(program.read_text())
