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
