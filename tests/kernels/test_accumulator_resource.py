"""Who waits for gradients is woken when there are enough."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tensorloom.framework import dtypes, errors
from tensorloom.framework.cancellation import CancellationManager
from tensorloom.framework.tensor_shape import SCALAR
from tensorloom.kernels.host.accumulator_resource import DenseAccumulator

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
