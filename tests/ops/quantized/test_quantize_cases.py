"""Quantized values, ranges and gradients are TensorFlow's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tensorloom as tf
from tests.ops.quantized.quantize_cases import CASES
from tests.ops.recorded_cases import differences, observe, read

EXPECTED = read(Path(__file__).parents[1] / "recorded" / "quantize_cases.txt")


@pytest.mark.parametrize("name", CASES)
def test_as_in_tensorflow(name: str) -> None:
    problems = differences(observe(tf, CASES[name]), EXPECTED[name], 1e-5, 1e-6)
    assert not problems, "\n".join(problems)


def test_the_range_of_sums_rounds_its_minimum_in_float32() -> None:
    sums = tf.bitcast(tf.constant([-75754, 0, 44617]), tf.qint32)
    bounds = tf.raw_ops.RequantizationRange(
        input=sums, input_min=-66051.02, input_max=66051.02
    )
    with tf.Session() as session:
        low, high = session.run(bounds)
    assert low == np.float32(-2.329981)
    assert high == np.float32(1.3723185)
