"""Steps that an event loop runs itself."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.serving.manager import quick_steps
from tensorloom.serving.manager.quick_steps import QuickSteps, plain_outputs
from tensorloom.serving.manager.servable import Servable
from tensorloom.serving.manager.signature import decode_signatures
from tests.serving import models

if TYPE_CHECKING:
    from tests.serving.servers import Served

ROW, ROWS = [np.zeros(1)], [np.zeros(2)]


def test_a_slow_step_counts_at_once() -> None:
    """Steps of the same shapes are quick when they were, but for a few."""
    steps = QuickSteps({"y:0"})

    def is_quick(value: Any = ROW[0], fetch: str = "y:0") -> bool:
        return steps.has({"x:0": value}, [fetch])

    def note(
        seconds: float,
        values: list[Any] = ROW,
        fetch: str = "y:0",
        result: list[Any] = ROW,
    ) -> None:
        steps.note(("x:0",), [fetch], values, seconds, result)

    note(1e-5)
    note(1e-5)
    assert not is_quick()
    note(1e-5)
    assert is_quick()
    assert not is_quick(ROWS[0])
    note(1.0, ROWS)
    assert is_quick()
    note(1.0)
    assert not is_quick()
    for _ in range(99):
        note(1e-5)
    assert is_quick()
    note(1e-3)
    assert is_quick()
    note(1e-5, result=[np.zeros(1 << 14)])
    for _ in range(99):
        note(1e-5)
    assert not is_quick()
    for _ in range(9):
        note(1e-5, fetch="z:0")
    assert not is_quick(fetch="z:0")


def test_many_shapes_are_not_all_remembered() -> None:
    steps = QuickSteps({"y:0"})
    for size in range(1000):
        for _ in range(3):
            steps.note(("x:0",), ["y:0"], [np.zeros(size)], 1e-5, ROW)
    assert steps.has({"x:0": np.zeros(3)}, ["y:0"])
    assert not steps.has({"x:0": np.zeros(900)}, ["y:0"])


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i: i < 9.0, lambda i: i * 2.0, [tf.reduce_sum(x)])


def _queue(x: Any) -> Any:
    queue = tf.FIFOQueue(1, [tf.float32], [[]])
    with tf.control_dependencies([queue.dequeue()]):
        return tf.identity(x)


def _called(body: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(x: Any) -> Any:
        signature = [tf.TensorSpec([None, 2], tf.float32)]
        return tf.function(body, input_signature=signature)(x)

    return call


@pytest.mark.parametrize(
    ("build", "is_plain"),
    [
        (lambda x: tf.nn.softmax(tf.matmul(x, tf.get_variable("w", [2, 2]))), True),
        (lambda x: tf.reshape(x, [tf.shape(x)[0], -1]) + 1.0, True),
        (lambda x: tf.tile(x, [2, 2]), True),
        (lambda x: tf.tile(x, tf.cast(x[0], tf.int32)), False),
        (lambda x: tf.fill(tf.cast(x[0], tf.int32), 1.0), False),
        (lambda x: tf.range(x[0, 0]), False),
        (_loop, False),
        (lambda x: tf.cond(x[0, 0] > 0, lambda: x, lambda: x + 1.0), False),
        (_queue, False),
        (lambda x: tf.py_func(lambda v: v, [x], tf.float32), False),
        (_called(lambda x: x * 2.0), True),
        (_called(_loop), False),
    ],
)
def test_what_takes_as_long_as_shapes_say(
    build: Callable[[Any], Any], is_plain: bool
) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = build(x)
        signature = models._signature({"x": x}, {"y": y}, models.PREDICT)
        meta_graph = tf.train.export_meta_graph(graph=graph)
        meta_graph.signature_def["serving_default"].CopyFrom(signature)
    found = plain_outputs(meta_graph.graph_def, decode_signatures(meta_graph).values())
    assert found == ({y.name} if is_plain else set())


def test_strings_are_not_plain() -> None:
    """They have any length."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.string, [None], name="x")
        outputs = {"x": tf.identity(x)}
        signature = models._signature({"x": x}, outputs, models.PREDICT)
        meta_graph = tf.train.export_meta_graph(graph=graph)
        meta_graph.signature_def["serving_default"].CopyFrom(signature)
    signatures = decode_signatures(meta_graph).values()
    assert not plain_outputs(meta_graph.graph_def, signatures)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/models/half:predict", {"inputs": [1.0, 2.0]}),
        (
            "/v2/models/half/infer",
            {
                "inputs": [
                    {"name": "x", "datatype": "FP32", "shape": [2], "data": [1, 2]}
                ]
            },
        ),
    ],
)
@pytest.mark.parametrize("most_s", [1e9, 0.0])
def test_who_runs_them(
    start_server: Callable[..., Served],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: Any,
    most_s: float,
) -> None:
    """The event loop, once some were quick; others' threads where they are not."""
    monkeypatch.setattr(quick_steps, "_QUICK_S", most_s)
    ran_in: list[str] = []
    run = Servable.run

    def noted(self: Servable, *arguments: Any) -> Any:
        ran_in.append(threading.current_thread().name)
        return run(self, *arguments)

    monkeypatch.setattr(Servable, "run", noted)
    models.half_plus(tmp_path / "half", 1)
    served = start_server(model_name="half", model_base_path=str(tmp_path / "half"))
    answers = [served.rest(path, body) for _ in range(6)]
    assert all(answer == answers[0] and answer[0] == 200 for answer in answers)
    loop = served.server._http._server._thread.name
    in_loop = [name == loop for name in ran_in]
    assert in_loop == ([False] * 3 + [True] * 3 if most_s else [False] * 6)
