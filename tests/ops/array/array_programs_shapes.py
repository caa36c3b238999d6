"""Shapes, reshapes and broadcasts.

Programs whose graphs, values and errors were recorded from TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from tests.ops.array.array_programs import (
    Feed,
    feed_matrix,
    program,
)


@program
def shapes(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    y = feed_matrix(tf, feed, [4, 3], name="y")
    return (
        tf.shape(x),
        tf.shape(y),
        tf.shape(y, out_type=tf.int64),
        tf.size(x),
        tf.size(y),
        tf.rank(x),
        tf.rank(feed_matrix(tf, feed, None, name="z")),
        tf.shape_n([x, y]),
        tf.shape_n([x, y], out_type=tf.int64),
        tf.shape(5),
        tf.size([]),
        tf.rank("a"),
        tf.size(feed_matrix(tf, feed, None, name="w")),
        tf.size(x, out_type=tf.int64),
    )


@program
def reshape(tf: Any, feed: Feed) -> Any:
    return (
        tf.reshape(feed_matrix(tf, feed), [-1]),
        tf.reshape(feed_matrix(tf, feed), [3, -1]),
        tf.reshape(feed_matrix(tf, feed, [4, 3]), [2, -1]),
        tf.reshape(feed_matrix(tf, feed, [4, 3]), [6, 2]),
    )


@program
def reshape_bad(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed, [4, 3]), [5, -1])


@program
def reshape_bad2(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed, [4, 3]), [5, 2])


@program
def reshape_bad3(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), [5, 2])


@program
def reshape_bad4(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), [5, -1])


@program
def reshape_bad5(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), [-1, -1])


@program
def reshape_bad6(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), [-2, 6])


@program
def reshape_bad7(tf: Any, feed: Feed) -> Any:
    return tf.reshape(
        feed_matrix(tf, feed), feed_matrix(tf, feed, [2], tf.int32, [-2, 6], "s")
    )


@program
def reshape_bad8(tf: Any, feed: Feed) -> Any:
    return tf.reshape(
        feed_matrix(tf, feed), feed_matrix(tf, feed, None, tf.int32, 3, "s")
    )


@program
def reshape_bad9(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), 3)


@program
def reshape_bad10(tf: Any, feed: Feed) -> Any:
    return tf.reshape(feed_matrix(tf, feed), [2.0, 6])


@program
def reshape_dyn(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.reshape(x, [tf.shape(x)[0] * 3]),
        tf.reshape(x, tf.stack([3, tf.shape(x)[0]])),
        tf.reshape(x, [tf.shape(x)[0], 3, 1]),
        tf.reshape(x, tf.concat([tf.shape(x), [1]], 0)),
        tf.reshape(x, [-1, tf.shape(x)[1]]),
    )


@program
def reshape_unk(tf: Any, feed: Feed) -> Any:
    return (
        tf.reshape(
            feed_matrix(tf, feed, [4, 3]),
            feed_matrix(tf, feed, [3], tf.int32, [2, 1, 6], "s"),
        ),
        tf.reshape(
            feed_matrix(tf, feed, [4, 3]),
            feed_matrix(tf, feed, [None], tf.int64, [2, 1, 6], "s"),
        ),
        tf.reshape(
            feed_matrix(tf, feed, None),
            feed_matrix(tf, feed, [2], tf.int64, [2, 6], "s"),
        ),
    )


@program
def reshape_empty(tf: Any, feed: Feed) -> Any:
    return tf.reshape(tf.constant([], tf.float32), [0, -1])


@program
def reshape_empty2(tf: Any, feed: Feed) -> Any:
    return (
        tf.reshape(tf.constant([], tf.float32), [3, -1]),
        tf.reshape(tf.constant([5]), []),
        tf.reshape(7, [1, 1]),
    )


@program
def expand_dims(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.expand_dims(x, 0),
        tf.expand_dims(x, -1),
        tf.expand_dims(x, 1),
        tf.expand_dims(x, dim=2),
        tf.expand_dims(feed_matrix(tf, feed, None), 0),
        tf.expand_dims(x, feed_matrix(tf, feed, [], tf.int32, 1, "d")),
    )


@program
def expand_dims_bad(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(feed_matrix(tf, feed), 3)


@program
def expand_dims_bad2(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(feed_matrix(tf, feed))


@program
def expand_dims_bad3(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(feed_matrix(tf, feed), [0, 1])


@program
def expand_dims_bad4(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(
        feed_matrix(tf, feed), feed_matrix(tf, feed, [], tf.int32, 7, "d")
    )


@program
def expand_dims_bad5(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(feed_matrix(tf, feed), axis=1, dim=1)


@program
def expand_dims_bad6(tf: Any, feed: Feed) -> Any:
    return tf.expand_dims(feed_matrix(tf, feed), 1.5)


@program
def squeeze(tf: Any, feed: Feed) -> Any:
    y = tf.reshape(feed_matrix(tf, feed), [1, -1, 1, 3])
    return (
        tf.squeeze(y, [0]),
        tf.squeeze(y, [0, -2]),
        tf.squeeze(tf.constant([[[1.0], [2.0]]])),
        tf.squeeze(y),
        tf.squeeze(y, 0),
        tf.squeeze(y, squeeze_dims=[2]),
    )


@program
def squeeze_bad(tf: Any, feed: Feed) -> Any:
    return tf.squeeze(feed_matrix(tf, feed, [4, 3]), [0])


@program
def squeeze_bad2(tf: Any, feed: Feed) -> Any:
    return tf.squeeze(feed_matrix(tf, feed, [4, 3]), [5])


@program
def squeeze_bad3(tf: Any, feed: Feed) -> Any:
    return tf.squeeze(feed_matrix(tf, feed), [0])


@program
def broadcast_to(tf: Any, feed: Feed) -> Any:
    return (
        tf.broadcast_to(tf.constant([1, 2, 3]), [2, 3]),
        tf.broadcast_to(feed_matrix(tf, feed), [2, 4, 3]),
        tf.broadcast_to(1.0, feed_matrix(tf, feed, [2], tf.int32, [2, 2], "s")),
        tf.broadcast_to("a", [2]),
    )


@program
def broadcast_to_bad(tf: Any, feed: Feed) -> Any:
    return tf.broadcast_to(tf.constant([1, 2, 3]), [2, 4])


@program
def broadcast_to_bad2(tf: Any, feed: Feed) -> Any:
    return tf.broadcast_to(
        feed_matrix(tf, feed), feed_matrix(tf, feed, [2], tf.int32, [2, 2], "s")
    )


@program
def broadcast_to_bad3(tf: Any, feed: Feed) -> Any:
    return tf.broadcast_to(feed_matrix(tf, feed), [3])


@program
def broadcast_static(tf: Any, feed: Feed) -> Any:
    r = []
    for a, b in (
        ([2, 1], [1, 3]),
        ([None, 3], [1, 3]),
        (None, [1]),
        ([None], [5]),
        ([None], [None]),
        ([None], [1]),
        ([], [2]),
    ):
        r.append(str(tf.broadcast_static_shape(tf.TensorShape(a), tf.TensorShape(b))))
    return tf.constant(r)


@program
def broadcast_dynamic(tf: Any, feed: Feed) -> Any:
    return (
        tf.broadcast_dynamic_shape([2, 1], [1, 3]),
        tf.broadcast_dynamic_shape(
            feed_matrix(tf, feed, [None], tf.int32, [2, 1], "s"), [3]
        ),
    )


@program
def broadcast_dynamic_bad(tf: Any, feed: Feed) -> Any:
    return tf.broadcast_dynamic_shape([2, 3], [1, 4])


@program
def bitcast(tf: Any, feed: Feed) -> Any:
    return (
        tf.bitcast(feed_matrix(tf, feed), tf.int32),
        tf.bitcast(tf.constant([[1, 2]], tf.int32), tf.int64),
        tf.bitcast(tf.constant([2**40]), tf.int32),
        tf.bitcast(tf.constant([1, 2], tf.uint16), tf.int16),
    )
