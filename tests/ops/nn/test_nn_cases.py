"""Neural network ops give TensorFlow's values and error classes."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.ops.nn.nn_cases import CASES
from tests.ops.recorded_cases import differences, observe, read

EXPECTED = read(Path(__file__).parents[1] / "recorded" / "nn_cases.txt")


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name: str) -> None:
    problems = differences(observe(tf, CASES[name]), EXPECTED[name], 2e-4, 2e-5)
    assert not problems, "\n".join(problems)
