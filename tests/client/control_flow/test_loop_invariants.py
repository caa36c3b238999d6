"""Shapes that hold for loop variables: declared ones, and those of composite values.

Expectations were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _vector() -> Any:
    return tf.constant([1.0, 2.0])


def _sparse() -> Any:
    return tf.SparseTensor([[0, 0]], [1.0], [3, 3])


def _ragged() -> Any:
    return tf.RaggedTensor.from_row_splits(tf.constant([1.0, 2.0]), [0, 1, 2])


def _slices() -> Any:
    return tf.IndexedSlices(
        tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([5, 3], tf.int32)
    )


def _array() -> Any:
    return tf.TensorArray(tf.float32, 3)


FLOAT = tf.float32
SHAPES: list[tuple[Any, Any, list[list[int | None] | None]]] = [
    (_vector, tf.TensorShape([None]), [[None]]),
    (_vector, tf.TensorSpec([None], FLOAT), [[None]]),
    (_vector, None, [[2]]),
    (_array, tf.TensorShape([]), [[]]),
    (_array, tf.TensorShape(None), [None]),
    (_sparse, tf.TensorShape([2]), [[None, 2], [None], [2]]),
    (_sparse, tf.SparseTensorSpec([None, 3], FLOAT), [[None, 2], [None], [2]]),
    (_sparse, None, [[None, 2], [None], [2]]),
    (_ragged, tf.TensorShape([None, None]), [[None], [None]]),
    (_ragged, tf.TensorShape([2, None]), [[None], [3]]),
    (_ragged, tf.RaggedTensorSpec([None, None], FLOAT), [[None], [None]]),
    (_ragged, None, [[None], [3]]),
    (_slices, tf.TensorShape([None, 3]), [[None, 3], [None], [2]]),
    (_slices, None, [[2, 3], [2], [2]]),
]


@pytest.mark.parametrize(("make", "declared", "wanted"), SHAPES)
def test_shapes_in_the_loop(
    make: Any, declared: Any, wanted: list[list[int | None] | None]
) -> None:
    seen = []

    def body(given: Any) -> list[Any]:
        value = given.flow if isinstance(given, tf.TensorArray) else given
        parts = tf.nest.flatten(value, expand_composites=True)
        shapes = [part.shape for part in parts]
        seen.append([None if s.rank is None else s.as_list() for s in shapes])
        return [given]

    with tf.Graph().as_default():
        tf.while_loop(lambda _: tf.constant(False), body, [make()], [declared])
    assert seen == [wanted]


ERRORS: list[tuple[Any, Any, type[Exception]]] = [
    (_vector, [None], ValueError),
    (_vector, tf.TensorShape([3]), ValueError),
    (_vector, tf.TensorSpec([None], tf.int32), TypeError),
    (_sparse, tf.TensorShape([None, None]), ValueError),
    (_sparse, tf.SparseTensorSpec([None], FLOAT), TypeError),
    (_sparse, tf.TensorSpec([3, 3], FLOAT), TypeError),
    (_ragged, tf.TensorShape([None]), ValueError),
    (_ragged, tf.RaggedTensorSpec([None, None], tf.int32), TypeError),
    (_slices, tf.TensorShape([3]), ValueError),
]


@pytest.mark.parametrize(("make", "declared", "error"), ERRORS)
def test_what_is_refused(make: Any, declared: Any, error: type[Exception]) -> None:
    with tf.Graph().as_default(), pytest.raises(error):
        tf.while_loop(lambda _: tf.constant(False), lambda v: [v], [make()], [declared])


def test_a_sparse_variable_fills() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        _, result = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, v: (i + 1, tf.sparse.concat(0, [v, v])),
            [0, _sparse()],
        )
        value = sess.run(result)
    assert value.dense_shape.tolist() == [12, 3]
    assert value.indices.tolist() == [[0, 0], [3, 0], [6, 0], [9, 0]]


def test_a_ragged_variable_grows() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
        _, result = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, v: (i + 1, tf.concat([v, v * 2.0], 0)),
            [0, _ragged()],
            shapes,
        )
        np.testing.assert_array_equal(
            sess.run(result.flat_values), [1, 2, 2, 4, 2, 4, 4, 8]
        )
