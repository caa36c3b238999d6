"""`tf.contrib.eager`: what works in graphs, and what refuses."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

tfe = tf.contrib.eager
metrics = tfe.metrics


@pytest.mark.parametrize(
    ("metric", "batch", "expected"),
    [
        (lambda: metrics.Mean(), ([1.0, 3.0, 5.0],), 3.0),
        (lambda: metrics.Mean(), ([1.0, 2.0], [1.0, 3.0]), 1.75),
        (lambda: metrics.Accuracy(), ([1, 2, 3], [1, 2, 0]), 2 / 3),
        (lambda: metrics.Accuracy(), ([1, 2, 3], [1, 2, 0], [1, 0, 1]), 0.5),
        (
            lambda: metrics.CategoricalAccuracy(),
            ([[0.0, 1], [1, 0]], [[0.3, 0.7], [0.4, 0.6]]),
            0.5,
        ),
        (lambda: metrics.BinaryAccuracy(0.5), ([1, 0], [0.6, 0.7]), 0.5),
        (
            lambda: metrics.SparseAccuracy(),
            ([1, 0], [[0.1, 0.9], [0.2, 0.8]]),
            0.5,
        ),
    ],
)
def test_metrics(metric: Callable[[], Any], batch: Any, expected: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = metric()
        update = made(*[tf.constant(part) for part in batch])
        assert [v.op.name for v in tf.local_variables()] == [
            f"{made.name}/numer",
            f"{made.name}/denom",
        ]
        session.run(made.init_variables())
        result = made.result()
        for _ in range(2):
            session.run(update)
            np.testing.assert_allclose(session.run(result), expected)


def test_metrics_check_shapes() -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(
            tf.errors.InvalidArgumentError, match="Shapes of labels and predictions"
        ),
    ):
        metrics.Accuracy()(tf.constant([1, 2]), tf.constant([1]))


def test_metrics_add_up() -> None:
    with tf.Graph().as_default():
        first, second = metrics.Mean(), metrics.Mean("my mean")
        first(tf.constant(1.0))
        second(tf.constant(2.0))
        assert (first.name, second.name) == ("Mean", "my mean")
        with pytest.raises(TypeError, match="must be the same type"):
            first.aggregate([metrics.Accuracy()])
        with pytest.raises(ValueError, match="variables in the same order"):
            first.aggregate([second])
        with pytest.raises(RuntimeError, match=r"except in build\(\)"):
            first.add_variable("more")


def _f(x: Any, y: Any) -> Any:
    return x * x * y - x * y * y


def test_gradients_by_arguments() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        same = tf.constant(2.0)
        assert session.run(tfe.gradients_function(_f)(same, same)) == [4.0, -4.0]
        assert session.run(tfe.gradients_function(_f, [1])(2.0, 3.0)) == [-8.0]
        assert session.run(tfe.gradients_function(_f, ["x"])(2.0, 3.0)) == [3.0]
        both = tfe.value_and_gradients_function(_f)(2.0, 3.0, dy=2.0)
        assert session.run(both) == (-6.0, [6.0, -16.0])


def test_gradients_by_variables() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tfe.Variable(2.0)
        value, pairs = tfe.implicit_value_and_gradients(lambda x: x * variable)(3.0)
        session.run(tf.global_variables_initializer())
        assert session.run(value) == 6.0
        assert [(session.run(g), v) for g, v in pairs] == [(3.0, variable)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tfe.gradients_function(_f)(2.0, 3.0, z=1), "keyword arguments"),
        (lambda: tfe.gradients_function(_f, ["x", 1])(2.0, 3.0), "must be all strings"),
        (lambda: tfe.gradients_function(lambda x: None)(2.0), "returns None"),
        (lambda: tfe.implicit_gradients(lambda: tf.ones([]))(), "No trainable"),
        (lambda: tfe.set_execution_mode(7), "should be None/SYNC/ASYNC. Got 7"),
        (lambda: tfe.restore_variables_on_create("x"), "init_from_checkpoint"),
    ],
)
def test_value_errors(call: Callable[[], Any], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "remedy"),
    [
        (lambda: tfe.Saver([]), "tf.train.Saver"),
        (lambda: tfe.Iterator(None), "make_one_shot_iterator"),
        (lambda: tfe.run(), "tf.app.run"),
        (lambda: tfe.enable_eager_execution(), "tf.Session"),
        (lambda: tfe.seterr(), "tf.check_numerics"),
        (lambda: tfe.nan_callback("Add", [], None, [], ""), "tf.check_numerics"),
        (lambda: tfe.connect_to_remote_host("x"), "tf.train.Server"),
    ],
)
def test_what_needs_eager_execution_refuses(
    call: Callable[[], Any], remedy: str
) -> None:
    with pytest.raises(RuntimeError, match=remedy):
        call()


def test_names_that_are_elsewhere() -> None:
    assert tfe.Checkpoint is tf.train.Checkpoint
    assert tfe.GradientTape is tf.GradientTape
    assert tfe.function is tf.function
    assert not tfe.in_eager_mode()
    assert tfe.list_devices()[0].endswith("CPU:0")
    assert tfe.num_gpus() == sum("GPU" in name for name in tfe.list_devices())
    path = "tensorloom.contrib.eager.python.tfe"
    assert importlib.import_module(path).Saver is tfe.Saver
    assert importlib.import_module(path).metrics.Mean is metrics.Mean


def test_functions_and_templates_and_stores() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        doubled = tfe.py_func(lambda x: x * 2, [tf.constant(2.0)], tf.float32)
        assert session.run([doubled, tfe.defun(lambda x: x + 1)(tf.constant(2))]) == [
            4.0,
            3,
        ]
        template = tfe.make_template(
            "scope", lambda: tf.get_variable("v", [], tf.int32)
        )
        assert template() is template()
        store = tfe.EagerVariableStore()
        for _ in range(2):
            with store.as_default():
                tf.layers.dense(tf.ones([2, 3]), 2, name="l", reuse=tf.AUTO_REUSE)
        assert [v.op.name for v in store.variables()] == ["l/bias", "l/kernel"]
        assert store.trainable_variables() == store.variables()
        assert store.non_trainable_variables() == []
        assert len(store.copy().variables()) == 2
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(tfe.Variable(1.0) * 2.0)
        assert len(tfe.get_optimizer_variables(optimizer)) == 1
