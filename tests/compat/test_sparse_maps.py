"""Sparse tensors that wait in a map for those who have their handles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.compat.op_modules import sparse_maps


def _value(rank: int = 2) -> Any:
    indices = np.zeros((1, rank), np.int64)
    return tf.SparseTensorValue(indices, np.array([7.0]), np.full(rank, 2))


def test_what_was_put_into_a_map_is_taken_out() -> None:
    one, other = (
        sparse_maps.add_sparse_to_tensors_map(_value(), shared_name="both")
        for _ in range(2)
    )
    rows = sparse_maps.add_many_sparse_to_tensors_map(_value(), name="rows")
    taken = sparse_maps.take_many_sparse_from_tensors_map(one.op, [one, other], rank=3)
    taken_rows = sparse_maps.take_many_sparse_from_tensors_map(rows.op, rows)
    assert taken.indices.shape.as_list() == [None, 3]
    with tf.Session() as session:
        found, found_rows = session.run([taken, taken_rows])
    assert found.indices.tolist() == [[0, 0, 0], [1, 0, 0]]
    assert (found.dense_shape.tolist(), found.values.tolist()) == ([2, 2, 2], [7.0] * 2)
    assert found_rows.dense_shape.tolist() == [2, 2]


def test_ranks_of_one_map_agree() -> None:
    fed = tf.sparse_placeholder(tf.float64)
    handle = sparse_maps.add_sparse_to_tensors_map(fed)
    wanted = tf.placeholder(tf.int64, [2])
    taken = sparse_maps.take_many_sparse_from_tensors_map(handle.op, wanted)
    with tf.Session() as session:
        handles = [session.run(handle, {fed: _value(rank)}) for rank in (2, 3)]
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"was: 3 but .* is: 4"
        ):
            session.run(taken, {wanted: handles})


def test_other_operations_and_tensors_are_refused() -> None:
    with pytest.raises(TypeError, match="be an Operation"):
        sparse_maps.take_many_sparse_from_tensors_map("x", [1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="found `Const`"):
        sparse_maps.take_many_sparse_from_tensors_map(tf.constant(1).op, [1])
    with pytest.raises(TypeError, match="must be a SparseTensor"):
        sparse_maps.add_sparse_to_tensors_map(tf.constant(1))  # type: ignore[arg-type]
