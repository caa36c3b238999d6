"""Transpose, reverse, gather and scatter.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.array.array_programs import (
    Feed,
    feed_integers,
    feed_matrix,
    program,
)


@program
def transpose_1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.transpose(x),
        tf.transpose(x, [1, 0]),
        tf.transpose(feed_matrix(tf, feed, None, name="y")),
        tf.transpose(tf.constant([[1 + 2j, 3]]), conjugate=True),
        tf.transpose(tf.reshape(x, [2, 2, 3]), [2, 0, 1]),
        tf.transpose(feed_matrix(tf, feed, None, name="z"), [1, 0]),
        tf.transpose(x, feed_integers(tf, feed, [1, 0])),
        tf.transpose(5),
        tf.transpose([1, 2]),
        tf.transpose(x, name="foo"),
        tf.transpose([["a", "b"]]),
    )


@program
def transpose_2(tf: Any, feed: Feed) -> Any:
    return (
        tf.matrix_transpose(feed_matrix(tf, feed)),
        tf.linalg.transpose(tf.zeros([2, 3, 4])),
        tf.matrix_transpose(feed_matrix(tf, feed, None, name="y")),
        tf.transpose(feed_matrix(tf, feed, name="q"), [-1, 0]),
    )


@program
def transpose_bad(tf: Any, feed: Feed) -> Any:
    return tf.transpose(feed_matrix(tf, feed), [0])


@program
def transpose_bad2(tf: Any, feed: Feed) -> Any:
    return tf.transpose(feed_matrix(tf, feed), [0, 2])


@program
def transpose_bad3(tf: Any, feed: Feed) -> Any:
    return tf.transpose(feed_matrix(tf, feed), [0, 0])


@program
def transpose_bad4(tf: Any, feed: Feed) -> Any:
    return tf.transpose(feed_matrix(tf, feed), feed_integers(tf, feed, [0, 2]))


@program
def transpose_bad5(tf: Any, feed: Feed) -> Any:
    return tf.matrix_transpose([1])


@program
def invert_permutation(tf: Any, feed: Feed) -> Any:
    return (
        tf.invert_permutation([2, 0, 1]),
        tf.invert_permutation(feed_integers(tf, feed, [1, 0], [None])),
        tf.invert_permutation(tf.constant([], tf.int32)),
    )


@program
def invert_permutation_bad(tf: Any, feed: Feed) -> Any:
    return tf.invert_permutation([2, 0, 0])


@program
def invert_permutation_bad2(tf: Any, feed: Feed) -> Any:
    return tf.invert_permutation([3, 0, 1])


@program
def invert_permutation_bad3(tf: Any, feed: Feed) -> Any:
    return tf.invert_permutation([[1, 0]])


@program
def reverse(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.reverse(x, [0]),
        tf.reverse(x, [0, -1]),
        tf.reverse(feed_matrix(tf, feed, None, name="y"), feed_integers(tf, feed, [1])),
        tf.reverse(["a", "b"], [0]),
        tf.reverse(x, []),
    )


@program
def reverse_bad(tf: Any, feed: Feed) -> Any:
    return tf.reverse(feed_matrix(tf, feed), [2])


@program
def reverse_bad2(tf: Any, feed: Feed) -> Any:
    return tf.reverse(feed_matrix(tf, feed), [0, 0])


@program
def reverse_bad3(tf: Any, feed: Feed) -> Any:
    return tf.reverse(feed_matrix(tf, feed), 0)


@program
def reverse_bad4(tf: Any, feed: Feed) -> Any:
    return tf.reverse(feed_matrix(tf, feed), feed_integers(tf, feed, [3]))


@program
def reverse_sequence(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.reverse_sequence(x, [1, 2, 3, 0], seq_axis=1, batch_axis=0),
        tf.reverse_sequence(x, [1, 2, 3], seq_dim=0, batch_dim=1),
        tf.reverse_sequence(
            tf.reshape(x, [2, 2, 3]), feed_integers(tf, feed, [1, 3]), seq_axis=2
        ),
    )


@program
def reverse_sequence_bad(tf: Any, feed: Feed) -> Any:
    return tf.reverse_sequence(feed_matrix(tf, feed), [1, 2, 3, 7], seq_axis=1)


@program
def reverse_sequence_bad2(tf: Any, feed: Feed) -> Any:
    return tf.reverse_sequence(feed_matrix(tf, feed, [4, 3]), [1, 2], seq_axis=1)


@program
def reverse_sequence_bad3(tf: Any, feed: Feed) -> Any:
    return tf.reverse_sequence(feed_matrix(tf, feed), [1, 2, 1, 1], seq_axis=0)


@program
def roll(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.roll(x, 1, 0),
        tf.roll(x, [1, -1], [0, 1]),
        tf.roll(x, -1, -1),
        tf.roll(x, feed_integers(tf, feed, 5), 0),
        tf.roll(["a", "b"], 1, 0),
    )


@program
def roll_bad(tf: Any, feed: Feed) -> Any:
    return tf.roll(feed_matrix(tf, feed), 1, 2)


@program
def gather(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.gather(x, [0, 2]),
        tf.gather(x, 1),
        tf.gather(x, [[0], [1]]),
        tf.gather(x, [0, 2], axis=1),
        tf.gather(x, [2, 1], axis=-1),
        tf.gather(x, feed_integers(tf, feed, [3, 3], [None])),
        tf.gather(feed_matrix(tf, feed, None, name="y"), [0]),
        tf.gather([1, 2, 3], tf.constant(1, tf.int64)),
        tf.gather(["a", "b"], [1]),
        tf.gather(["a", "b"], 1),
        tf.gather(x, 0, axis=1),
        tf.gather(x, np.zeros(0, np.int32)),
    )


@program
def gather_2(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.gather(x, [[0, 1], [2, 0], [1, 1], [2, 2]], batch_dims=1, axis=1),
        tf.gather(x, [[0, 1], [2, 0], [1, 1], [2, 2]], batch_dims=1),
        tf.gather(tf.reshape(x, [2, 2, 3]), [[0, 1], [1, 0]], batch_dims=1, axis=2),
        tf.gather(
            x,
            feed_integers(tf, feed, [0, 1], [None]),
            axis=feed_integers(tf, feed, 1, name="a"),
        ),
    )


@program
def gather_bad(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), [4])


@program
def gather_bad2(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), feed_integers(tf, feed, [[0, -1], [0, 0]]))


@program
def gather_bad3(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), [0], axis=2)


@program
def gather_bad4(tf: Any, feed: Feed) -> Any:
    return tf.gather(1.0, [0])


@program
def gather_bad5(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), [0.5])


@program
def gather_bad6(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), feed_integers(tf, feed, 9))


@program
def gather_bad8(tf: Any, feed: Feed) -> Any:
    return tf.gather(feed_matrix(tf, feed), [0, 1, 2, 0], batch_dims=3)


@program
def batch_gather(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.batch_gather(x, [[0, 1], [2, 0], [1, 1], [2, 2]]),
        tf.batch_gather(
            feed_matrix(tf, feed, [4, 3], name="y"),
            feed_integers(tf, feed, [[0], [1], [2], [0]], [4, 1]),
        ),
    )


@program
def gather_nd(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.gather_nd(x, [[0, 1], [2, 0]]),
        tf.gather_nd(x, [[0], [2]]),
        tf.gather_nd(x, [1, 1]),
        tf.gather_nd(x, feed_integers(tf, feed, [[0, 1]], [None, 2])),
        tf.gather_nd(feed_matrix(tf, feed, None, name="y"), [[1]]),
        tf.gather_nd(x, feed_integers(tf, feed, [[0, 1]], [None, None], name="k")),
        tf.gather_nd(["a", "b"], [[1]]),
        tf.gather_nd(x, np.zeros((1, 0), np.int32)),
    )


@program
def gather_nd_2(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return tf.gather_nd(x, [[0], [1], [2], [0]], batch_dims=1)


@program
def gather_nd_bad(tf: Any, feed: Feed) -> Any:
    return tf.gather_nd(feed_matrix(tf, feed), [[0, 1], [4, 0]])


@program
def gather_nd_bad2(tf: Any, feed: Feed) -> Any:
    return tf.gather_nd(feed_matrix(tf, feed), [[0, 1, 2]])


@program
def gather_nd_bad3(tf: Any, feed: Feed) -> Any:
    return tf.gather_nd(feed_matrix(tf, feed), 1)


@program
def scatter_nd(tf: Any, feed: Feed) -> Any:
    return (
        tf.scatter_nd([[1], [3], [1]], [1.0, 2.0, 3.0], [5]),
        tf.scatter_nd([[1], [0]], [[1, 2], [3, 4]], [3, 2]),
        tf.scatter_nd(
            feed_integers(tf, feed, [[0]], [None, 1]),
            feed_matrix(tf, feed, [None], v=[1.0]),
            feed_integers(tf, feed, [3], name="s"),
        ),
        tf.scatter_nd([[0, 1]], [7], [2, 2]),
        tf.scatter_nd(tf.constant([[0]], tf.int64), [1], [2]),
    )


@program
def scatter_nd_bad(tf: Any, feed: Feed) -> Any:
    return tf.scatter_nd([[5]], [1.0], [5])


@program
def scatter_nd_bad2(tf: Any, feed: Feed) -> Any:
    return tf.scatter_nd([[1], [2]], [1.0], [5])


@program
def scatter_nd_bad3(tf: Any, feed: Feed) -> Any:
    return tf.scatter_nd([[1, 1]], [1.0], [5])


@program
def scatter_nd_bad4(tf: Any, feed: Feed) -> Any:
    return tf.scatter_nd([[0]], [1.0], feed_integers(tf, feed, [-5]))


@program
def scatter_nd_bad5(tf: Any, feed: Feed) -> Any:
    return tf.scatter_nd(
        feed_integers(tf, feed, [[0]], [None, 1]),
        [1.0, 2.0],
        feed_integers(tf, feed, [3], name="s"),
    )


@program
def tensor_scatter(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    i = [[1], [3]]
    u = tf.ones([2, 3])
    return (
        tf.tensor_scatter_update(x, i, u),
        tf.tensor_scatter_add(x, i, u),
        tf.tensor_scatter_sub(x, i, u),
        tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [5, 6]),
    )


@program
def tensor_scatter_bad(tf: Any, feed: Feed) -> Any:
    return tf.tensor_scatter_update(feed_matrix(tf, feed), [[9]], tf.ones([1, 3]))
