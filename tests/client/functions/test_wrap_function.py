"""`tf.wrap_function` and `tf.vectorized_map`, as TensorFlow 1.15 has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_NUMBER = tf.TensorSpec([], tf.float32)
_X = np.arange(6, dtype=np.float32).reshape(3, 2)


def _run(value: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return tf.nest.map_structure(lambda x: x.tolist(), session.run(value))


def _two_steps(x: Any) -> Any:
    y = tf.multiply(x, 2.0, name="y")
    return tf.add(y, 1.0, name="z")


def _double(x: Any) -> Any:
    return x * 2


def test_a_call_is_one_node() -> None:
    result = tf.wrap_function(_double, [_NUMBER])(tf.constant(3.0))
    assert result.op.type == "PartitionedCall"
    assert _run(result) == 6


def test_arguments_come_in_the_structure_of_the_signature() -> None:
    wrapped = tf.wrap_function(
        lambda d: d["a"] - d["b"], [{"a": _NUMBER, "b": _NUMBER}]
    )
    assert _run(wrapped({"a": tf.constant(5.0), "b": tf.constant(2.0)})) == 3


def test_variables_are_made_once() -> None:
    def scaled(x: Any) -> Any:
        return x * tf.get_variable("scale", [], initializer=tf.ones_initializer())

    wrapped = tf.wrap_function(scaled, [_NUMBER])
    results = [wrapped(tf.constant(2.0)), wrapped(tf.constant(3.0))]
    assert [variable.name for variable in wrapped.variables] == ["scale:0"]
    assert _run(results) == [2, 3]


def test_parts_of_the_graph_are_functions() -> None:
    wrapped = tf.wrap_function(_two_steps, [_NUMBER])
    y = wrapped.graph.get_tensor_by_name("y:0")
    first = wrapped.prune(wrapped.inputs, {"y": y})
    second = wrapped.prune("y:0", "z:0")
    assert _run(first(tf.constant(3.0))) == {"y": 6}
    assert _run(second(tf.constant(10.0))) == 11
    with pytest.raises(KeyError):
        wrapped.prune("nothing:0", "z:0")
    with pytest.raises(ValueError, match="must be among the feeds"):
        wrapped.prune([], "z:0")


def test_parts_of_an_imported_graph_are_functions() -> None:
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [], name="a"), 1.0, name="b")
    wrapped = tf.wrap_function(
        lambda: tf.import_graph_def(graph.as_graph_def(), name="") and None, []
    )
    assert _run(wrapped.prune("a:0", "b:0")(tf.constant(5.0))) == 6


def test_what_is_outside_is_captured_and_differentiated() -> None:
    x = tf.constant(3.0)
    wrapped = tf.wrap_function(lambda y: x * y * y, [_NUMBER])
    assert _run(tf.gradients(wrapped(x), x)) == [27]


@pytest.mark.parametrize(
    ("arguments", "keywords", "error"),
    [
        ((), {}, ValueError),
        ((1.0, 2.0), {}, ValueError),
        ((), {"x": 1.0}, NotImplementedError),
    ],
)
def test_other_arguments_are_refused(arguments: Any, keywords: Any, error: Any) -> None:
    wrapped = tf.wrap_function(_double, [_NUMBER])
    with pytest.raises(error):
        wrapped(*arguments, **keywords)


def test_a_tensor_of_another_dtype_is_refused() -> None:
    wrapped = tf.wrap_function(_double, [_NUMBER])
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrapped(tf.constant(3))


_MAPS: list[tuple[Callable[[], Any], Any, Any]] = [
    (lambda: tf.vectorized_map(_double, _X), [3, 2], (_X * 2).tolist()),
    (lambda: tf.vectorized_map(tf.reduce_sum, tf.constant(_X)), [3], [1, 5, 9]),
    (lambda: tf.vectorized_map(lambda a: tf.constant(3), _X), [3], [3, 3, 3]),
    (
        lambda: tf.vectorized_map(
            lambda a: a, tf.placeholder_with_default(_X, [None, 2])
        ),
        [None, 2],
        _X.tolist(),
    ),
    (lambda: tf.vectorized_map(lambda a: a, tf.zeros([0, 2])), [0, 2], []),
    (
        lambda: tf.vectorized_map(lambda a: tf.gradients(a * a, a)[0], _X),
        [3, 2],
        (_X * 2).tolist(),
    ),
]


@pytest.mark.parametrize("index", range(len(_MAPS)))
def test_slices_are_mapped(index: int) -> None:
    make, shape, expected = _MAPS[index]
    result = make()
    assert result.shape.as_list() == shape
    assert _run(result) == expected


def test_structures_are_mapped_and_differentiated() -> None:
    x = tf.constant(_X)
    pairs = tf.vectorized_map(lambda p: {"s": p[0] + p[1]}, (x, x))
    assert _run(pairs) == {"s": (_X * 2).tolist()}
    total = tf.vectorized_map(lambda a: tf.reduce_sum(a * a), x)
    assert _run(tf.gradients(total, x)[0]) == (_X * 2).tolist()


def test_scalars_have_no_slices() -> None:
    with pytest.raises(ValueError):
        tf.vectorized_map(lambda a: a, tf.constant(1.0))
