"""IndexedSlices and SparseTensor."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tensorloom as tf


def _slices(dense_shape: object = None) -> tf.IndexedSlices:
    shape = None if dense_shape is None else tf.constant(dense_shape)
    values = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="values")
    return tf.IndexedSlices(values, tf.constant([2, 2], name="indices"), shape)


def test_slices_of_one_index_add_up() -> None:
    dense = tf.convert_to_tensor(_slices([4, 2]))
    assert dense.op.type == "UnsortedSegmentSum"
    with tf.Session() as sess:
        assert sess.run(dense).tolist() == [[0, 0], [0, 0], [4, 6], [0, 0]]


def test_slices_describe_themselves() -> None:
    slices = _slices()
    assert slices.name == "values:0"
    assert slices.op.name == "values"
    assert slices.dtype == tf.float32
    assert slices.graph is tf.get_default_graph()
    assert str(slices) == (
        'IndexedSlices(indices=Tensor("indices:0", shape=(2,), dtype=int32), '
        'values=Tensor("values:0", shape=(2, 2), dtype=float32))'
    )
    assert (-slices).indices is slices.indices


def test_slices_without_a_dense_shape_stay_slices() -> None:
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(_slices())
    slices = _slices()
    assert tf.convert_to_tensor_or_indexed_slices(slices) is slices
    with pytest.raises(ValueError, match="requested dtype int32"):
        tf.convert_to_tensor_or_indexed_slices(slices, dtype=tf.int32)


def test_a_dense_tensor_of_unknown_shape_is_warned_of() -> None:
    shape = tf.placeholder(tf.int32, [2])
    slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), shape)
    with pytest.warns(UserWarning, match="unknown shape"):
        tf.convert_to_tensor(slices)
    large = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([10**8, 2]))
    with pytest.warns(UserWarning, match="200000000 elements"):
        tf.convert_to_tensor(large)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.convert_to_tensor(_slices([4, 2]))


def test_parts_must_be_of_one_graph() -> None:
    with tf.Graph().as_default():
        indices = tf.constant([0])
    with pytest.raises(ValueError, match="same graph"):
        tf.IndexedSlices(tf.ones([1]), indices)


def test_sparse_tensor() -> None:
    sparse = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    assert [t.name for t in (sparse.indices, sparse.values, sparse.dense_shape)] == [
        "SparseTensor/indices:0",
        "SparseTensor/values:0",
        "SparseTensor/dense_shape:0",
    ]
    assert sparse.shape.as_list() == [2, 3]
    assert sparse.get_shape() == sparse.shape
    with tf.Session() as sess:
        value = sess.run(sparse)
        evaluated = sparse.eval(session=sess)
    assert isinstance(value, tf.SparseTensorValue)
    for part, same in zip(value, evaluated, strict=True):
        np.testing.assert_array_equal(part, same)


@pytest.mark.parametrize(
    ("indices", "values"), [([[0, 1]], [1.0, 2.0]), ([0, 1], [1.0, 2.0])]
)
def test_sparse_parts_must_fit(indices: list[object], values: list[float]) -> None:
    with pytest.raises(ValueError):
        tf.SparseTensor(indices, values, [3, 3])


def test_conversion_of_sparse_values() -> None:
    value = tf.SparseTensorValue([[0, 1]], [1.0], [3, 3])
    sparse = tf.convert_to_tensor_or_sparse_tensor(value)
    assert isinstance(sparse, tf.SparseTensor)
    assert tf.convert_to_tensor_or_sparse_tensor(sparse) is sparse
    with pytest.raises(RuntimeError, match="requested = int32, actual = float32"):
        tf.convert_to_tensor_or_sparse_tensor(sparse, dtype=tf.int32)
    with pytest.raises(TypeError, match="Neither a SparseTensor"):
        tf.SparseTensor.from_value(3)
