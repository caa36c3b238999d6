"""Nodes as TensorFlow 2.x has them, in graphs of its v1 client."""

import numpy as np


def _values(*shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.7) * 0.5).reshape(shape).astype(np.float32)


def averaging_batch_norm(tf):
    """Training with moving averages as inputs, which it moves on itself."""
    x = tf.placeholder(tf.float32, [2, 3, 3, 4], name="x")
    fetches = []
    for factor in (1.0, 0.3):
        y, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
            x=x,
            scale=_values(4) + 1.0,
            offset=_values(4),
            mean=_values(4),
            variance=_values(4) + 1.0,
            exponential_avg_factor=factor,
            is_training=True,
        )
        fetches += [y, mean, variance, *tf.gradients(y * y * y, x)]
    return fetches, [{"x:0": _values(2, 3, 3, 4).tolist()}]


def mapped_ragged_and_sparse(tf):
    """Loops over lists of variants, with and without shapes."""
    x = tf.placeholder(tf.float32, [None], name="x")
    ragged = tf.RaggedTensor.from_row_lengths(x, [2, 0, 3])
    doubled = tf.map_fn(lambda row: tf.concat([row, row], 0), ragged)
    sums = tf.map_fn(tf.reduce_sum, ragged, fn_output_signature=tf.float32)
    matrix = tf.sparse.from_dense(tf.reshape(x[:4], [2, 2]))
    totals = tf.map_fn(
        tf.sparse.reduce_sum, matrix, fn_output_signature=tf.TensorSpec([], tf.float32)
    )
    fetches = [doubled.flat_values, doubled.row_splits, sums, totals]
    return fetches, [{"x:0": [1.0, 0.0, -3.0, 2.5, 4.0]}]


def shuffled_in_a_function(tf):
    """A dataset of a function has its seeds by itself."""
    n = tf.placeholder(tf.int64, [], name="n")

    @tf.function
    def total(n):
        numbers = tf.data.Dataset.range(n).shuffle(7, seed=3)
        once = numbers.shuffle(5, seed=4, reshuffle_each_iteration=False)
        return once.batch(4).reduce(
            tf.constant(0, tf.int64),
            lambda sum, row: sum * 3 + tf.reduce_sum(row * tf.constant(7, tf.int64)),
        )

    return [total(n)], [{"n:0": 20}, {"n:0": 4}]


PROGRAMS = [averaging_batch_norm, mapped_ragged_and_sparse, shuffled_in_a_function]
for _program in PROGRAMS:
    _program.not_in = ("1.15",)
