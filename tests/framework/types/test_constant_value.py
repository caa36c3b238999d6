"""What shape functions know of their inputs' values: as TensorFlow of either age."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tensorloom as tf

OF_1_15, OF_2_21 = 134, 1395  # producers of graphs


def _reshaped(sizes: list[tf.Tensor]) -> tf.Tensor:
    return tf.reshape(tf.placeholder(tf.float32, [None, None]), tf.stack(sizes))


def _sizes() -> tf.Tensor:
    return tf.shape(tf.placeholder(tf.float32, [None, 3]))


def _ones(sizes: tf.Tensor) -> tf.Tensor:
    return tf.fill(sizes, 1.0)


#: What is built; its shape as 1.15 and as 2.21 infers it.
CASES: dict[str, tuple[Callable[[], tf.Tensor], str, str]] = {
    "one size of several": (lambda: _reshaped([_sizes()[1], -1]), "(?, ?)", "(3, ?)"),
    "the last size": (lambda: _reshaped([_sizes()[-1], 2]), "(?, 2)", "(3, 2)"),
    "a size that is not known": (
        lambda: _reshaped([_sizes()[0], 2]),
        "(?, 2)",
        "(?, 2)",
    ),
    "twice a size": (lambda: _reshaped([_sizes()[1] * 2, -1]), "(?, ?)", "(6, ?)"),
    "unstacked sizes": (
        lambda: _reshaped(tf.unstack(_sizes())[::-1]),
        "(?, ?)",
        "(3, ?)",
    ),
    "a slice of sizes": (lambda: _ones(_sizes()[1:]), "(3,)", "(3,)"),
    "cast sizes": (lambda: _ones(tf.cast(_sizes(), tf.int64)), "(?, ?)", "(?, 3)"),
    "cast sizes behind a concat": (
        lambda: _ones(tf.concat([tf.cast(_sizes(), tf.int64), [7]], 0)),
        "(?, ?, 7)",
        "(?, 3, 7)",
    ),
    "cast sizes of tiles": (
        lambda: tf.tile(tf.ones([2, 2]), tf.cast(_sizes(), tf.int64)),
        "(?, ?)",
        "(?, 6)",
    ),
    "numbers below -1 in a list": (
        lambda: _reshaped([tf.constant(-1) * 2, -1]),
        "(?, ?)",
        "(?, ?)",
    ),
}


def _imported(build: Callable[[], tf.Tensor], producer: int) -> str:
    with tf.Graph().as_default() as made:
        build()
    proto = made.as_graph_def()
    proto.versions.producer = producer
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(proto, name="")
    return str(graph.get_operations()[-1].outputs[0].shape)


@pytest.mark.parametrize("name", CASES)
def test_shapes_of_imported_graphs(name: str) -> None:
    build, of_1_15, of_2_21 = CASES[name]
    with tf.Graph().as_default():
        assert str(build().shape) == of_1_15
    assert _imported(build, OF_1_15) == of_1_15
    assert _imported(build, OF_2_21) == of_2_21


def test_what_is_built_on_a_newer_graph_is_inferred_as_before() -> None:
    with tf.Graph().as_default() as made:
        _sizes()
    proto = made.as_graph_def()
    proto.versions.producer = OF_2_21
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(proto, name="")
        sizes = graph.get_tensor_by_name("Shape:0")
        assert str(_reshaped([sizes[1], -1]).shape) == "(?, ?)"
        bad = tf.GraphDef()
        bad.CopyFrom(proto)
        bad.node[1].input[0] = "none"
        with pytest.raises(ValueError, match="none"):
            tf.import_graph_def(bad, name="again")
        assert str(_reshaped([sizes[1], -1]).shape) == "(?, ?)"


def test_a_measured_size_is_the_static_one_also_of_what_constants_give() -> None:
    # TensorFlow 1.15 and 2.21 could compute that two of the three rows are true.
    with tf.Graph().as_default():
        rows = tf.where(tf.constant([True, False, True]))
        assert str(tf.fill(tf.shape(rows), 0).shape) == "(?, 1)"
        assert str(tf.zeros_like(rows, optimize=False).shape) == "(?, 1)"
        both = tf.concat([tf.shape(rows), [3]], 0)
        assert str(tf.fill(both, 0).shape) == "(?, 1, 3)"
