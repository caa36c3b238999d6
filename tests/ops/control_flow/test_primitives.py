"""Gradients of classic control flow that came in a GraphDef."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _cond(x: Any, pred: Any) -> Any:
    off, on = tf.raw_ops.Switch(data=x, pred=pred)
    return tf.raw_ops.Merge(inputs=[-off, on * on])[0]


@pytest.mark.parametrize(
    ("point", "wanted"), [([2.0, 3.0], [4.0, 6.0]), ([-2.0, 3.0], [-1.0, -1.0])]
)
def test_switch_and_merge(point: list[float], wanted: list[float]) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        y = _cond(x, x[0] > 0.0)
        gradient = tf.gradients(y, x)[0]
        np.testing.assert_allclose(sess.run(gradient, {x: point}), wanted)


def test_loops_have_none() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2])
        entered = tf.raw_ops.Enter(data=x, frame_name="loop")
        left = tf.raw_ops.Exit(data=entered)
        with pytest.raises(LookupError, match="came in a GraphDef"):
            tf.gradients(left, x)
