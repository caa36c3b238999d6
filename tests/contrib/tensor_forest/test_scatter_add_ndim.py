"""`tensor_forest_ops.scatter_add_ndim`: values and errors are TensorFlow 1.15's."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ops = importlib.import_module(
    "tensorloom.contrib.tensor_forest.python.ops.tensor_forest_ops"
)
CUBE = np.arange(1.0, 13.0, dtype=np.float32).reshape(2, 2, 3)


def run(start: Any, indices: Any, deltas: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.Variable(start)
        op = ops.scatter_add_ndim(variable, indices, deltas)
        assert (op.name, op.outputs) == ("ScatterAddNdim", [])
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        return sess.run(variable)


@pytest.mark.parametrize(
    ("start", "indices", "deltas", "added"),
    [
        ([1.0, 2.0, 3.0], [[1], [1]], [100.0, 200.0], [0, 300, 0]),
        (
            CUBE,
            [[0, 0, 1], [1, 1, 2]],
            [100.0, 200.0],
            [[[0, 100, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 200]]],
        ),
        (
            CUBE,
            [[0, 0], [1, 1]],
            [[100.0, 200.0, 300.0], [1.0, 2.0, 3.0]],
            [[[100, 200, 300], [0, 0, 0]], [[0, 0, 0], [1, 2, 3]]],
        ),
        (CUBE, [], [], np.zeros([2, 2, 3])),
    ],
)
def test_adds(start: Any, indices: Any, deltas: Any, added: Any) -> None:
    assert run(start, indices, deltas).tolist() == (start + np.array(added)).tolist()


@pytest.mark.parametrize(
    ("indices", "deltas", "message"),
    [
        ([[0, 0, 1], [1, 1, 2]], [1.0], "Number of updates should be same as number"),
        ([[0, 0], [1, 1]], [1.0, 2.0], "Number of indices dimensions should be the"),
        ([0, 1], [1.0, 2.0], "indices should be two-dimensional"),
        # There TensorFlow writes elsewhere, or beyond the variable.
        ([[0, 0, 5]], [1.0], r"indices\[0\] = \[0, 0, 5\] does not index into shape"),
        ([[0], [1]], np.ones([2, 3, 2], np.float32), "Must have updates.shape"),
    ],
)
def test_refuses(indices: Any, deltas: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(CUBE, indices, deltas)
