"""Figures of explanations, held against what is measured without them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ROWS = np.ones([100, 200], np.float32)


@contextmanager
def watched(set_watcher: Callable[[Any], None], watcher: Any) -> Iterator[None]:
    """Has a function called by Python as its program goes on, in new threads, too."""
    is_trace = set_watcher is sys.settrace
    before = (sys.gettrace if is_trace else sys.getprofile)()
    of_threads = threading.settrace if is_trace else threading.setprofile
    set_watcher(watcher)
    of_threads(watcher)
    try:
        yield
    finally:
        of_threads(None)  # type: ignore[arg-type]
        set_watcher(before)


def training_step() -> tuple[Any, tf.Tensor]:
    """A step whose values share buffers (transposed, reshaped), and its placeholder."""
    x = tf.placeholder(tf.float32, [100, 200], name="x")
    h = tf.layers.dense(x, 300, tf.nn.relu)
    h = tf.transpose(tf.reshape(h, [300, 100]))
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 50, tf.nn.tanh)))
    return [tf.train.GradientDescentOptimizer(0.1).minimize(loss), loss], x


def bytes_of_locals(frame: FrameType, *, without: int) -> int:
    """The bytes of the buffers that a frame's variables hold, each once."""
    import torch

    found: dict[int, int] = {}
    for value in frame.f_locals.values():
        if isinstance(value, torch.Tensor):
            storage = value.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
        elif isinstance(value, np.ndarray):
            while isinstance(value.base, np.ndarray):
                value = value.base
            found[value.ctypes.data] = value.nbytes
    found.pop(without, None)
    return sum(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("is_resource", [False, True])
def test_the_peak_is_what_the_program_holds_line_by_line(is_resource: bool) -> None:
    with tf.variable_scope("net", use_resource=is_resource):
        fetches, x = training_step()
    held: list[int] = []

    def of_line(frame: FrameType, event: str, value: Any) -> Any:
        held.append(bytes_of_locals(frame, without=ROWS.ctypes.data))
        return of_line

    def of_call(frame: FrameType, event: str, value: Any) -> Any:
        return of_line if frame.f_code.co_filename.startswith("<piece") else None

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        (memory,) = sess.explain(fetches, {x: ROWS}).memory.devices
        with watched(sys.settrace, of_call):
            sess.run(fetches, {x: ROWS})
    assert memory.peak == max(held) > 300_000
    variables = sum(4 * v.shape.num_elements() for v in tf.trainable_variables())
    assert memory.held == variables + ROWS.nbytes


def test_a_step_that_nobody_explains_calls_what_it_called_before() -> None:
    x = tf.placeholder(tf.float32, [100, 200], name="x")
    total = tf.reduce_sum(tf.tanh(x))
    nothing = tf.no_op()

    def calls(run: Callable[[], Any]) -> list[str]:
        found: list[str] = []

        def note(frame: FrameType, event: str, value: Any) -> None:
            if event == "call":
                found.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

        with watched(sys.setprofile, note):
            run()
        return found

    with tf.Session() as sess:
        steps = [
            lambda: sess.run(nothing),
            lambda: sess.run(total, {x: ROWS}),
        ]
        for step in steps:
            for _ in range(3):
                step()
            before = calls(step)
            assert sess.explain(total, {x: ROWS}).stages
            step()
            assert calls(step) == before
            assert not [
                c for c in before if "tensorloom/inspect/" in c or "journal" in c
            ]
