"""Identities, placeholders, groups, checks and strings.

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
def identity(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.identity(x),
        tf.identity_n([x, tf.constant(1)]),
        tf.stop_gradient(x),
        tf.guarantee_const(x),
        tf.identity([1, 2]),
        tf.check_numerics(x, "m"),
        tf.ensure_shape(x, [4, 3]),
        tf.identity("a"),
        tf.identity(x, name="nm"),
        tf.identity(True),
    )


@program
def check_numerics_bad(tf: Any, feed: Feed) -> Any:
    return tf.check_numerics(tf.constant([1.0, np.nan]), "msg")


@program
def check_numerics_bad2(tf: Any, feed: Feed) -> Any:
    return tf.check_numerics(feed_matrix(tf, feed, v=[[np.inf, 1, np.nan]]), "msg")


@program
def check_numerics_bad3(tf: Any, feed: Feed) -> Any:
    return tf.check_numerics(feed_matrix(tf, feed, v=[[np.inf, 1, 2]]), "msg")


@program
def ensure_shape_bad(tf: Any, feed: Feed) -> Any:
    return tf.ensure_shape(feed_matrix(tf, feed), [5, 3])


@program
def ensure_shape_bad2(tf: Any, feed: Feed) -> Any:
    return tf.ensure_shape(feed_matrix(tf, feed), [None, 5])


@program
def ensure_shape_bad3(tf: Any, feed: Feed) -> Any:
    return tf.ensure_shape(feed_matrix(tf, feed, None), [None, 5])


@program
def placeholder(tf: Any, feed: Feed) -> Any:
    return (
        tf.placeholder_with_default([1, 2], [None]),
        tf.placeholder_with_default(feed_matrix(tf, feed), [None, None]),
    )


@program
def placeholder_bad(tf: Any, feed: Feed) -> Any:
    return tf.placeholder(tf.float32, [None, 2], name="pp")


@program
def placeholder_bad1(tf: Any, feed: Feed) -> Any:
    return tf.placeholder(tf.float32) + 1


@program
def placeholder_bad2(tf: Any, feed: Feed) -> Any:
    return tf.placeholder_with_default([1, 2], [3])


@program
def placeholder_bad3(tf: Any, feed: Feed) -> Any:
    return tf.placeholder("foo")


@program
def placeholder_bad4(tf: Any, feed: Feed) -> Any:
    return tf.placeholder(tf.float32, [-2])


@program
def sparse_placeholder(tf: Any, feed: Feed) -> Any:
    tf.sparse_placeholder(tf.float32)
    tf.sparse_placeholder(tf.float32, [2, 3], name="s")
    tf.sparse_placeholder(tf.float32, [None, 3], name="t")


@program
def group(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    a = tf.identity(x, name="a")
    b = tf.identity(x, name="b")
    tf.group(a, b)
    tf.group([a.op, [b]], name="gg")
    tf.group()
    t = tf.tuple([a, None, b])
    t2 = tf.tuple([a], control_inputs=[b])
    tf.no_op()
    with tf.device("/cpu:0"):
        c = tf.identity(x)
    tf.group(a, c, name="dev")
    return (t[0], t2)


@program
def group_bad(tf: Any, feed: Feed) -> Any:
    return tf.group(1)


@program
def group_bad2(tf: Any, feed: Feed) -> Any:
    return tf.group(foo=1)


@program
def group_bad3(tf: Any, feed: Feed) -> Any:
    return tf.tuple([])


@program
def assertion(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    a = tf.Assert(tf.reduce_all(tf.equal(tf.shape(x)[0], 4)), [tf.shape(x)])
    b = tf.assert_equal(tf.shape(x)[1], 3)
    with tf.control_dependencies([a, b]):
        return tf.identity(x)


@program
def assertion_bad(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    with tf.control_dependencies([tf.assert_equal(tf.shape(x)[1], 5, message="hello")]):
        return tf.identity(x)


@program
def assertion_bad2(tf: Any, feed: Feed) -> Any:
    return tf.assert_equal(1, 2)


@program
def assertion_bad3(tf: Any, feed: Feed) -> Any:
    return tf.assert_less(tf.constant([1, 2, 3]), 2, message="mm")


@program
def assertion_bad4(tf: Any, feed: Feed) -> Any:
    return tf.assert_rank(feed_matrix(tf, feed), 3)


@program
def assertion_bad5(tf: Any, feed: Feed) -> Any:
    return tf.assert_type(feed_matrix(tf, feed), tf.int32)


@program
def assertion_bad6(tf: Any, feed: Feed) -> Any:
    return tf.assert_integer(feed_matrix(tf, feed))


@program
def assertion_bad7(tf: Any, feed: Feed) -> Any:
    with tf.control_dependencies(
        [
            tf.Assert(
                feed_integers(tf, feed, False, [], dt=tf.bool),
                ["abc", 1, np.arange(10, dtype=np.int32)],
            )
        ]
    ):
        return tf.constant(1)


@program
def strings(tf: Any, feed: Feed) -> Any:
    return (
        tf.string_join(["a", "b"]),
        tf.strings.join([["a", "b"], "c"], "-"),
        tf.as_string([1, 2]),
        tf.as_string(1.5),
        tf.as_string([1.5, 2.25], precision=2),
        tf.as_string(3, width=5, fill="0"),
        tf.as_string(True),
        tf.as_string(1.5, scientific=True),
        tf.as_string(10000000000.0, shortest=True),
        tf.string_to_number(["1.5", "2"]),
        tf.string_to_number("7", tf.int32),
        tf.strings.length(["abc", ""]),
        tf.as_string(1 + 2j),
    )


@program
def strings_bad(tf: Any, feed: Feed) -> Any:
    return tf.string_to_number("x")


@program
def strings_bad2(tf: Any, feed: Feed) -> Any:
    return tf.string_join([["a", "b"], ["c"]])


@program
def strings_bad3(tf: Any, feed: Feed) -> Any:
    return tf.string_to_number("1.5", tf.int32)
