"""Scatter updates: variables in host memory and in tensors, of both kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# Recorded from TensorFlow 1.15: each op with indices [1, 1, 2] and updates [2, 3, 4],
# one after the other, on ones.
FLOATS: list[tuple[str, list[float]]] = [
    ("scatter_update", [1.0, 3.0, 4.0, 1.0]),
    ("scatter_add", [1.0, 8.0, 8.0, 1.0]),
    ("scatter_sub", [1.0, 3.0, 4.0, 1.0]),
    ("scatter_mul", [1.0, 18.0, 16.0, 1.0]),
    ("scatter_div", [1.0, 3.0, 4.0, 1.0]),
    ("scatter_min", [1.0, 2.0, 4.0, 1.0]),
    ("scatter_max", [1.0, 3.0, 4.0, 1.0]),
]
# The same on int32 sevens.
INTS: list[tuple[str, list[int]]] = [
    ("scatter_mul", [7, 42, 28, 7]),
    ("scatter_div", [7, 7, 7, 7]),
    ("scatter_min", [7, 2, 4, 7]),
    ("scatter_max", [7, 3, 4, 7]),
]

SIZE = pytest.mark.parametrize("size", [4, 20], ids=["host", "tensor"])
KIND = pytest.mark.parametrize("use_resource", [False, True])


def _run(
    initial: np.ndarray[Any, Any], use_resource: bool, names: list[str]
) -> list[list[float]]:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(initial, use_resource=use_resource)
        updates = np.array([2, 3, 4], initial.dtype)
        ops = [getattr(tf, name)(variable, [1, 1, 2], updates) for name in names]
        session.run(variable.initializer)
        results = []
        for op in ops:
            session.run(op.op)
            results.append(session.run(variable).tolist()[:4])
        return results


@SIZE
@KIND
def test_rows_of_floats(size: int, use_resource: bool) -> None:
    names, expected = zip(*FLOATS, strict=True)
    results = _run(np.ones(size, np.float32), use_resource, list(names))
    assert results == list(expected)


@SIZE
@KIND
def test_rows_of_ints(size: int, use_resource: bool) -> None:
    names, expected = zip(*INTS, strict=True)
    results = _run(np.full(size, 7, np.int32), use_resource, list(names))
    assert results == list(expected)


@KIND
@pytest.mark.parametrize("shape", [(4, 3, 2), (40, 3, 2)])
def test_slices_at_index_vectors(shape: tuple[int, ...], use_resource: bool) -> None:
    rng = np.random.default_rng(0)
    indices = rng.permutation(shape[0] * shape[1])[:5]
    vectors = np.stack(np.unravel_index(indices, shape[:2]), axis=1)
    updates = rng.normal(size=(5, 2)).astype(np.float32)
    expected = np.zeros(shape, np.float32)
    expected[tuple(vectors.T)] = updates
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros(shape, np.float32), use_resource=use_resource)
        update = tf.scatter_nd_update(variable, vectors, updates).op
        add = tf.scatter_nd_add(variable, vectors, updates).op
        subtract = tf.scatter_nd_sub(variable, vectors[:1], updates[:1]).op
        session.run(variable.initializer)
        session.run(update)
        np.testing.assert_array_equal(session.run(variable), expected)
        session.run(add)
        np.testing.assert_array_equal(session.run(variable), expected * 2)
        session.run(subtract)
        expected *= 2
        expected[tuple(vectors[0])] -= updates[0]
        np.testing.assert_allclose(session.run(variable), expected)


def test_batches() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros((2, 3), np.float32))
        update = tf.batch_scatter_update(
            variable, [[0, 2], [1, 1]], [[1.0, 2.0], [3.0, 4.0]]
        )
        session.run(variable.initializer)
        assert session.run(update).tolist() == [[1.0, 0.0, 2.0], [0.0, 4.0, 0.0]]


def test_strings() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(["a", "b"])
        update = tf.scatter_update(variable, [1], ["changed"])
        session.run(variable.initializer)
        assert session.run(update).tolist() == [b"a", b"changed"]


@KIND
@pytest.mark.parametrize("count", [4, 120], ids=["few", "loop"])
@pytest.mark.parametrize("name", ["scatter_sub", "scatter_max"])
@pytest.mark.parametrize("size", [1, 150], ids=["host", "tensor"])
def test_bad_rows_are_named(
    size: int, name: str, count: int, use_resource: bool
) -> None:
    indices = np.zeros((count // 2, 2), np.int32)
    indices[1, 1] = -1
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.ones(size, np.float32), use_resource=use_resource)
        fed = tf.placeholder(tf.int32)
        update = getattr(tf, name)(variable, fed, np.ones(indices.shape, np.float32))
        session.run(variable.initializer)
        message = rf"indices\[1,1\] = -1 is not in \[0, {size}\)"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(update.op, {fed: indices})
        assert (session.run(variable) == 1).all()
        indices[1, 1] = size - 1
        session.run(update.op, {fed: indices})
        assert (session.run(variable).sum() == size) == (name == "scatter_max")


@KIND
@pytest.mark.parametrize("count", [4, 120], ids=["few", "loop"])
def test_several_axes_of_indices_and_one_update_for_all(
    count: int, use_resource: bool
) -> None:
    indices = np.arange(count).reshape(2, -1)
    rows = np.arange(count * 3, dtype=np.float32).reshape(*indices.shape, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(
            np.zeros((150, 3), np.float32), use_resource=use_resource
        )
        add = tf.scatter_add(variable, indices, rows).op
        one = tf.scatter_add(variable, indices, np.float32(2)).op
        empty = tf.scatter_add(
            variable, np.zeros(0, np.int32), np.zeros((0, 3), np.float32)
        ).op
        session.run(variable.initializer)
        for op in (add, one, empty):
            session.run(op)
        expected = np.zeros((150, 3), np.float32)
        expected[:count] = rows.reshape(-1, 3) + 2
        np.testing.assert_array_equal(session.run(variable), expected)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3,)])
def test_other_shapes_of_updates_are_refused(shape: tuple[int, ...]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros((150, 3), np.float32), use_resource=False)
        fed = tf.placeholder(tf.float32)
        update = tf.scatter_add(variable, [1, 2, 3], fed).op
        session.run(variable.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Must have updates"):
            session.run(update, {fed: np.ones(shape)})
