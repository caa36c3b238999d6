"""Selection, labels, diagonals and space.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.array.array_programs import (
    MATRIX,
    Feed,
    feed_integers,
    feed_matrix,
    program,
)


@program
def one_hot(tf: Any, feed: Feed) -> Any:
    return (
        tf.one_hot([0, 2, -1, 5], 3),
        tf.one_hot([[0], [1]], 2, 5, 6),
        tf.one_hot(1, 3, axis=0),
        tf.one_hot([0, 1], 3, axis=0),
        tf.one_hot([0], 2, dtype=tf.int32),
        tf.one_hot([1], 2, on_value=True, off_value=False),
        tf.one_hot(
            feed_integers(tf, feed, [1], [None]), feed_integers(tf, feed, 4, name="d")
        ),
        tf.one_hot([0], 2, "a", "b"),
        tf.one_hot([1], 3, on_value=2.0, dtype=tf.float32),
    )


@program
def one_hot_bad(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0], 3, 1, 2.0)


@program
def one_hot_bad2(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0], 3, 1, dtype=tf.float32)


@program
def one_hot_bad3(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0], -1)


@program
def one_hot_bad4(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0], feed_integers(tf, feed, -1))


@program
def one_hot_bad5(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0], 3, axis=5)


@program
def one_hot_bad6(tf: Any, feed: Feed) -> Any:
    return tf.one_hot([0.5], 3)


@program
def sequence_mask(tf: Any, feed: Feed) -> Any:
    return (
        tf.sequence_mask([1, 3, 2]),
        tf.sequence_mask([1, 3], 5),
        tf.sequence_mask([[1], [2]], 3, tf.float32),
        tf.sequence_mask(feed_integers(tf, feed, [1, 2], [None])),
        tf.sequence_mask(2, 4),
    )


@program
def sequence_mask_bad(tf: Any, feed: Feed) -> Any:
    return tf.sequence_mask([1], [3])


@program
def where(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.where(x > 3),
        tf.where([True, False]),
        tf.where([[0, 2]]),
        tf.where(x > 3, x, -x),
        tf.where([True, False, True, True], x, x * 2),
        tf.where_v2(x > 3, x, 0.0),
        tf.where(feed_matrix(tf, feed, None, name="y")),
        tf.where(["a", "b"], [1, 2], [3, 4])
        if 0
        else tf.where([True, False], ["a", "b"], ["c", "d"]),
    )


@program
def where_bad(tf: Any, feed: Feed) -> Any:
    return tf.where([True], MATRIX)


@program
def where_bad2(tf: Any, feed: Feed) -> Any:
    return tf.where(
        [True, False],
        feed_matrix(tf, feed, [4, 3]),
        feed_matrix(tf, feed, [4, 3], name="y"),
    )


@program
def boolean_mask(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.boolean_mask(x, [True, False, True, False]),
        tf.boolean_mask(x, x > 3),
        tf.boolean_mask(x, [True, False, True], axis=1),
        tf.boolean_mask(
            feed_matrix(tf, feed, [4, 3], name="y"), np.array([True, False, True, True])
        ),
    )


@program
def boolean_mask_bad(tf: Any, feed: Feed) -> Any:
    return tf.boolean_mask(feed_matrix(tf, feed, [4, 3]), [True, False])


@program
def boolean_mask_bad2(tf: Any, feed: Feed) -> Any:
    return tf.boolean_mask(feed_matrix(tf, feed), True)


@program
def boolean_mask_bad3(tf: Any, feed: Feed) -> Any:
    return tf.boolean_mask(
        feed_matrix(tf, feed), feed_matrix(tf, feed, None, tf.bool, [True] * 4, "m")
    )


@program
def unique(tf: Any, feed: Feed) -> Any:
    return (
        tf.unique([3, 1, 3, 2, 1]),
        tf.unique(["b", "a", "b"]),
        tf.unique_with_counts([1.0, 1.0, 2.0]),
        tf.unique(feed_integers(tf, feed, [5, 5], [None]), out_idx=tf.int64),
        tf.setdiff1d([1, 2, 3, 4], [2, 4]),
        tf.unique(np.zeros(0, np.int32)),
    )


@program
def unique_bad(tf: Any, feed: Feed) -> Any:
    return tf.unique([[1, 2]])


@program
def searchsorted(tf: Any, feed: Feed) -> Any:
    return (
        tf.searchsorted([1, 3, 5], [0, 3, 6]),
        tf.searchsorted([[1.0, 2.0], [3.0, 4.0]], [[1.5], [4.0]], side="right"),
        tf.searchsorted([1, 3, 5], [3], out_type=tf.int64),
    )


@program
def meshgrid(tf: Any, feed: Feed) -> Any:
    return (
        tf.meshgrid([1, 2, 3], [4, 5]),
        tf.meshgrid([1.0, 2.0], [3.0], [4.0, 5.0], indexing="ij"),
        tf.meshgrid(feed_integers(tf, feed, [1, 2], [None]), [3, 4, 5]),
        tf.meshgrid([1, 2]),
    )


@program
def meshgrid_bad(tf: Any, feed: Feed) -> Any:
    return tf.meshgrid([1], indexing="zz")


@program
def meshgrid_bad2(tf: Any, feed: Feed) -> Any:
    return tf.meshgrid([1], foo=1)


@program
def repeat(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.repeat([1, 2], 2),
        tf.repeat(x, [1, 0, 2, 1], axis=0),
        tf.repeat(x, 2, axis=1),
        tf.repeat([1, 2], [2, 1]),
        tf.repeat(3, 4),
    )


@program
def dynamic_partition(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.dynamic_partition(x, [0, 1, 0, 2], 3),
        tf.dynamic_partition([1, 2, 3], feed_integers(tf, feed, [1, 0, 1]), 2),
        tf.dynamic_partition(["a", "b"], [1, 1], 2),
    )


@program
def dynamic_partition_bad(tf: Any, feed: Feed) -> Any:
    return tf.dynamic_partition([1, 2, 3], [0, 1, 5], 2)


@program
def dynamic_partition_bad2(tf: Any, feed: Feed) -> Any:
    return tf.dynamic_partition([1, 2, 3], [0, 1], 2)


@program
def dynamic_stitch(tf: Any, feed: Feed) -> Any:
    return (
        tf.dynamic_stitch([[0, 2], [1]], [[1.0, 2.0], [3.0]]),
        tf.dynamic_stitch([0, [1, 2]], [[1, 2], [[3, 4], [5, 6]]]),
        tf.dynamic_stitch(
            [feed_integers(tf, feed, [1, 0], [None])],
            [feed_matrix(tf, feed, v=MATRIX[:2])],
        ),
        tf.dynamic_stitch([[0], [0]], [[1], [2]]),
    )


@program
def dynamic_stitch_bad(tf: Any, feed: Feed) -> Any:
    return tf.dynamic_stitch([[0, -1]], [[1.0, 2.0]])


@program
def dynamic_stitch_bad2(tf: Any, feed: Feed) -> Any:
    return tf.dynamic_stitch([[0, 1]], [[1.0]])


@program
def diag(tf: Any, feed: Feed) -> Any:
    return (
        tf.diag([1, 2]),
        tf.diag_part(tf.constant([[1.0, 2.0], [3.0, 4.0]])),
        tf.matrix_diag([[1.0, 2.0], [3.0, 4.0]]),
        tf.matrix_diag_part(feed_matrix(tf, feed)),
        tf.matrix_set_diag(feed_matrix(tf, feed, [4, 3], name="y"), [9.0, 8.0, 7.0]),
        tf.matrix_band_part(feed_matrix(tf, feed, name="z"), 1, 0),
        tf.matrix_band_part(tf.ones([2, 3, 3]), -1, 0),
        tf.diag(tf.ones([2, 3])),
        tf.eye(3) if hasattr(tf, "eye") else tf.constant(0),
    )


@program
def diag_bad(tf: Any, feed: Feed) -> Any:
    return tf.diag_part(tf.ones([2, 3]))


@program
def diag_bad2(tf: Any, feed: Feed) -> Any:
    return tf.diag_part(tf.ones([2]))


@program
def diag_bad3(tf: Any, feed: Feed) -> Any:
    return tf.matrix_band_part(feed_matrix(tf, feed), 7, 0)


@program
def diag_bad6(tf: Any, feed: Feed) -> Any:
    return tf.matrix_set_diag(feed_matrix(tf, feed, [4, 3]), [1.0])


@program
def space(tf: Any, feed: Feed) -> Any:
    y = tf.reshape(tf.range(2 * 4 * 4 * 4), [2, 4, 4, 4])
    y2 = tf.reshape(feed_matrix(tf, feed, [4, 3]), [1, 4, 3, 1])
    return (
        tf.space_to_depth(y, 2),
        tf.depth_to_space(y, 2),
        tf.space_to_batch(y2, [[0, 0], [1, 0]], 2),
        tf.batch_to_space(tf.reshape(y, [8, 4, 2, 2]), [[0, 1], [0, 0]], 2),
        tf.space_to_batch_nd(y2, [2, 1], [[0, 0], [0, 0]]),
        tf.batch_to_space_nd(tf.reshape(y, [8, 4, 2, 2]), [2, 2], [[0, 0], [1, 0]]),
    )


@program
def space2(tf: Any, feed: Feed) -> Any:
    y = tf.placeholder(tf.float32, [None, None, None, 4])
    tf.space_to_depth(y, 2)
    tf.depth_to_space(y, 2)
    tf.space_to_batch(y, [[0, 0], [0, 0]], 2)
    tf.batch_to_space_nd(y, [2, 2], [[0, 0], [0, 0]])


@program
def space_bad(tf: Any, feed: Feed) -> Any:
    return tf.space_to_depth(tf.ones([1, 3, 4, 1]), 2)


@program
def space_bad2(tf: Any, feed: Feed) -> Any:
    return tf.depth_to_space(tf.ones([1, 2, 2, 3]), 2)


@program
def space_bad3(tf: Any, feed: Feed) -> Any:
    return tf.space_to_batch(tf.ones([1, 3, 3, 1]), [[0, 0], [0, 0]], 2)


@program
def required_paddings(tf: Any, feed: Feed) -> Any:
    return (
        tf.required_space_to_batch_paddings([11], [3]),
        tf.required_space_to_batch_paddings([11, 5], [3, 2], [[1, 0], [0, 0]]),
    )
