"""Clusters: which nodes become one, and that a step gives what it gave without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compiled import program

_jit_scope = tf.contrib.compiler.jit.experimental_jit_scope
_SIZE = (80, 80)  # more than stays in host memory
_Build = Callable[[Any], Any]


def _chain(x: Any) -> Any:
    return tf.reduce_sum(tf.exp(tf.tanh(x) * 2.0) - x / 3.0, axis=1)


def _run(build: _Build, level: int = 0, runs: int = 2) -> tuple[Any, list[str]]:
    """The results of the last run, and the ops of the graph that ran."""
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None, _SIZE[1]])
        fetches = build(x)
        session.run(tf.global_variables_initializer())
        fed = np.random.RandomState(0).rand(*_SIZE)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        for _ in range(runs):
            results = session.run(fetches, {x: fed}, options, metadata)
        graph = metadata.partition_graphs[0]
    return results, [node.op for node in graph.node]


def _unmarked(build: _Build) -> Any:
    """The results where nothing is compiled."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        x = tf.placeholder(tf.float32, [None, _SIZE[1]])
        fetches = build(x)
        session.run(tf.global_variables_initializer())
        fed = np.random.RandomState(0).rand(*_SIZE)
        for _ in range(2):
            results = session.run(fetches, {x: fed})
    return results


def _in_scope(x: Any) -> Any:
    with _jit_scope():
        return _chain(x)


def _computation(x: Any) -> Any:
    return tf.contrib.compiler.xla.compile(_chain, [x])


def _fetched_inside(x: Any) -> Any:
    with _jit_scope():
        inside = tf.tanh(x) * 2.0
        return inside, tf.exp(inside) + 1.0


def _lookup_between(x: Any) -> Any:
    with _jit_scope():
        before = tf.exp(x) * 2.0 + 1.0
        read = tf.gather(before, tf.range(_SIZE[0])[::-1])
        return tf.tanh(read) * 3.0 - before


def _layer(x: Any) -> Any:
    weights = tf.get_variable(
        "w", [_SIZE[1], 40], initializer=tf.ones_initializer(), use_resource=True
    )
    with _jit_scope():
        y = tf.nn.relu(tf.matmul(x, weights) + tf.constant(np.arange(40.0), tf.float32))
        return tf.reduce_mean(tf.square(y) - y, axis=0)


def _training(x: Any) -> Any:
    """A step that reads, updates, and reads again."""
    weights = tf.get_variable(
        "w", [_SIZE[1], 1], initializer=tf.ones_initializer(), use_resource=True
    )
    with _jit_scope():
        error = tf.matmul(x, weights) - tf.reduce_sum(x * x, axis=1, keepdims=True)
        loss = tf.reduce_mean(tf.square(error))
    update = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
    with tf.control_dependencies([update]), _jit_scope():
        after = tf.tanh(weights.read_value()) * 2.0
        return loss, after + tf.zeros([_SIZE[1], 1]), update


def _references(x: Any) -> Any:
    """Operations on a variable that the step writes through its reference."""
    variable = tf.Variable(tf.ones(_SIZE), use_resource=False)
    with _jit_scope():
        before = tf.exp(variable * 0.5) + x
    with tf.control_dependencies([before]):
        written = variable.assign_add(tf.ones(_SIZE))
    with tf.control_dependencies([written]), _jit_scope():
        return before, tf.exp(variable * 0.25) - x  # the product is no member


def _control_edges(x: Any) -> Any:
    """Control edges between members, and through an update between them."""
    count = tf.get_variable("n", initializer=0.0, use_resource=True)
    with _jit_scope():
        first = tf.exp(x) * 2.0
        with tf.control_dependencies([first]):
            second = tf.tanh(x) + 1.0
    with tf.control_dependencies([second]):
        added = count.assign_add(1.0)
    with tf.control_dependencies([added]), _jit_scope():
        third = tf.sin(first) * second + count.read_value()
    return third, first, added


def _maxima(x: Any) -> Any:
    with _jit_scope():
        images = tf.reshape(x * 2.0, [-1, 8, 10, 1])
        return tf.nn.max_pool(images, 2, 2, "SAME") + 1.0


def _maxima_with_gradient(x: Any) -> Any:
    """The pool is no member, and cuts what is before it from what is behind it."""
    with _jit_scope():
        images = tf.exp(tf.tanh(tf.reshape(x, [-1, 8, 10, 1])))
        pool = tf.nn.max_pool(images, 2, 2, "SAME")
        loss = tf.reduce_sum(tf.exp(pool) * 3.0)
    return loss, tf.gradients(loss, images)


_CASES: list[tuple[_Build, int]] = [
    (_in_scope, 1),
    (_computation, 1),
    (_fetched_inside, 1),
    (_lookup_between, 2),
    (_layer, 1),
    (_training, 3),
    (_references, 2),
    (_control_edges, 2),
    (_maxima, 1),
    (_maxima_with_gradient, 2),
]


@pytest.mark.parametrize(
    ("build", "clusters"), _CASES, ids=[b.__name__.strip("_") for b, _ in _CASES]
)
def test_a_step_gives_what_it_gives_without(build: _Build, clusters: int) -> None:
    found, ops = _run(build)
    assert ops.count("_CompiledCluster") == clusters, ops
    for got, wanted in zip(
        tf.nest.flatten(found), tf.nest.flatten(_unmarked(build)), strict=True
    ):
        if wanted is not None:
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("level", "clusters"), [(0, 0), (-1, 0), (1, 1), (2, 1)])
def test_the_global_level_asks_for_all(level: int, clusters: int) -> None:
    _, ops = _run(_chain, level)
    assert ops.count("_CompiledCluster") == clusters


def test_what_is_marked_not_to_be_compiled_is_not() -> None:
    def build(x: Any) -> Any:
        with _jit_scope(False):
            return _chain(x)

    _, ops = _run(build, level=1)
    assert "_CompiledCluster" not in ops


def test_integers_are_divided_by_kernels_that_can_raise() -> None:
    def build(x: Any) -> Any:
        with _jit_scope():
            whole = tf.cast(x * 10.0 + 1.0, tf.int32) * 3
            return whole // 2, tf.cast(whole, tf.float32) / 2.0 + 1.0

    _, ops = _run(build)
    assert "FloorDiv" in ops
    assert "_CompiledCluster" in ops


def test_small_values_are_computed_in_line() -> None:
    """A cluster over a few numbers costs what its nodes cost."""

    def no_program(*args: Any) -> None:
        raise AssertionError(args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program.Program, "__init__", no_program)
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.placeholder(tf.float32, [3])
            with _jit_scope():
                y = tf.exp(x) * 2.0 + 1.0
            session.run(y, {x: [1, 2, 3]})
