"""Quantized values, ranges and gradients are TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import pytest

import tensorloom as tf
from tests.ops.quantize_cases import CASES
from tests.ops.recorded_cases import differences, observe, read

EXPECTED = read(Path(__file__).parent / "recorded" / "quantize_cases.txt")


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name: str) -> None:
    problems = differences(observe(tf, CASES[name]), EXPECTED[name], 1e-5, 1e-6)
    assert not problems, "\n".join(problems)
