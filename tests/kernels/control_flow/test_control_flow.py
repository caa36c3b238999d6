"""What a failed Assert shows of its data, as TensorFlow 1.15 printed it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.control_flow.control_flow import summarize


@pytest.mark.parametrize(
    ("value", "limit", "text"),
    [
        (np.float32(1.1), 3, "1.1"),
        (np.float64(1 / 3), 3, "0.33333333333333331"),
        (np.array([1 / 3, 1e-7, 123456.789], np.float32), 5, None),
        (np.array([np.inf, np.nan, 1e10], np.float32), 5, "inf nan 1e+10"),
        (np.float16(0.1), 3, "0.0999755859"),
        (np.array([True, False]), 3, "1 0"),
        (np.arange(6).reshape(2, 3), 4, "[0 1 2][3...]..."),
        (np.arange(6).reshape(2, 3), -1, "[0 1 2][3 4 5]"),
        (np.zeros((2, 2, 2)), 5, "[[0 0][0 0]][[0...]]..."),
        (np.array([1, 2, 3, 4]), 3, "1 2 3..."),
        (np.zeros((0, 3)), 3, ""),
        (np.array([b"a", b"it's\n"], object), 3, "a it\\'s\\n"),
        (np.array(b"\xc3\xa9", object), 3, "\\303\\251"),
    ],
)
def test_summarize(value: Any, limit: int, text: str | None) -> None:
    expected = "0.333333343 1e-07 123456.789" if text is None else text
    assert summarize(value, limit) == expected


def test_a_failed_assertion_shows_its_data() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        condition = tf.placeholder(tf.bool, [])
        check = tf.Assert(condition, ["bad", np.arange(5, dtype=np.int32)])
        assert session.run(check, {condition: True}) is None
        with pytest.raises(tf.errors.InvalidArgumentError) as error:
            session.run(check, {condition: False})
    assert "assertion failed: [bad] [0 1 2...]" in str(error.value)
    assert error.value.op is check
