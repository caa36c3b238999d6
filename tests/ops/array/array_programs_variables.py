"""Slices of variables, larger values, unknown ranks and names.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.array.array_programs import (
    MATRIX,
    Feed,
    feed_matrix,
    program,
)


@program
def slice_assign(tf: Any, feed: Feed) -> Any:
    v = tf.get_variable("v", initializer=tf.constant(MATRIX))
    return v[1:3].assign(tf.ones([2, 3]))


@program
def slice_assign_2(tf: Any, feed: Feed) -> Any:
    v = tf.get_variable("v", initializer=tf.constant(MATRIX))
    return v[::-2, 0].assign([5.0, 6.0])


@program
def slice_assign_3(tf: Any, feed: Feed) -> Any:
    v = tf.get_variable("v", initializer=tf.constant(MATRIX))
    return v[1].assign(tf.ones([4]))


@program
def slice_assign_4(tf: Any, feed: Feed) -> Any:
    v = tf.get_variable("v", initializer=tf.zeros([50, 50]))
    return tf.reduce_sum(v[10:20, ::-1].assign(tf.ones([10, 50])))


@program
def slice_assign_6(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[0].assign(3.0)


@program
def variable_reads(tf: Any, feed: Feed) -> Any:
    v = tf.get_variable("v", initializer=tf.constant(MATRIX), use_resource=True)
    return (
        tf.gather(v, [1, 2]),
        tf.gather_nd(v, [[1]]),
        v[1],
        tf.shape(v),
        tf.concat([v, v], 0),
        tf.stack([v, v]),
        tf.convert_to_tensor([v, v]),
        tf.reshape(v, [-1]),
    )


@program
def bigs(tf: Any, feed: Feed) -> Any:
    a = np.arange(20000).reshape(100, 200).astype(np.float32)
    x = tf.constant(a)
    return [
        tf.reduce_sum(t * 2.0)
        for t in (
            x[::2, ::-3],
            tf.transpose(x)[1:],
            tf.gather(x, [5, 5, 99]),
            tf.gather(x, [5, 199], axis=1),
            tf.pad(x, [[1, 1], [2, 2]], "REFLECT"),
            tf.tile(x, [2, 1]),
            tf.reverse(x, [0, 1]),
            tf.concat([x, x], 1),
            tf.split(x, 4)[2],
            tf.unstack(x)[7],
            tf.stack([x, x], 1),
            tf.roll(x, 3, 1),
            tf.one_hot(tf.range(5000), 7),
            tf.fill([100, 100], 2.0),
            tf.zeros([100, 100]),
            tf.ones_like(x),
            tf.boolean_mask(x, x > 100.0),
            tf.gather_nd(x, [[3, 4]]),
            tf.scatter_nd([[3, 4]], [2.0], [100, 200]),
            tf.matrix_band_part(x, 3, 5),
            tf.expand_dims(x, 1),
            tf.broadcast_to(x, [2, 100, 200]),
            tf.slice(x, [3, 4], [10, 20]),
            tf.matrix_diag_part(x),
            tf.matrix_diag(x),
            tf.sequence_mask(tf.range(100), 100, tf.float32),
        )
    ]


@program
def bigints(tf: Any, feed: Feed) -> Any:
    a = np.arange(20000).reshape(100, 200)
    out = []
    for d in (
        tf.int32,
        tf.uint8,
        tf.int64,
        tf.bool,
        tf.float16,
        tf.bfloat16,
        tf.complex64,
        tf.float64,
        tf.int8,
    ):
        x = tf.cast(tf.constant(a), d)
        taken = (
            x[::2, ::-3],
            tf.transpose(x),
            tf.gather(x, [5, 5]),
            tf.concat([x, x], 0),
            tf.tile(x, [1, 2]),
            tf.reverse(x, [0]),
            tf.stack([x, x]),
            tf.reshape(x, [-1]),
            tf.zeros_like(x),
            tf.gather_nd(x, [[3, 4]]),
        )
        floats = [tf.cast(tf.cast(t, tf.float32), tf.float64) for t in taken]
        out.extend(tf.reduce_sum(t) for t in floats)
    return out


@program
def strbig(tf: Any, feed: Feed) -> Any:
    x = tf.placeholder(tf.string, [None])
    feed[x] = [b"a%d" % i for i in range(10)]
    return (
        x[2:4],
        x[::-2],
        tf.shape(x),
        tf.size(x),
        tf.concat([x, x], 0)[:12],
        tf.stack([x, x])[1, 3],
        tf.gather(x, [1, 1]),
        tf.reshape(x, [5, 2]),
        tf.expand_dims(x, 0),
        tf.split(x, 2)[1],
        tf.unstack(x, num=10)[3],
        tf.reverse(x, [0])[0],
        tf.tile(x, [2])[11],
        tf.unique(x)[1],
        tf.identity(x),
        tf.transpose(tf.reshape(x, [5, 2])),
        tf.boolean_mask(x, [True] * 3 + [False] * 7),
        tf.squeeze(tf.expand_dims(x, 0)),
        tf.pad(x, [[0, 1]]),
        tf.fill([2], x[0]),
        tf.strings.length(x),
        x[3],
        tf.where([True] * 10, x, x),
    )


@program
def shape_n_grad(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, None)
    y = feed_matrix(tf, feed, None, name="y")
    return tf.gradients(tf.concat([x, y], 0) * 2.0, [x, y])


@program
def unk_rank(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, None)
    return (
        tf.shape(x),
        tf.rank(x),
        tf.size(x),
        tf.expand_dims(x, 0),
        tf.squeeze(tf.expand_dims(x, 0)),
        tf.transpose(x),
        tf.reshape(x, [-1]),
        x[0],
        x[..., 0],
        tf.tile(x, [2, 1]),
        tf.zeros_like(x),
        tf.ones_like(x),
        tf.pad(x, [[1, 1], [0, 0]]),
        tf.stack([x, x]),
        tf.split(x, 2),
        tf.gather(x, 1),
        tf.reverse(x, [0]),
        tf.one_hot(tf.cast(x, tf.int32), 3),
    )


@program
def names(tf: Any, feed: Feed) -> Any:
    with tf.name_scope("s"):
        x = feed_matrix(tf, feed)
        y = tf.reshape(x, [-1], name="r")
        z = tf.zeros([3])
        w = tf.concat([y, z], 0, name="c")
        tf.stack([1, 2], name="st")
        x[0]
        with tf.name_scope("t"):
            a = tf.expand_dims(w, 0)
            b = tf.one_hot([1], 2)
            tf.split(w, 3)
            tf.pad(w, [[1, 1]])
            tf.where([True])
            tf.fill([2], 1)
    return (w, a, b)
