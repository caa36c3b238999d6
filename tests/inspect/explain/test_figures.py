"""Figures of explanations, held against what is measured without them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.inspect.explain.html_page import page
from tests.inspect.explain.test_html_page import data_of

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


def test_times_lie_between_a_clock_within_the_nodes_and_one_around_the_step() -> None:
    within: list[tuple[float, float]] = []

    def slow(a: Any) -> Any:
        begin = time.perf_counter()
        inverse = np.linalg.inv(np.eye(60) + a[0])
        within.append((begin, time.perf_counter()))
        return a + inverse[0, 0].astype(np.float32)

    x = tf.placeholder(tf.float32, [1], name="x")
    again = lambda i, y: (i + 1, tf.reshape(tf.py_func(slow, [y], tf.float32), [1]))
    _, y = tf.while_loop(lambda i, _: i < 3, again, [0, x])
    with tf.Session() as sess:
        sess.run(y, {x: [1.0]})
        within.clear()
        begin = time.perf_counter()
        e = sess.explain(y, {x: [1.0]})
        around = time.perf_counter() - begin
    assert e.times is not None
    (node,) = [n for n in e.times.nodes if n.op == "PyFunc"]
    assert node.runs == len(within) == 3
    assert sum(end - start for start, end in within) <= node.seconds
    assert within[-1][1] - within[0][0] <= e.times.step <= around
    # The page has the same, run by run, in microseconds since the step began.
    data = data_of(page(e))
    named = [t for t in data["trace"] if data["strings"][t[0]] == node.node]
    for (start, end), told in zip(within, named, strict=True):
        assert (end - start) * 1e6 <= told[5] + 0.1
    starts = [told[4] for told in named]
    ends = [start + told[5] for start, told in zip(starts, named, strict=True)]
    assert all(a <= b + 0.1 for a, b in zip(ends, starts[1:], strict=False))
    assert max(t[4] + t[5] for t in data["trace"]) == pytest.approx(
        e.times.step * 1e6, abs=0.2
    )
