"""Sparse and ragged tensors, and their values, one behind the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.graphs import composite_values


def _sparse(kind: Any, value: float) -> Any:
    return kind(np.array([[0, 1]], np.int64), np.array([value]), (1, 2))


def _ragged(values: list[int], splits: list[int]) -> Any:
    return tf.ragged.RaggedTensorValue(np.array(values), np.array(splits))


def test_tensors_and_values_are_joined_alike() -> None:
    tensors = [_sparse(tf.SparseTensor, value) for value in (1.0, 2.0)]
    values = [_sparse(tf.SparseTensorValue, value) for value in (1.0, 2.0)]
    joined = composite_values.append_composite_tensor(*tensors)
    with tf.Session() as session:
        found = session.run(joined)
    for each in (found, composite_values.append_composite_tensor(*values)):
        assert each.indices.tolist() == [[0, 1], [1, 1]]
        assert each.values.tolist() == [1.0, 2.0]
        assert tuple(each.dense_shape) == (2, 2)
    rows = _ragged([1, 2, 3], [0, 1, 3]), _ragged([4, 5], [0, 2])
    ragged = [tf.RaggedTensor.from_row_splits(r.values, r.row_splits) for r in rows]
    joined = composite_values.append_composite_tensor(*ragged)
    with tf.Session() as session:
        found = session.run(joined)
    for each in (found, composite_values.append_composite_tensor(*rows)):
        assert each.to_list() == [[1], [2, 3], [4, 5]]


def test_different_kinds_and_shapes_are_refused() -> None:
    value = _sparse(tf.SparseTensorValue, 1.0)
    wider = value._replace(dense_shape=(1, 3))
    for other in (wider, _ragged([1], [0, 1])):
        with pytest.raises(RuntimeError, match="Unable to concatenate"):
            composite_values.append_composite_tensor(value, other)
    with pytest.raises(RuntimeError, match="unsupported object"):
        composite_values.append_composite_tensor(1, 2)
    assert composite_values.get_shape(value) == (1, 2)
    assert composite_values.is_composite_or_composite_value(value)
    assert not composite_values.is_composite_or_composite_value(np.zeros(2))
