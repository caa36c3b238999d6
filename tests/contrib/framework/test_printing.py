"""`print_op`: the nodes of TensorFlow 1.15, and what is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.framework.printing import print_op


def _words(op: Any) -> list[str]:
    """What the inputs of a Print node are: texts, or names."""
    return [
        str(tf.get_static_value(t).item().decode())
        if t.dtype == tf.string
        else t.op.name  # a value
        for t in op.inputs
    ]


def _array() -> Any:
    return tf.TensorArray(tf.int32, 2, clear_after_read=False).write(0, 1).write(1, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: tf.placeholder(tf.bool, [None, 2]),
            [
                "Placeholder",
                "Name: Placeholder:0",
                "Type: Tensor (bool)",
                "Shape: [Dimension(None), Dimension(2)]",
                "First True in Boolean tensor at:",
                "ArgMax",
                "Value:",
                "Placeholder",
            ],
        ),
        (lambda: tf.Variable(1.0), ["Variable/read", "Type: Variable (float32_ref)"]),
    ],
)
def test_what_a_tensor_tells(make: Callable[[], Any], words: list[str]) -> None:
    result = print_op(make())
    assert result.op.type == "Print"
    assert _words(result.op) == words


def test_data_and_settings() -> None:
    result = print_op(
        tf.constant(1), [tf.constant(2)], "note", 3, 4, False, False, False
    )
    assert _words(result.op) == ["Const", "Value:", "Const", "Value:", "Const_1"]
    attrs = [result.op.get_attr(n) for n in ("message", "first_n", "summarize")]
    assert attrs == [b"note", 3, 4]


def test_values_pass() -> None:
    sparse = tf.SparseTensor([[0, 1]], [5], [1, 2])
    with tf.Session() as session:
        dense = tf.sparse.to_dense(print_op(sparse))
        assert session.run(dense).tolist() == [[0, 5]]
        assert session.run(print_op(_array()).stack()).tolist() == [1, 2]
        assert session.run(print_op(tf.constant(np.int32(3)))) == 3


@pytest.mark.parametrize("value", [None, 3, "x"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="must be"):
        print_op(value)
