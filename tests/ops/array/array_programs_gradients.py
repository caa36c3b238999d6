"""Gradients of the array ops.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from tests.ops.array.array_programs import (
    MATRIX,
    Feed,
    feed_matrix,
    gradients,
    program,
)


@program
def gradient_concat(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    y = feed_matrix(tf, feed, name="y")
    return gradients(tf, tf.concat([x, y * 2], 0) * 3.0, x, y)


@program
def gradient_concat_static(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    y = feed_matrix(tf, feed, [4, 3], name="y")
    return gradients(tf, tf.concat([x, y * 2], 1) * 3.0, x, y)


@program
def gradient_concat_many(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    return gradients(tf, tf.concat([x] * 20, -1) * tf.ones([4, 60]), x)


@program
def gradient_stack(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.stack([x, x * 2], 1) * 2.0, x)


@program
def gradient_unstack(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    a = tf.unstack(x)
    return gradients(tf, a[0] * 2 + a[2], x)


@program
def gradient_split(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    a = tf.split(x, [1, 3])
    b = tf.split(x, 3, 1)
    return gradients(tf, a[0] * 2.0, x) + gradients(tf, b[0] * b[1], x)


@program
def gradient_slice(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.slice(x, [1, 0], [2, 2]) ** 2, x)


@program
def gradient_ss(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        gradients(tf, x[1:, ::-1] * x[1:], x)
        + gradients(tf, x[0], x)
        + gradients(tf, x[..., None], x)
    )


@program
def gradient_ss2(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    return tf.gradients(gradients(tf, x[1:] ** 2, x)[0] ** 2, x)


@program
def gradient_pad(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        gradients(tf, tf.pad(x, [[1, 0], [0, 1]]) ** 2, x)
        + gradients(tf, tf.pad(x, [[1, 1], [1, 1]], "REFLECT") ** 2, x)
        + gradients(tf, tf.pad(x, [[1, 0], [0, 1]], constant_values=2.0) ** 2, x)
        + gradients(tf, tf.pad(x, [[1, 2], [1, 1]], "SYMMETRIC") ** 2, x)
    )


@program
def gradient_tile(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.tile(x, [2, 3]) ** 2, x)


@program
def gradient_tr(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.transpose(x) * 2.0, x) + gradients(
        tf, tf.transpose(x, [1, 0]) ** 2, x
    )


@program
def gradient_gather(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.gather(x, [0, 0, 2]) ** 2, x) + gradients(
        tf, tf.gather(x, [0, 0, 2], axis=1) ** 2, x
    )


@program
def gradient_gather_b(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(
        tf, tf.gather(x, [[0, 1], [2, 0], [1, 1], [2, 2]], batch_dims=1, axis=1) ** 2, x
    )


@program
def gradient_gather_v(tf: Any, feed: Feed) -> Any:
    x = tf.get_variable("v", initializer=tf.constant(MATRIX))
    g = tf.gradients(tf.gather(x, [0, 0, 2]) ** 2, x)[0]
    return (g.values, g.indices, g.dense_shape)


@program
def gradient_gnd(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.gather_nd(x, [[0, 1], [0, 1]]) ** 2, x) + gradients(
        tf, tf.gather_nd(x, [[0], [0]]) ** 2, x
    )


@program
def gradient_snd(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [None], v=[1.0, 2.0])
    return gradients(tf, tf.scatter_nd([[1], [1]], x, [3]) ** 2, x)


@program
def gradient_tsc(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    u = tf.ones([1, 3])
    return (
        gradients(tf, tf.tensor_scatter_update(x, [[1]], u) ** 2, x, u)
        + gradients(tf, tf.tensor_scatter_add(x, [[1]], u) ** 2, x, u)
        + gradients(tf, tf.tensor_scatter_sub(x, [[1]], u) ** 2, x, u)
    )


@program
def gradient_resh(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        gradients(tf, tf.reshape(x, [-1]) ** 2, x)
        + gradients(tf, tf.expand_dims(x, 0) ** 2, x)
        + gradients(tf, tf.squeeze(tf.expand_dims(x, 0), [0]) ** 2, x)
    )


@program
def gradient_bto(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.broadcast_to(x, [2, 4, 3]) ** 2, x)


@program
def gradient_rev(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        gradients(tf, tf.reverse(x, [0]) ** 2, x)
        + gradients(tf, tf.reverse_sequence(x, [1, 2, 3, 0], 1) ** 2, x)
        + gradients(tf, tf.roll(x, 1, 0) ** 2, x)
    )


@program
def gradient_fill(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [], v=2.0)
    return gradients(tf, tf.fill([2, 3], x) ** 2, x)


@program
def gradient_id(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(
        tf,
        tf.identity(x)
        + tf.identity_n([x, x * 3])[1]
        + tf.stop_gradient(x) * x
        + tf.check_numerics(x, "a")
        + tf.ensure_shape(x, [4, 3])
        + tf.placeholder_with_default(x, [None, 3]),
        x,
    )


@program
def gradient_dp(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    a, _b = tf.dynamic_partition(x, [0, 1, 0, 1], 2)
    return gradients(tf, a * 2.0, x)


@program
def gradient_ds(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [2, 3], v=MATRIX[:2])
    y = feed_matrix(tf, feed, [2, 3], v=MATRIX[2:], name="y")
    return gradients(tf, tf.dynamic_stitch([[0, 2], [1, 0]], [x, y]) ** 2, x, y)


@program
def gradient_diag(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [3], v=[1.0, 2.0, 3.0])
    m = feed_matrix(tf, feed, [4, 3], name="m")
    return (
        gradients(tf, tf.diag(x) ** 2, x)
        + gradients(tf, tf.matrix_diag(x) ** 2, x)
        + gradients(tf, tf.matrix_diag_part(m) ** 2, m)
        + gradients(tf, tf.matrix_set_diag(m, x) ** 2, m, x)
        + gradients(tf, tf.matrix_band_part(m, 1, 0) ** 2, m)
    )


@program
def gradient_space(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [1, 2, 2, 3], v=MATRIX.reshape(1, 2, 2, 3))
    return gradients(tf, tf.space_to_depth(x, 2) ** 2, x) + gradients(
        tf, tf.space_to_batch(x, [[0, 0], [0, 0]], 2) ** 2, x
    )


@program
def gradient_bm(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.boolean_mask(x, x > 3) ** 2, x)


@program
def gradient_where(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return gradients(tf, tf.where(x > 3, x * x, x), x)


@program
def gradient_bgat(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    return gradients(tf, tf.batch_gather(x, [[0, 1], [2, 0], [1, 1], [2, 2]]) ** 2, x)
