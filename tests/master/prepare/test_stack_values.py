"""Stacks that hold one value in every place are not pushed to nor popped from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compile.piece import Piece

Push = Callable[[Any, Any, Any], list[Any]]
STEPS = 3


def _push(stack: Any, value: Any) -> Any:
    return tf.raw_ops.StackPushV2(handle=stack, elem=value)


def _loops(x: Any, dtype: Any, push: Push) -> Any:
    """Pushes in one loop; the sums of what another one pops, [STEPS, ...]."""
    stack = tf.raw_ops.StackV2(max_size=-1, elem_type=dtype)

    def forward(i: Any) -> Any:
        with tf.control_dependencies(push(stack, i, x)):
            return i + 1

    def backward(i: Any, found: Any) -> Any:
        popped = tf.raw_ops.StackPopV2(handle=stack, elem_type=dtype)
        return i - 1, found.write(STEPS - i, popped)

    count = tf.while_loop(lambda i: i < STEPS, forward, [tf.constant(0)])
    found = tf.TensorArray(dtype, STEPS, infer_shape=False)
    return tf.while_loop(lambda i, _: i > 0, backward, [count, found])[1].stack()


def _shape(stack: Any, i: Any, x: Any) -> list[Any]:
    return [_push(stack, tf.shape(x))]


def _counter(stack: Any, i: Any, x: Any) -> list[Any]:
    return [_push(stack, i)]


def _elements(stack: Any, i: Any, x: Any) -> list[Any]:
    return [_push(stack, x * tf.cast(i, tf.float32))]


def _one_of_two(stack: Any, i: Any, x: Any) -> list[Any]:
    return [
        tf.cond(
            tf.equal(i, 1),
            lambda: _push(stack, tf.shape(x)[0]),
            lambda: _push(stack, tf.shape(x)[1]),
        )
    ]


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[Piece]:
    """What is compiled while the test runs."""
    made: list[Piece] = []
    start = Piece.__init__

    def init(self: Piece, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        start(self, *args, **kwargs)

    monkeypatch.setattr(Piece, "__init__", init)
    return made


@pytest.mark.parametrize(
    ("push", "dtype", "stays", "expected"),
    [
        (_shape, tf.int32, False, lambda x: [x.shape] * STEPS),
        (_counter, tf.int32, True, lambda x: [2, 1, 0]),
        (_elements, tf.float32, True, lambda x: [x * 2, x, x * 0]),
        (_one_of_two, tf.int32, True, lambda x: [3, len(x), 3]),
    ],
)
def test_what_is_popped(
    pieces: list[Piece],
    push: Push,
    dtype: Any,
    stays: bool,
    expected: Callable[[Any], Any],
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3])
        popped = _loops(x, dtype, push)
        for rows in (2, 2, 5):
            fed = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
            found = sess.run(popped, {x: fed})
            np.testing.assert_array_equal(found, expected(fed))
            if len(pieces) == 1:  # compiled for the first shape
                assert ("StackPush" in _ops(pieces[0])) == stays
    assert len(pieces) == 2


def _ops(piece: Piece) -> str:
    nodes = [code.node_at(n) for code in piece.codes for n in range(1, 400)]
    return " ".join(node.op for node in nodes if node is not None)


def test_an_empty_stack_is_an_error_outside_of_loops() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        stack = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.int32)
        with tf.control_dependencies([_push(stack, tf.shape(x))]):
            first = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.int32)
        with tf.control_dependencies([first]):
            second = tf.raw_ops.StackPopV2(handle=stack, elem_type=tf.int32)
        assert sess.run(first, {x: [1, 2]}).tolist() == [2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
            sess.run(second, {x: [1, 2]})
