"""Answers that kernels remember from step to step are those of the step's inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

CASES = [
    ((4, 5), [1, 2], [2, 3]),
    ((4, 5), [1, 2], [2, -1]),
    ((4, 5), [0, 0], [4, 5]),
    ((4, 5), [0, 1], [-1, 2]),
    ((6, 5), [0, 1], [-1, 2]),
    ((6, 5), [5, 0], [0, 5]),
]


@pytest.mark.parametrize("scale", [1, 100])  # in host memory, and as tensors
def test_slices_with_new_ends_in_each_step(scale: int) -> None:
    value = tf.placeholder(tf.float32, [None, None] if scale > 1 else None)
    begin, size = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2])
    part = tf.slice(value, begin, size)
    with tf.Session() as sess:
        for shape, b, s in [*CASES, *CASES]:
            x = np.random.rand(*(d * scale for d in shape)).astype(np.float32)
            wanted = x[
                tuple(
                    slice(at, None if n == -1 else at + n)
                    for at, n in zip(b, s, strict=True)
                )
            ]
            np.testing.assert_array_equal(
                sess.run(part, {value: x, begin: b, size: s}), wanted
            )
            with pytest.raises(tf.errors.InvalidArgumentError, match="Expected size"):
                sess.run(part, {value: x, begin: b, size: [x.shape[0] + 1, 0]})


REDUCTIONS: list[tuple[tuple[int, ...], Any]] = [
    ((2, 3), [0]),
    ((2, 3), [1]),
    ((2, 3, 4), [1]),
    ((2, 3, 4), [-1]),
    ((3,), [-1]),
    ((2, 3, 4), [2, 0]),
    ((2, 3, 4), [0, 1, 2]),
]


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_max])
def test_axes_that_change_with_each_step(reduce: Any) -> None:
    value, axes = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [None])
    reduced = reduce(value, axes)
    numpy_reduce = np.sum if reduce is tf.reduce_sum else np.max
    with tf.Session() as sess:
        for shape, at in [*REDUCTIONS, *REDUCTIONS]:
            x = np.random.rand(*shape).astype(np.float32)
            np.testing.assert_allclose(
                sess.run(reduced, {value: x, axes: at}),
                numpy_reduce(x, axis=tuple(at)),
                rtol=1e-5,
            )
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduc"):
                sess.run(reduced, {value: x, axes: [len(shape)]})


@pytest.mark.parametrize("size", [4, 4000])  # in host memory, and by torch
def test_all_axes_of_gathered_indices_may_be_of_the_batch(size: int) -> None:
    """`tf.gather(values, best, batch_dims=1)` of TensorFlow 2's programs."""
    values = np.arange(2.0 * size, dtype=np.float32).reshape(2, size)
    fed = tf.placeholder(tf.float32, [2, size])
    at, axis = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [])
    picked = tf.gather(fed, at, batch_dims=1)
    by_axis = tf.raw_ops.GatherV2(params=fed, indices=at, axis=axis, batch_dims=1)
    (gradient,) = tf.gradients(picked, fed)
    assert picked.shape.as_list() == [2]
    assert by_axis.shape.rank == 1
    with tf.Session() as session:
        feed = {fed: values, at: [3, 1], axis: -1}
        found, same, slopes = session.run([picked, by_axis, gradient], feed)
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
            session.run(picked, {fed: values, at: [3, size]})
    assert found.tolist() == same.tolist() == [3, size + 1]
    assert np.argwhere(slopes).tolist() == [[0, 3], [1, 1]]
