"""Random ops take the seeds from the graph's seed that they take in TensorFlow 1.15.

Whatever adds another number of operations than TensorFlow gives all random ops after it
other numbers, so each line of the record is also a check of how much a builder adds.
"""

from __future__ import annotations

import pytest

import tensorloom as tf
from tests.client.derived_seeds import describe, read

PROGRAMS = read()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(32))
def test_seeds_are_tensorflows(part: int) -> None:
    wrong = [
        f"{program}\n  got      {got}\n  expected {expected}"
        for program, expected in PROGRAMS[part::32]
        if (got := describe(tf, program)) != expected
    ]
    assert not wrong, f"{len(wrong)} programs\n" + "\n".join(wrong)
