"""`tensorflow.python.layers.utils`: known predicates, and what tensors lead to."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.layers import window_arguments


def test_known_values() -> None:
    known, unknown = window_arguments.constant_value, tf.placeholder(tf.bool, [])
    assert known(tf.constant(5)) == 5
    assert known(1) is True
    assert known(False) is False
    assert known(unknown) is None
    assert known(tf.Variable(True)) is None
    with pytest.raises(TypeError, match="1 or 0"):
        known(5)


def test_what_tensors_lead_to() -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    c, d = a + b, b * 2.0
    e = tf.split(c + d, 2, axis=0)
    find = window_arguments.get_reachable_from_inputs
    assert find([a]) == {a, c, c.consumers()[0].outputs[0], *e}
    assert find([d]) == {d, d.consumers()[0].outputs[0], *e}
    assert find([a], [c]) == {a, c}
