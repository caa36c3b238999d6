"""Array kernels in host memory and on tensors: the same results, as NumPy's.

With static shapes a small value stays in host memory; fed through a placeholder of
unknown shape it becomes a tensor. Each row is run both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.array.concat import concat_offsets
from tests.kernels.math.math_ops_calls import call_host, call_torch

X = np.arange(24).reshape(4, 6)
INDICES = np.array([[0, 5], [3, 2]])

# (what to build, what NumPy gives) for a matrix x.
Case = tuple[Callable[[Any], Any], Callable[[Any], Any]]
MOVES: dict[str, Case] = {
    "slice": (lambda x: tf.slice(x, [1, 2], [2, 3]), lambda x: x[1:3, 2:5]),
    "index": (lambda x: x[1], lambda x: x[1]),
    "strided": (lambda x: x[::-2, 1:5:3], lambda x: x[::-2, 1:5:3]),
    "new_axis": (lambda x: x[:, None, 2], lambda x: x[:, None, 2]),
    "reshape": (lambda x: tf.reshape(x, [3, -1]), lambda x: x.reshape(3, 8)),
    "expand_dims": (lambda x: tf.expand_dims(x, 1), lambda x: x[:, None]),
    "squeeze": (lambda x: tf.squeeze(x[:1], [0]), lambda x: x[0]),
    "transpose": (lambda x: tf.transpose(x, [1, 0]), lambda x: x.T),
    "concat": (
        lambda x: tf.concat([x, x[:, :2]], 1),
        lambda x: np.hstack([x, x[:, :2]]),
    ),
    "pack": (lambda x: tf.stack([x, x], 2), lambda x: np.stack([x, x], 2)),
    "unpack": (lambda x: tf.unstack(x, 6, axis=1)[4], lambda x: x[:, 4]),
    "split": (lambda x: tf.split(x, 2, axis=0)[1], lambda x: x[2:]),
    "split_v": (lambda x: tf.split(x, [1, 5], axis=1)[1], lambda x: x[:, 1:]),
    "tile": (lambda x: tf.tile(x, [2, 3]), lambda x: np.tile(x, (2, 3))),
    "tile_single_elements": (
        lambda x: tf.tile(x[:, :, None], [1, 1, 4]),
        lambda x: np.tile(x[:, :, None], (1, 1, 4)),
    ),
    "tile_to_nothing": (
        lambda x: tf.tile(x[:, :1], [1, 0]),
        lambda x: np.tile(x[:, :1], (1, 0)),
    ),
    "reverse": (lambda x: tf.reverse(x, [1]), lambda x: x[:, ::-1]),
    "roll": (
        lambda x: tf.roll(x, [1, -2], [0, 1]),
        lambda x: np.roll(x, (1, -2), (0, 1)),
    ),
    "gather": (lambda x: tf.gather(x, [3, 0, 0]), lambda x: x[[3, 0, 0]]),
    "gather_axis": (lambda x: tf.gather(x, INDICES, axis=1), lambda x: x[:, INDICES]),
    "gather_nd": (lambda x: tf.gather_nd(x, INDICES), lambda x: x[[0, 3], [5, 2]]),
    "broadcast_to": (
        lambda x: tf.broadcast_to(x, [2, 4, 6]),
        lambda x: np.broadcast_to(x, (2, 4, 6)),
    ),
    "pad": (
        lambda x: tf.pad(x, [[1, 0], [0, 2]]),
        lambda x: np.pad(x, [(1, 0), (0, 2)]),
    ),
    "reflect": (
        lambda x: tf.pad(x, [[2, 1], [0, 3]], "REFLECT"),
        lambda x: np.pad(x, [(2, 1), (0, 3)], "reflect"),
    ),
    "symmetric": (
        lambda x: tf.pad(x, [[2, 4], [0, 3]], "SYMMETRIC"),
        lambda x: np.pad(x, [(2, 4), (0, 3)], "symmetric"),
    ),
    "zeros_like": (lambda x: tf.zeros_like(x, optimize=False), np.zeros_like),
    "reverse_sequence": (
        lambda x: tf.reverse_sequence(x, [1, 2, 0, 6], 1),
        lambda x: np.stack([x[0], [*x[1, 1::-1], *x[1, 2:]], x[2], x[3, ::-1]]),
    ),
    "stitch": (
        lambda x: tf.dynamic_stitch([[1, 3], [0, 2]], [x[:2], x[2:]]),
        lambda x: x[[2, 0, 3, 1]],
    ),
    "partition": (
        lambda x: tf.dynamic_partition(x, [1, 0, 1, 1], 2)[1],
        lambda x: x[[0, 2, 3]],
    ),
    "update": (
        lambda x: tf.tensor_scatter_update(x, [[1], [3]], x[:2]),
        lambda x: x[[0, 0, 2, 1]],
    ),
    "band": (lambda x: tf.matrix_band_part(x, 1, 0), lambda x: np.tril(np.triu(x, -1))),
    "diag_part": (lambda x: tf.matrix_diag_part(x), lambda x: x.diagonal()),
    "set_diag": (
        lambda x: tf.matrix_set_diag(x, x[0, :4]),
        lambda x: np.where(np.eye(4, 6, dtype=bool), x[0], x),
    ),
    "space_to_depth": (
        lambda x: tf.space_to_depth(tf.reshape(x, [1, 4, 6, 1]), 2),
        lambda x: (
            x.reshape(1, 2, 2, 3, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(1, 2, 3, 4)
        ),
    ),
    "space_to_batch": (
        lambda x: tf.space_to_batch(tf.reshape(x, [1, 4, 6, 1]), [[0, 0], [0, 0]], 2),
        lambda x: (
            x.reshape(1, 2, 2, 3, 2, 1).transpose(2, 4, 0, 1, 3, 5).reshape(4, 2, 3, 1)
        ),
    ),
    "where": (lambda x: tf.where(tf.cast(x, tf.bool)), np.argwhere),
}
DTYPES = [
    *(np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int8, np.int16),
    *(np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.bool_),
    *(np.complex64, np.complex128),
]


def _run(build: Callable[[Any], Any], value: Any, shape: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.as_dtype(value.dtype), shape)
        return session.run(build(x), {x: value})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MOVES)
def test_as_numpy_in_both_memories(name: str, dtype: Any) -> None:
    build, reference = MOVES[name]
    value = X.astype(dtype)
    expected = np.asarray(reference(value))
    for shape in ([4, 6], [None, None]):
        result = _run(build, value, shape)
        assert result.dtype == expected.dtype
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("shape", [[2], None])
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda n: tf.fill(n, 1.0), "Dimension -1 must be >= 0"),
        (lambda n: tf.reshape(X, tf.abs(n) * 1000), "requested shape has"),
        (lambda n: tf.broadcast_to(1.0, n), "Dimension -1 must be >= 0"),
        (lambda n: tf.tile(X, n), "Expected multiples[1] >= 0, but got -1"),
        (lambda n: tf.gather(X, n), "indices[0] = 1048576 is not in [0, 4)"),
        (lambda n: tf.slice(X, n, [1, 1]), "Expected begin[0] in [0, 4]"),
        (lambda n: _matrix()[n[0]], "slice index 1048576 of dimension 0"),
        (lambda n: tf.transpose(X, n), "1048576 is out of range [0 .. 2)"),
        (lambda n: tf.invert_permutation(n), "1048576 is not between 0 and 2"),
        (lambda n: tf.scatter_nd([n], [1.0], [3, 3]), "does not index into"),
        (lambda n: tf.one_hot([1], n[1]), "depth must be non-negative"),
        (lambda n: tf.reverse(X, n), "is out of valid range"),
    ],
)
def test_bad_values_are_named(build: Any, message: str, shape: Any) -> None:
    value = np.array([1 << 20, -1], np.int32)
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        _run(build, value, shape)
    assert message in str(error.value)


def _matrix() -> Any:
    return tf.constant(X)


@pytest.mark.parametrize(
    "build",
    [
        lambda n: tf.fill(n, 1.0),
        lambda n: tf.broadcast_to(1.0, n),
        lambda n: tf.tile(X, n),
        lambda n: tf.scatter_nd([[0, 0]], [1.0], n),
        lambda n: tf.pad(X, [[0, n[0]], [0, n[1]]]),
        lambda n: tf.one_hot(tf.zeros([1000, 1000], tf.int32), n[0]),
        lambda n: tf.reshape(X, n),
        lambda n: tf.raw_ops.Empty(shape=n, dtype=tf.float32),
    ],
)
def test_huge_sizes_fail_without_allocation(build: Any) -> None:
    value = np.array([1 << 30, 1 << 30], np.int32)
    with pytest.raises(
        (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
    ):
        _run(build, value, [2])


@pytest.mark.parametrize(
    ("shape", "batch", "seq"),
    [
        *[((4, 6), 0, 1), ((4, 6), 1, 0), ((4, 6, 5), 2, 1), ((4, 2, 6, 3), 0, 2)],
        *[((0, 3, 2), 0, 1), ((3, 0), 0, 1), ((2, 3, 0), 1, 0)],
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.complex64, bool])
def test_reversed_sequences_on_tensors(
    shape: tuple[int, ...], batch: int, seq: int, dtype: Any
) -> None:
    x = (np.arange(math.prod(shape)) % 7).reshape(shape).astype(dtype)
    lengths = np.arange(shape[batch], dtype=np.int64) % (shape[seq] + 1)
    attrs = {"batch_dim": batch, "seq_dim": seq}
    expected = call_host("ReverseSequence", x, lengths, **attrs)
    found = call_torch("ReverseSequence", x, lengths, **attrs)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_views_do_not_leak_into_fetches() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        parts = [x[0], tf.reshape(x, [-1]), tf.transpose(x), tf.identity(x)]
        value = np.ones((2, 3), np.float32)
        results = session.run(parts, {x: value})
        value[:] = 7.0
        for result in results:
            np.testing.assert_array_equal(result, np.ones_like(result))


def test_scalars_are_numpy_scalars() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        fetches = [x[0], tf.reshape(x[:1], []), tf.squeeze(x[1:]), tf.size(x)]
        results = session.run(fetches, {x: [3.0, 4.0]})
    assert [type(r) for r in results] == [np.float32] * 3 + [np.int32]
    assert results == [3.0, 3.0, 4.0, 2]


@pytest.mark.parametrize(
    ("axis", "shapes", "expected"),
    [
        (1, [[2, 3], [2, 5], [2, 0]], [[0, 0], [0, 3], [0, 8]]),
        (-2, [[2, 3], [4, 3]], [[0, 0], [2, 0]]),
        (0, [[2**30], [2**30], [2**30]], [[0], [2**30], [-(2**31)]]),
    ],
)
def test_concat_offsets(axis: int, shapes: Any, expected: Any) -> None:
    arrays = [np.array(shape, np.int32) for shape in shapes]
    found = concat_offsets(np.int32(axis), arrays)
    np.testing.assert_array_equal(found, expected)
    assert {offset.dtype for offset in found} == {np.dtype(np.int32)}


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("off", [0, 2])
def test_one_hot_rows_of_many(kind: Any, off: int) -> None:
    numbers = np.random.RandomState(0).randint(0, 9, [40, 30]).astype(kind)
    if kind is not np.uint8:
        numbers[3, 4] = -1
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(kind, [None, 30])
        one_hot = tf.one_hot(fed, 7, 3.0, float(off))
        found = session.run(one_hot, {fed: numbers})
    expected = np.where(numbers[..., None] == np.arange(7), 3, off)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("is_time_major", [False, True])
@pytest.mark.parametrize("rest", [(), (3,), (2, 3)])
def test_reverse_sequence_of_leading_axes(
    is_time_major: bool, rest: tuple[int, ...]
) -> None:
    random = np.random.RandomState(0)
    x = random.rand(5, 7, *rest).astype(np.float32)
    lengths = [0, 1, 4, 7, 6]
    expected = x.copy()
    for row, length in enumerate(lengths):
        expected[row, :length] = x[row, :length][::-1]
    axes = {"seq_axis": 0, "batch_axis": 1} if is_time_major else {"seq_axis": 1}
    given = x.swapaxes(0, 1) if is_time_major else x
    with tf.Graph().as_default(), tf.Session() as session:
        turned = session.run(tf.reverse_sequence(given, lengths, **axes))
    found = turned.swapaxes(0, 1) if is_time_major else turned
    np.testing.assert_array_equal(found, expected)
