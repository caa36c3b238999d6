"""Sets of rows: as Python's sets of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_OPERATIONS = {
    "union": lambda a, b: a | b,
    "intersection": lambda a, b: a & b,
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
}


def _run(op: str, **attrs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(getattr(tf.raw_ops, op)(**attrs))


def _values(random: Any, size: Any, kind: str) -> Any:
    numbers = random.randint(-3, 9, size)
    if kind != "string":
        return numbers.astype(kind)
    flat = [b"%d" % n for n in numbers.reshape(-1).tolist()]
    return np.array(flat, object).reshape(numbers.shape)


def _expected(a: dict[Any, set[Any]], b: dict[Any, set[Any]], operate: Any) -> Any:
    indices, values = [], []
    for place in sorted(a.keys() | b.keys()):
        found = sorted(operate(a.get(place, set()), b.get(place, set())))
        indices += [[*place, i] for i in range(len(found))]
        values += found
    return indices, values


@pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "string"])
@pytest.mark.parametrize("operation", list(_OPERATIONS))
def test_dense_and_sparse_sets(operation: str, kind: str) -> None:
    random = np.random.RandomState(0)
    dense = _values(random, (4, 3, 5), kind)
    places = np.argwhere(random.rand(4, 3, 6) < 0.4)
    values = _values(random, len(places), kind)
    a = {place: set(dense[place].tolist()) for place in np.ndindex(4, 3)}
    b: dict[Any, set[Any]] = {}
    for place, value in zip(places.tolist(), values.tolist(), strict=True):
        b.setdefault(tuple(place[:2]), set()).add(value)
    found = _run(
        "DenseToSparseSetOperation",
        set1=dense,
        set2_indices=places,
        set2_values=values,
        set2_shape=np.int64([4, 3, 6]),
        set_operation=operation,
    )
    indices, expected = _expected(a, b, _OPERATIONS[operation])
    assert found.result_indices.tolist() == indices
    assert found.result_values.tolist() == expected
    longest = max((index[-1] for index in indices), default=-1) + 1
    assert found.result_shape.tolist() == [4, 3, longest]


def test_sets_of_a_shape_that_no_number_counts() -> None:
    shape = np.int64([2**40, 2**40, 3])
    first = np.int64([[0, 1, 0], [2**39, 5, 0], [2**39, 5, 1]])
    second = np.int64([[2**39, 5, 0], [2**39, 5, 2], [2**40 - 1, 0, 1]])
    found = _run(
        "SparseToSparseSetOperation",
        set1_indices=first,
        set1_values=np.int64([7, 8, 9]),
        set1_shape=shape,
        set2_indices=second,
        set2_values=np.int64([9, 3, 4]),
        set2_shape=shape,
        set_operation="union",
    )
    assert found.result_indices.tolist() == [
        *([0, 1, 0], [2**39, 5, 0], [2**39, 5, 1], [2**39, 5, 2]),
        [2**40 - 1, 0, 0],
    ]
    assert found.result_values.tolist() == [7, 3, 8, 9, 4]


@pytest.mark.parametrize("operation", list(_OPERATIONS))
def test_no_elements(operation: str) -> None:
    nothing = np.zeros((2, 0), np.int64)
    found = _run(
        "DenseToDenseSetOperation", set1=nothing, set2=nothing, set_operation=operation
    )
    assert found.result_indices.shape == (0, 2)
    assert found.result_shape.tolist() == [2, 0]


def test_sizes() -> None:
    indices = np.int64([[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]])
    values = np.array([b"a", b"a", b"b", b"c", b"b"], object)
    shape = np.int64([3, 3])
    found = _run("SetSize", set_indices=indices, set_values=values, set_shape=shape)
    assert found.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ((1,), (2, 2, 1), "at least rank 2"),
        ((2, 2), (), "at least rank 2"),
        ((2, 3), (1, 3), "must be equal"),
        ((2, 3, 1), (2, 3), "rank 3 but is rank 2"),
    ],
)
def test_dense_sets_that_do_not_fit(first: Any, second: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        tf.raw_ops.DenseToDenseSetOperation(
            set1=np.ones(first, np.int8),
            set2=np.ones(second, np.int8),
            set_operation="a-b",
        )


@pytest.mark.parametrize(
    ("indices", "values", "shape", "message"),
    [
        ((1,), (1,), (2,), "rank 2 but is rank 1"),
        ((1, 2), (1, 1), (2,), "rank 1 but is rank 2"),
        ((1, 2), (1,), (2, 2), "rank 1 but is rank 2"),
        ((1, 2), (1,), (3,), "Index rank"),
        ((1, 2), (2,), (2,), "Number of elements"),
    ],
)
def test_sparse_sets_that_are_none(
    indices: Any, values: Any, shape: Any, message: str
) -> None:
    second = {
        "set2_indices": np.zeros(indices, np.int64),
        "set2_values": np.ones(values, np.int8),
        "set2_shape": np.full(shape, 2, np.int64),
        "set_operation": "a-b",
    }
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match=message):
            tf.raw_ops.DenseToSparseSetOperation(
                set1=np.ones([2, 2], np.int8), **second
            )
        with pytest.raises(ValueError, match=message):
            tf.raw_ops.SparseToSparseSetOperation(
                set1_indices=np.zeros([1, 2], np.int64),
                set1_values=np.ones([1], np.int8),
                set1_shape=np.array([2, 2], np.int64),
                **second,
            )
