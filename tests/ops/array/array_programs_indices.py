"""Slices and every form of index.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.array.array_programs import (
    Feed,
    feed_matrix,
    program,
)


@program
def getitem_1(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[0]


@program
def getitem_2(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[..., tf.newaxis, 1:2]


@program
def getitem_3(tf: Any, feed: Feed) -> Any:
    p = tf.placeholder(tf.int32, [])
    feed[p] = 1
    return feed_matrix(tf, feed)[tf.constant(0), p]


@program
def getitem_4(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[tf.constant(0, tf.int64)]


@program
def getitem_5(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[()]


@program
def getitem_6(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[:, 5]


@program
def getitem_7(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[1, 2, 3]


@program
def getitem_8(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[::0]


@program
def getitem_9(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[..., ...]


@program
def getitem_10(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[tf.constant([True, False, True, True])]


@program
def getitem_11(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[np.array([True, False, False, True])]


@program
def getitem_12(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[[0, 1]]


@program
def getitem_13(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[1.0]


@program
def getitem_14(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)["a"]


@program
def getitem_15(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[np.array([1, 2])]


@program
def getitem_16(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[np.int64(1)]


@program
def getitem_17(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[np.int32(1)]


@program
def getitem_18(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[True]


@program
def getitem_19(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[tf.Dimension(1)]


@program
def getitem_20(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[:, ::-1]


@program
def getitem_21(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[np.int64(0) : np.int64(2)]


@program
def getitem_22(tf: Any, feed: Feed) -> Any:
    return (
        feed_matrix(tf, feed)[-1],
        feed_matrix(tf, feed)[-2:],
        feed_matrix(tf, feed)[1:-1:2, ..., -1],
    )


@program
def getitem_23(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[3:0:-2, 2::-1]


@program
def getitem_24(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[7]


@program
def getitem_25(tf: Any, feed: Feed) -> Any:
    p = tf.placeholder(tf.int32, [])
    feed[p] = 9
    return feed_matrix(tf, feed)[p]


@program
def getitem_26(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed, None)[1:, 0]


@program
def getitem_27(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed, None)[None, ..., 0, tf.newaxis]


@program
def getitem_28(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[feed_matrix(tf, feed, [], tf.int32, 2, "b") :, 0]


@program
def getitem_29(tf: Any, feed: Feed) -> Any:
    return feed_matrix(tf, feed)[0 : feed_matrix(tf, feed, [], tf.int32, 2, "b"), :]


@program
def getitem_30(tf: Any, feed: Feed) -> Any:
    return tf.strided_slice(feed_matrix(tf, feed), [0, 0], [2, 2], begin_mask=1)


@program
def getitem_31(tf: Any, feed: Feed) -> Any:
    return tf.strided_slice(
        feed_matrix(tf, feed), [0, 0], [2, 2], [1, 2], shrink_axis_mask=2
    )


@program
def getitem_32(tf: Any, feed: Feed) -> Any:
    return tf.strided_slice(feed_matrix(tf, feed), [0], [2, 2])


@program
def getitem_33(tf: Any, feed: Feed) -> Any:
    return tf.strided_slice(feed_matrix(tf, feed), [0, 0, 0], [2, 2, 2], [1, 1, 1])


@program
def slice(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed), [1, 0], [2, -1])


@program
def slice_2(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed, None), [1, 0], [2, -1])


@program
def slice_3(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed, [4, 3]), [1, 0], [2, -1])


@program
def slice_4(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed, [4, 3]), [1, 0], [9, -1])


@program
def slice_5(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed), [1, 0], [9, -1])


@program
def slice_6(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed), [5, 0], [-1, -1])


@program
def slice_7(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed), [1], [2])


@program
def slice_8(tf: Any, feed: Feed) -> Any:
    return tf.slice(
        feed_matrix(tf, feed, [4, 3]),
        feed_matrix(tf, feed, [2], tf.int32, [1, 1], "b"),
        [2, -1],
    )


@program
def slice_9(tf: Any, feed: Feed) -> Any:
    return tf.slice(
        feed_matrix(tf, feed, [4, 3]),
        [1, 1],
        feed_matrix(tf, feed, [2], tf.int32, [1, 1], "b"),
    )


@program
def slice_10(tf: Any, feed: Feed) -> Any:
    return tf.slice(feed_matrix(tf, feed, [4, 3]), [-1, 1], [2, 1])
