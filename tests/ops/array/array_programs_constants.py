"""Constants, fills and conversions.

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
def zeros_dyn(tf: Any, feed: Feed) -> Any:
    return tf.zeros([tf.shape(feed_matrix(tf, feed))[0], 5])


@program
def zeros_big(tf: Any, feed: Feed) -> Any:
    return tf.zeros([100, 50])


@program
def zeros_np(tf: Any, feed: Feed) -> Any:
    return tf.zeros(np.array([100, 50]))


@program
def zeros_5(tf: Any, feed: Feed) -> Any:
    return tf.zeros(5)


@program
def zeros_ts(tf: Any, feed: Feed) -> Any:
    return tf.zeros(tf.TensorShape([3, 4]))


@program
def zeros_ts_unk(tf: Any, feed: Feed) -> Any:
    return tf.zeros(tf.TensorShape([None, 4]))


@program
def zeros_dim(tf: Any, feed: Feed) -> Any:
    return tf.zeros([tf.Dimension(3), 4])


@program
def zeros_tscalar(tf: Any, feed: Feed) -> Any:
    return tf.zeros(tf.constant(3))


@program
def zeros_neg(tf: Any, feed: Feed) -> Any:
    return tf.zeros([-1, 3])


@program
def zeros_none(tf: Any, feed: Feed) -> Any:
    return tf.zeros(None)


@program
def zeros_none2(tf: Any, feed: Feed) -> Any:
    return tf.zeros([None, 2])


@program
def zeros_str(tf: Any, feed: Feed) -> Any:
    return tf.zeros([2], tf.string)


@program
def zeros_types(tf: Any, feed: Feed) -> Any:
    return [
        tf.zeros([2], d)
        for d in (
            tf.int32,
            tf.int64,
            tf.float64,
            tf.bool,
            tf.complex64,
            tf.uint8,
            tf.float16,
            tf.int8,
            tf.uint16,
            tf.int16,
        )
    ]


@program
def zeros_bf(tf: Any, feed: Feed) -> Any:
    return tf.cast(tf.zeros([2], tf.bfloat16), tf.float32)


@program
def ones_str(tf: Any, feed: Feed) -> Any:
    return tf.ones([2], tf.string)


@program
def ones_bool(tf: Any, feed: Feed) -> Any:
    return tf.ones([2], tf.bool)


@program
def ones_like(tf: Any, feed: Feed) -> Any:
    return tf.ones_like(feed_matrix(tf, feed))


@program
def zeros_like(tf: Any, feed: Feed) -> Any:
    return tf.zeros_like(feed_matrix(tf, feed))


@program
def zeros_like_int(tf: Any, feed: Feed) -> Any:
    return tf.zeros_like(feed_matrix(tf, feed), tf.int32)


@program
def zeros_like_noopt(tf: Any, feed: Feed) -> Any:
    return tf.zeros_like(feed_matrix(tf, feed, [4, 3]), optimize=False)


@program
def zeros_like_list(tf: Any, feed: Feed) -> Any:
    return tf.zeros_like([1, 2, 3])


@program
def ones_like2(tf: Any, feed: Feed) -> Any:
    return tf.ones_like([[1, 2], [3, 4]], dtype=tf.float64)


@program
def fill(tf: Any, feed: Feed) -> Any:
    return tf.fill([2, 3], 9)


@program
def fill_str(tf: Any, feed: Feed) -> Any:
    return tf.fill([2], "ab")


@program
def fill_dyn(tf: Any, feed: Feed) -> Any:
    return tf.fill([tf.shape(feed_matrix(tf, feed))[0], 3], 9.0)


@program
def fill_neg(tf: Any, feed: Feed) -> Any:
    return tf.fill([-2, 3], 9)


@program
def fill_vec(tf: Any, feed: Feed) -> Any:
    return tf.fill([2, 3], [9])


@program
def fill_empty(tf: Any, feed: Feed) -> Any:
    return tf.fill([], 9)


@program
def const_types(tf: Any, feed: Feed) -> Any:
    return [
        tf.constant(v)
        for v in (
            1,
            1.5,
            True,
            "a",
            b"b",
            [1, 2],
            [[1.0, 2.0]],
            (3, 4),
            np.float64(3),
            np.int8([1]),
            2**40,
            [1, 2.5],
            1 + 2j,
            [True, False],
            ["a", "b"],
            [],
            np.array([]),
            np.zeros((0, 3)),
        )
    ]


@program
def const_shape(tf: Any, feed: Feed) -> Any:
    return (
        tf.constant(5, shape=[2, 2]),
        tf.constant([1, 2], shape=[3]),
        tf.constant([1, 2, 3, 4], shape=[2, 2]),
        tf.constant(1.0, tf.float64, [1]),
        tf.constant([], shape=[0, 2], dtype=tf.int32),
    )


@program
def const_bad1(tf: Any, feed: Feed) -> Any:
    return tf.constant([1, 2, 3], shape=[2])


@program
def const_bad2(tf: Any, feed: Feed) -> Any:
    return tf.constant([[1, 2], [3]])


@program
def const_bad3(tf: Any, feed: Feed) -> Any:
    return tf.constant(None)


@program
def const_bad4(tf: Any, feed: Feed) -> Any:
    return tf.constant(1.5, tf.int32)


@program
def const_bad5(tf: Any, feed: Feed) -> Any:
    return tf.constant("a", tf.int32)


@program
def const_bad6(tf: Any, feed: Feed) -> Any:
    return tf.constant([1, 2], shape=[2, 1], verify_shape=True)


@program
def const_bad7(tf: Any, feed: Feed) -> Any:
    return tf.constant(object())


@program
def const_bad8(tf: Any, feed: Feed) -> Any:
    return tf.constant({})


@program
def const_bad9(tf: Any, feed: Feed) -> Any:
    return tf.constant([1, None])


@program
def const_bad10(tf: Any, feed: Feed) -> Any:
    return tf.constant([1, "a"])


@program
def const_bad11(tf: Any, feed: Feed) -> Any:
    return tf.constant(feed_matrix(tf, feed))


@program
def const_name(tf: Any, feed: Feed) -> Any:
    tf.constant(1, name="abc")
    tf.constant(1, name="abc")
    tf.constant(2)
    return tf.constant(3)


@program
def convert(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [2], tf.float32, [1.0, 2.0])
    n = tf.shape(feed_matrix(tf, feed, name="q"))[0]
    return [
        tf.convert_to_tensor(v)
        for v in (
            [n, 5],
            [[n, 1], [2, 3]],
            [x, [1.0, 2.0]],
            tf.TensorShape([2, 3]),
            tf.Dimension(4),
            (n, n),
            [n],
            [[n]],
        )
    ]


@program
def convert_dt(tf: Any, feed: Feed) -> Any:
    n = tf.shape(feed_matrix(tf, feed, name="q"))[0]
    return (
        tf.convert_to_tensor([n, 5], dtype=tf.int64),
        tf.convert_to_tensor([1, 2], dtype=tf.float32),
        tf.convert_to_tensor(3, preferred_dtype=tf.float64),
        tf.convert_to_tensor([1.5], preferred_dtype=tf.int32),
        tf.convert_to_tensor(tf.TensorShape([3]), dtype=tf.int64),
    )


@program
def convert_bad(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor([feed_matrix(tf, feed), feed_matrix(tf, feed, [2])])


@program
def convert_bad2(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor([feed_matrix(tf, feed), 1j])


@program
def convert_bad3(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor(tf.TensorShape([None, 2]))


@program
def convert_bad4(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor(tf.Dimension(None))


@program
def convert_bad5(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor(tf.TensorShape([2]), dtype=tf.float32)


@program
def convert_bad6(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor(feed_matrix(tf, feed), dtype=tf.int32)


@program
def convert_bad7(tf: Any, feed: Feed) -> Any:
    return tf.convert_to_tensor([feed_matrix(tf, feed), "a"])
