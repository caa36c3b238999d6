"""Shapes with ragged dimensions, and tensors that are broadcast to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.ops.ragged.dynamic_shape import RaggedTensorDynamicShape
from tensorloom.ops.ragged.shape_broadcast import (
    broadcast_dynamic_shape,
    broadcast_to,
)


def _sizes(shape: RaggedTensorDynamicShape) -> list[Any]:
    with tf.Session() as session:
        values = session.run([*shape.partitioned_dim_sizes, shape.inner_dim_sizes])
    partitioned = [value.tolist() for value in values[:-1]]
    return partitioned + values[-1].tolist()


def _shape(*sizes: Any) -> RaggedTensorDynamicShape:
    return RaggedTensorDynamicShape.from_dim_sizes(sizes)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


RAGGED: list[tuple[Any, int, list[Any]]] = [
    ([[1, 2], [], [3, 4, 5]], 1, [3, [2, 0, 3]]),
    ([[[1, 2], [3, 4]], [[5, 6]]], 1, [2, [2, 1], 2]),
    ([[[1, 2], [3]], [[4, 5]]], 2, [2, [2, 1], [2, 1, 2]]),
]


@pytest.mark.parametrize(("value", "ragged_rank", "sizes"), RAGGED)
def test_the_shape_of_a_tensor(value: Any, ragged_rank: int, sizes: list[Any]) -> None:
    ragged = tf.ragged.constant(value, ragged_rank=ragged_rank)
    shape = RaggedTensorDynamicShape.from_tensor(ragged)
    assert _sizes(shape) == sizes
    assert shape.rank == len(sizes)
    assert [shape.is_ragged(i) for i in range(len(sizes))] == [
        isinstance(size, list) for size in sizes
    ]
    assert shape.num_partitioned_dimensions == ragged_rank + 1
    dense = RaggedTensorDynamicShape.from_tensor([[1, 2, 3], [4, 5, 6]])
    assert _sizes(dense) == [2, 3]
    assert dense.num_inner_dimensions == 2


@pytest.mark.parametrize(
    ("x", "y", "together"),
    [
        ([], [3], [3]),
        ([1, 3], [2, 1], [2, 3]),
        ([3, [1, 5, 2]], [1, 1], [3, [1, 5, 2]]),
        ([2, [1, 3]], [3, 1, 1], [3, 2, [1, 3, 1, 3, 1, 3]]),
        ([3, [1, 2, 3], 1], [1, 1, 4], [3, [1, 2, 3], 4]),
    ],
)
def test_two_shapes_are_broadcast(x: Any, y: Any, together: Any) -> None:
    assert _sizes(broadcast_dynamic_shape(_shape(*x), _shape(*y))) == together
    assert _sizes(broadcast_dynamic_shape(_shape(*y), _shape(*x))) == together


def test_shapes_that_do_not_fit_fail_in_the_step() -> None:
    wrong = broadcast_dynamic_shape(_shape(2, 3), _shape(3, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        _sizes(wrong)


@pytest.mark.parametrize(
    ("value", "sizes", "result"),
    [
        (7, [3, [0, 1, 2]], [[], [7], [7, 7]]),
        ([[1], [2], [3]], [3, [3, 0, 2]], [[1, 1, 1], [], [3, 3]]),
        ([[10], [20]], [2, [2, 1], 2], [[[10, 10], [20, 20]], [[10, 10]]]),
    ],
)
def test_a_tensor_is_broadcast(value: Any, sizes: list[Any], result: Any) -> None:
    found = broadcast_to(value, _shape(*sizes))
    with tf.Session() as session:
        assert session.run(found).to_list() == result


def test_a_ragged_tensor_is_repeated() -> None:
    ragged = tf.ragged.constant([[1, 2], [3]])
    found = broadcast_to(ragged, _shape(2, 2, [2, 1, 2, 1]))
    with tf.Session() as session:
        assert session.run(found).to_list() == [[[1, 2], [3]], [[1, 2], [3]]]


def test_inner_dimensions_may_stay_as_they_are() -> None:
    shape = _shape(3, [1, 0, 2], 4)
    found = broadcast_to(np.ones([3, 1, 1]), shape, broadcast_inner_dimensions=False)
    with tf.Session() as session:
        assert session.run(found.flat_values).shape == (3, 1)
        dense = session.run(broadcast_to([[1], [2]], _shape(2, 3)))
    assert dense.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="outermost partitioned dimension"):
        RaggedTensorDynamicShape([[1, 2]], [])
    with pytest.raises(ValueError, match="innermost partitioned dimension"):
        RaggedTensorDynamicShape([3, [1, 2, 3], 2], [])
    with pytest.raises(ValueError, match="must be a scalar or a vector"):
        _shape([[1]])
    with pytest.raises(ValueError, match="rank=1 must be greater"):
        _shape(2, 3).broadcast_to_rank(1)
    with pytest.raises(ValueError, match="ragged rank mismatch"):
        broadcast_to(tf.ragged.constant([[1], [2, 3]]), _shape(2, 2))
    with pytest.raises(TypeError, match="shape must be a"):
        broadcast_to(1, [2])
    with pytest.raises(TypeError, match="axis must be an integer"):
        _shape(2).dimension_size("0")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Expected axis=2"):
        _shape(2).is_ragged(2)
    assert _shape(2).with_dim_size_dtype(tf.int32).dim_size_dtype == tf.int32
