"""Who waits for gradients is woken when there are enough."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.framework.runtime.cancellation import CancellationManager
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.kernels.host.queues.accumulator_resource import DenseAccumulator

TIMEOUT_S = 60


def _accumulator() -> DenseAccumulator:
    return DenseAccumulator("localhost", "a", dtypes.float32, SCALAR, True)


def _take(accumulator: DenseAccumulator, required: int, into: list[Any]) -> Any:
    context: Any = SimpleNamespace(cancellation=CancellationManager())

    def run() -> None:
        try:
            into.append(float(accumulator.take(required, context)))
        except errors.CancelledError as error:
            into.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    while not accumulator._wanted and thread.is_alive():
        pass
    return thread, context


@pytest.mark.parametrize("required", [1, 2, 3])
def test_a_take_waits_for_enough(required: int) -> None:
    accumulator = _accumulator()
    taken: list[Any] = []
    thread, _ = _take(accumulator, required, taken)
    for value in range(required):
        assert taken == []
        accumulator.apply(0, np.float32(value))
    thread.join(TIMEOUT_S)
    assert taken == [(required - 1) / 2]
    assert accumulator._wanted == []


def test_a_cancelled_take_wants_nothing_more() -> None:
    accumulator = _accumulator()
    taken: list[Any] = []
    thread, context = _take(accumulator, 2, taken)
    context.cancellation.cancel(errors.CancelledError(None, None, "enough"))
    thread.join(TIMEOUT_S)
    assert isinstance(taken[0], errors.CancelledError)
    assert accumulator._wanted == []


def test_a_sum_is_the_accumulators_own() -> None:
    shape = TensorShape.of((2,))
    accumulator = DenseAccumulator("localhost", "a", dtypes.float32, shape, True)
    context: Any = SimpleNamespace(cancellation=CancellationManager())
    first, second = np.float32([1, 2]), np.float32([3, 6])
    accumulator.apply(0, first)
    accumulator.apply(0, second)
    mean = accumulator.take(2, context)
    accumulator.apply(1, second)
    assert mean.tolist() == [2, 4]
    assert (first.tolist(), second.tolist()) == ([1, 2], [3, 6])


@pytest.mark.parametrize("known", [None, (None, None), (None, 2)])
def test_gradients_of_one_step_have_one_shape(known: Any) -> None:
    """TensorFlow 1.15 says the same."""
    shape = TensorShape.of(known)
    accumulator = DenseAccumulator("localhost", "a", dtypes.float32, shape, True)
    accumulator.apply(0, np.ones((1, 2), np.float32))
    with pytest.raises(
        errors.InvalidArgumentError,
        match=r"Shape mismatch: expected \[1,2\], got \[4,2\]",
    ):
        accumulator.apply(0, np.ones((4, 2), np.float32))


def test_shapes_of_sparse_gradients() -> None:
    known = tf.SparseConditionalAccumulator(tf.float32, shape=[2, None])
    values = np.ones([1, 2, 2, 2], np.float32)
    with tf.Session() as sess:
        sess.run(known.apply_grad([0], values))
        gradient = known.take_indexed_slices_grad(1)
        assert sess.run(gradient.dense_shape).tolist() == [2, 2, 2, 2]
        short = known.apply_grad([0], values[:, 0], grad_shape=[2], local_step=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape rank at least"):
            sess.run(short)
