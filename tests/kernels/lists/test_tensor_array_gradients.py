"""What arrays of gradients hold where no gradient was written (TensorFlow 1.15's)."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf

raw = tf.raw_ops


def gradient_array(
    writes: list[Any], later: list[Any], clear: bool = False
) -> tuple[Any, Any]:
    """Handle and flow of the gradients beside an array of 3 elements of any shape."""
    handle, flow = raw.TensorArrayV3(
        size=3, dtype=tf.float32, clear_after_read=clear, tensor_array_name="ta"
    )
    for index, value in writes:
        flow = raw.TensorArrayWriteV3(
            handle=handle, index=index, value=value, flow_in=flow
        )
    reads = [
        raw.TensorArrayReadV3(handle=handle, index=i, flow_in=flow, dtype=tf.float32)
        for i, _ in writes
        if clear
    ]
    with tf.control_dependencies(reads):
        grad, flow = raw.TensorArrayGradV3(handle=handle, flow_in=flow, source="g")
    for index, value in later:
        flow = raw.TensorArrayWriteV3(
            handle=grad, index=index, value=value, flow_in=flow
        )
    return grad, flow


@pytest.mark.parametrize(
    ("writes", "later", "index", "wanted"),
    [
        ([(1, [1.0, 2.0])], [], 1, [0.0, 0.0]),
        ([(1, [1.0, 2.0]), (2, [[3.0]])], [], 2, [[0.0]]),
        ([(1, [1.0, 2.0])], [(1, [1.0, 1.0])] * 2, 1, [2.0, 2.0]),
        ([(1, [1.0, 2.0])], [(0, [1.0])], 0, [1.0]),
    ],
)
@pytest.mark.parametrize("clear", [False, True])
def test_reads(
    writes: list[Any], later: list[Any], index: int, wanted: Any, clear: bool
) -> None:
    handle, flow = gradient_array(writes, later, clear)
    value = raw.TensorArrayReadV3(
        handle=handle, index=index, flow_in=flow, dtype=tf.float32
    )
    with tf.Session() as sess:
        assert sess.run(value).tolist() == wanted


@pytest.mark.parametrize(
    ("later", "index", "message"),
    [
        ([], 0, "Could not read from TensorArray index 0"),
        ([(1, [1.0])], 1, r"existing shape is \[2\] but the new input shape is \[1\]"),
    ],
)
def test_refusals(later: list[Any], index: int, message: str) -> None:
    handle, flow = gradient_array([(1, [1.0, 2.0])], later)
    value = raw.TensorArrayReadV3(
        handle=handle, index=index, flow_in=flow, dtype=tf.float32
    )
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        sess.run(value)


def test_parts_of_a_split_of_any_shape() -> None:
    x = tf.reshape(tf.range(12.0), [6, 2])
    array = tf.TensorArray(tf.float32, 3, infer_shape=False).split(x, [1, 2, 3])
    slope = tf.gradients(array.read(1), x)[0]
    with tf.Session() as sess:
        assert sess.run(slope)[:, 0].tolist() == [0, 1, 1, 0, 0, 0]


def test_gradients_with_a_dimension_in_front() -> None:
    handle, flow = raw.TensorArrayV3(size=1, dtype=tf.float32)
    flow = raw.TensorArrayWriteV3(
        handle=handle, index=0, value=[1.0, 2.0], flow_in=flow
    )
    grad, flow = raw.TensorArrayGradWithShape(
        handle=handle, flow_in=flow, shape_to_prepend=[3], source="g"
    )
    value = raw.TensorArrayReadV3(handle=grad, index=0, flow_in=flow, dtype=tf.float32)
    with tf.Session() as sess:
        assert sess.run(value).shape == (3, 2)
