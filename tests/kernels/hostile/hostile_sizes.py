"""Sizes that no tensor can have, and what TensorFlow 1.15 says of them."""

from __future__ import annotations

import numpy as np

import tensorloom as tf
from tests.kernels.hostile.hostile_value import Row, i32, i64

f = np.float32
nan = float("nan")
E = 2**40
M = 2**31 - 1
L = 2**62
x = np.ones((2, 3), f)
img = np.ones((1, 4, 4, 1), f)

CASES: dict[str, Row] = {
    "fill 2^40": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.fill(given(i64(E)), f(1)),
    ),
    "fill 2^62x8": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.fill(given(i64(L, 8)), f(1)),
    ),
    "fill negative": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.fill(given(i32(-1)), f(1)),
    ),
    "fill 2^31-1 twice": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.fill(given(i32(M, M)), f(1)),
    ),
    "zeros 2^40": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.zeros(given(i64(E))),
    ),
    "ones neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.ones(given(i32(2, -3))),
    ),
    "tile 2^40": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.tile(x, given(i64(E, 1))),
    ),
    "tile overflow": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.tile(x, given(i64(L, L))),
    ),
    "tile neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.tile(x, given(i32(-1, 2))),
    ),
    "range 2^40": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.range(given(np.int64(E))),
    ),
    "range 2^62": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.range(given(np.int64(L)), delta=np.int64(1)),
    ),
    "range nan": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.range(given(f(nan)), f(3.0), f(1.0)),
    ),
    "range inf": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.range(f(0.0), given(f(np.inf)), f(1.0)),
    ),
    "range delta 0": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.range(f(0.0), f(3.0), given(f(0.0))),
    ),
    "range delta nan": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.range(f(0.0), f(3.0), given(f(nan))),
    ),
    "range wrong sign": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.range(5, given(np.int32(1)), 1),
    ),
    "range tiny delta": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.range(f(0.0), f(1e30), given(f(1e-30))),
    ),
    "linspace 2^31-1": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.linspace(f(0.0), f(1.0), given(np.int32(0))),
    ),
    "linspace neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.linspace(f(0.0), f(1.0), given(np.int32(-4))),
    ),
    "pad huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.pad(x, given(np.array([[E, 0], [0, 0]], np.int64))),
    ),
    "pad overflow": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.pad(x, given(np.array([[L, L], [0, 0]], np.int64))),
    ),
    "pad neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.pad(x, given(np.array([[-1, 0], [0, 0]], np.int32))),
    ),
    "mirror pad huge": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.pad(x, given(np.array([[E, 0], [0, 0]], np.int64)), "REFLECT"),
    ),
    "reshape neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reshape(x, given(i32(-2, 3))),
    ),
    "reshape two unknown": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.reshape(x, given(i32(-1, -1))),
    ),
    "reshape overflow": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reshape(x, given(i64(L, L))),
    ),
    "reshape huge": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.reshape(x, given(i64(E, -1))),
    ),
    "reshape 0 -1": (
        "fine",
        "fine",
        lambda given: tf.reshape(np.zeros((0,), f), given(i32(0, -1))),
    ),
    "one_hot 2^31-1": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.one_hot(np.arange(2**12, dtype=np.int32), given(np.int32(M))),
    ),
    "one_hot neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.one_hot(i32(1, 2), given(np.int32(-1))),
    ),
    "eye neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.eye(given(np.int32(-3))),
    ),
    "resize huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.image.resize_bilinear(img, given(i32(M, M))),
    ),
    "resize 0": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.image.resize_bilinear(img, given(i32(0, 4))),
    ),
    "resize neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.image.resize_nearest_neighbor(img, given(i32(-1, 4))),
    ),
    "resize bicubic huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.image.resize_bicubic(img, given(i32(M, M))),
    ),
    "resize area huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.image.resize_area(img, given(i32(M, M))),
    ),
    "crop_and_resize huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.image.crop_and_resize(
            img, np.array([[0, 0, 1, 1]], f), i32(0), given(i32(M, M))
        ),
    ),
    "crop_and_resize neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.image.crop_and_resize(
            img, np.array([[0, 0, 1, 1]], f), i32(0), given(i32(-1, 4))
        ),
    ),
    "conv backprop input huge": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.nn.conv2d_backprop_input(
            given(i32(1, M, M, 1)), np.ones((2, 2, 1, 1), f), img, [1, 1, 1, 1], "SAME"
        ),
    ),
    "conv backprop filter neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.conv2d_backprop_filter(
            img, given(i32(-2, 2, 1, 1)), img, [1, 1, 1, 1], "SAME"
        ),
    ),
    "conv rank": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.conv2d(
            given(x), np.ones((2, 2, 1, 1), f), [1, 1, 1, 1], "SAME"
        ),
    ),
    "conv filter too large": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.conv2d(
            img, given(np.ones((9, 9, 1, 1), f)), [1, 1, 1, 1], "VALID"
        ),
    ),
    "conv depth": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.nn.conv2d(
            img, given(np.ones((2, 2, 3, 1), f)), [1, 1, 1, 1], "VALID"
        ),
    ),
    "broadcast_to huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.broadcast_to(np.ones((1,), f), given(i64(E))),
    ),
    "broadcast_to neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.broadcast_to(np.ones((1,), f), given(i32(-1))),
    ),
    "random_uniform huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.random_uniform(given(i64(E))),
    ),
    "random_uniform overflow": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.random_uniform(given(i64(L, L))),
    ),
    "random_normal huge seeded": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.random_normal(given(i64(E)), seed=1),
    ),
    "random_normal neg": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.random_normal(given(i32(-1))),
    ),
    "truncated_normal huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.truncated_normal(given(i64(E))),
    ),
    "stateless huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.random.stateless_uniform(given(i64(E)), [1, 2]),
    ),
    "multinomial huge": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.multinomial(np.ones((2, 3), f), given(np.int32(-1))),
    ),
    "random_gamma huge": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.random_gamma(given(i64(E)), f(1.0)),
    ),
    "random_poisson huge": (
        "build ValueError",
        "build ValueError",
        lambda given: tf.random_poisson(f(1.0), given(i64(E))),
    ),
    "scatter_nd huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.scatter_nd(
            np.array([[0]], np.int64), np.ones((1,), f), given(i64(E))
        ),
    ),
    "scatter_nd neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.scatter_nd(
            np.array([[0]], np.int32), np.ones((1,), f), given(i32(-4))
        ),
    ),
    "scatter_nd out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.scatter_nd(
            np.array([[9]], np.int32), np.ones((1,), f), given(i32(4))
        ),
    ),
    "unsorted_segment huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.unsorted_segment_sum(x, i32(0, 1), given(np.int64(E))),
    ),
    "unsorted_segment neg": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.unsorted_segment_sum(x, i32(0, 1), given(np.int32(-2))),
    ),
    "unsorted_segment out": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.unsorted_segment_sum(x, given(i32(0, 9)), 2),
    ),
    "segment_sum unsorted": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.segment_sum(x, given(i32(1, 0))),
    ),
    "segment_sum huge id": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.segment_sum(x, given(i64(0, E))),
    ),
    "sparse_to_dense huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.sparse_to_dense(i64(1), given(i64(E)), f(1.0)),
    ),
    "bincount huge": (
        "fine",
        "fine",
        lambda given: tf.bincount(i32(1, 2), minlength=given(np.int32(-1))),
    ),
    "sequence_mask huge": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.sequence_mask(i32(1, 2), given(np.int32(-3))),
    ),
    "slice huge": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.slice(x, i64(0, 0), given(i64(E, 1))),
    ),
    "matrix_diag": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.linalg.diag(given(f(1.0))),
    ),
    "diag huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.diag(given(np.ones((2**19,), f))),
    ),
    "matmul outer huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.matmul(given(np.ones((2**21, 1), f)), np.ones((1, 2**21), f)),
    ),
    "dynamic_stitch huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.dynamic_stitch([given(i32(M - 1, 0))], [x]),
    ),
    "quantile hist": (
        "build ValueError",
        "run InvalidArgumentError",
        lambda given: tf.histogram_fixed_width(x, [0.0, 1.0], given(np.int32(-1))),
    ),
    "empty huge": (
        "run ResourceExhaustedError",
        "run ResourceExhaustedError",
        lambda given: tf.raw_ops.Empty(shape=given(i32(M, M)), dtype=tf.float32),
    ),
    "tensor list huge": (
        "run InvalidArgumentError",
        "run InvalidArgumentError",
        lambda given: tf.raw_ops.TensorListStack(
            input_handle=tf.raw_ops.TensorListReserve(
                element_shape=i32(2),
                num_elements=given(np.int32(-2)),
                element_dtype=tf.float32,
            ),
            element_shape=i32(2),
            element_dtype=tf.float32,
        ),
    ),
}
