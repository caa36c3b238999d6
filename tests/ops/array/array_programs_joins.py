"""Concat, stack, split, pad and tile.

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
def concat1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.concat([x, x], 0),
        tf.concat([x, x], 1),
        tf.concat([x, x], -1),
        tf.concat([x], 0),
        tf.concat(x, 0),
        tf.concat([x, [[1.0, 2.0, 3.0]]], axis=0),
        tf.concat([feed_matrix(tf, feed, None, name="u"), x], 1),
    )


@program
def concat2(tf: Any, feed: Feed) -> Any:
    return (
        tf.concat(
            [feed_matrix(tf, feed, [4, 3]), feed_matrix(tf, feed, None, name="y")], -1
        ),
        tf.concat(
            [
                feed_matrix(tf, feed, None, name="z"),
                feed_matrix(tf, feed, None, name="w"),
            ],
            0,
        ),
        tf.concat([["a"], ["b", "c"]], 0),
    )


@program
def concat3(tf: Any, feed: Feed) -> Any:
    return tf.concat(
        [feed_matrix(tf, feed), feed_matrix(tf, feed, name="y")],
        feed_integers(tf, feed, 1),
    )


@program
def concat_bad(tf: Any, feed: Feed) -> Any:
    return tf.concat([feed_matrix(tf, feed), tf.zeros([2, 2])], 0)


@program
def concat_bad2(tf: Any, feed: Feed) -> Any:
    return tf.concat([feed_matrix(tf, feed), tf.zeros([2])], 0)


@program
def concat_bad3(tf: Any, feed: Feed) -> Any:
    return tf.concat([feed_matrix(tf, feed), feed_matrix(tf, feed, name="y")], 2)


@program
def concat_bad4(tf: Any, feed: Feed) -> Any:
    return tf.concat(
        [feed_matrix(tf, feed), feed_matrix(tf, feed, name="y")],
        feed_integers(tf, feed, 5),
    )


@program
def concat_bad5(tf: Any, feed: Feed) -> Any:
    return tf.concat([feed_matrix(tf, feed), tf.constant([[1, 2, 3]])], 0)


@program
def concat_bad6(tf: Any, feed: Feed) -> Any:
    return tf.concat([], 0)


@program
def concat_bad7(tf: Any, feed: Feed) -> Any:
    return tf.concat([1, 2], 0)


@program
def concat_bad8(tf: Any, feed: Feed) -> Any:
    return tf.concat(
        [
            feed_matrix(tf, feed, None),
            feed_matrix(tf, feed, None, v=np.zeros((2, 2)), name="y"),
        ],
        0,
    )


@program
def stack1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.stack([x, x]),
        tf.stack([x, x], 1),
        tf.stack([x, x], -1),
        tf.stack([1, 2, 3]),
        tf.stack(x),
        tf.stack([tf.shape(x)[0], 3]),
        tf.stack([1.0, x[0, 0]]),
        tf.stack([[1, 2], [3, 4]], axis=1),
    )


@program
def stack_bad(tf: Any, feed: Feed) -> Any:
    return tf.stack([feed_matrix(tf, feed), tf.zeros([2, 2])])


@program
def stack_bad2(tf: Any, feed: Feed) -> Any:
    return tf.stack([feed_matrix(tf, feed), feed_matrix(tf, feed, name="y")], 3)


@program
def stack_bad3(tf: Any, feed: Feed) -> Any:
    return tf.stack([feed_matrix(tf, feed, [2], v=[1, 2]), [1, 2, 3]], axis=1)


@program
def stack_bad4(tf: Any, feed: Feed) -> Any:
    return tf.stack(
        [
            feed_matrix(tf, feed, None),
            feed_matrix(tf, feed, None, v=np.zeros((2, 2)), name="y"),
        ]
    )


@program
def unstack1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    return (
        tf.unstack(x),
        tf.unstack(x, axis=1),
        tf.unstack(x, axis=-1),
        tf.unstack(feed_matrix(tf, feed, name="y"), num=4),
        tf.unstack([1, 2]),
        tf.unstack(["a", "b"]),
    )


@program
def unstack_bad(tf: Any, feed: Feed) -> Any:
    return tf.unstack(feed_matrix(tf, feed))


@program
def unstack_bad2(tf: Any, feed: Feed) -> Any:
    return tf.unstack(feed_matrix(tf, feed, [4, 3]), axis=2)


@program
def unstack_bad3(tf: Any, feed: Feed) -> Any:
    return tf.unstack(feed_matrix(tf, feed, [4, 3]), num=3)


@program
def unstack_bad4(tf: Any, feed: Feed) -> Any:
    return tf.unstack(feed_matrix(tf, feed), num=3)


@program
def parallel_stack(tf: Any, feed: Feed) -> Any:
    return tf.parallel_stack([tf.constant([1, 2]), tf.constant([3, 4])])


@program
def split1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed, [4, 3])
    return (
        tf.split(x, 2),
        tf.split(x, 3, 1),
        tf.split(x, [1, 3]),
        tf.split(x, [1, -1]),
        tf.split(x, [1, 2], axis=-1),
        tf.split(feed_matrix(tf, feed, name="y"), 2),
        tf.split(feed_matrix(tf, feed, name="z"), [1, 3]),
        tf.split(x, 1),
    )


@program
def split2(tf: Any, feed: Feed) -> Any:
    return (
        tf.split(feed_matrix(tf, feed), feed_integers(tf, feed, [1, 3])),
        tf.split(
            feed_matrix(tf, feed, name="y"),
            feed_integers(tf, feed, [1, 3], [None], name="j"),
            num=2,
        ),
        tf.split(feed_matrix(tf, feed, None, name="q"), 2),
    )


@program
def split_bad(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed, [4, 3]), 3)


@program
def split_bad2(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed), 3)


@program
def split_bad3(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed, [4, 3]), [1, 2])


@program
def split_bad4(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed, [4, 3]), 2, axis=3)


@program
def split_bad5(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed, [4, 3]), tf.constant(2))


@program
def split_bad6(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed, [4, 3]), [-1, -1])


@program
def split_bad7(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed), feed_integers(tf, feed, [1, 9]))


@program
def split_bad8(tf: Any, feed: Feed) -> Any:
    return tf.split(feed_matrix(tf, feed), feed_integers(tf, feed, [1, 3], [None]))


@program
def split_bad9(tf: Any, feed: Feed) -> Any:
    return tf.split(1.0, 2)


@program
def pad1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.pad(x, [[1, 0], [0, 2]]),
        tf.pad(x, [[1, 0], [0, 2]], constant_values=5.0),
        tf.pad(x, [[1, 1], [1, 2]], "REFLECT"),
        tf.pad(x, [[1, 1], [1, 3]], "symmetric"),
        tf.pad(feed_matrix(tf, feed, None, name="y"), [[1, 0], [0, 2]]),
        tf.pad([1, 2], [[1, 1]]),
        tf.pad(["a"], [[1, 1]], constant_values="b"),
        tf.pad([True], [[1, 1]], constant_values=True),
        tf.pad([1j], [[1, 1]]),
    )


@program
def pad2(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    n = tf.shape(x)[0]
    return (
        tf.pad(x, [[0, n], [1, 1]]),
        tf.pad(feed_matrix(tf, feed, [4, 3], name="y"), [[0, n], [1, 1]]),
    )


@program
def pad3(tf: Any, feed: Feed) -> Any:
    return (
        tf.pad(
            feed_matrix(tf, feed),
            feed_integers(tf, feed, [[1, 0], [0, 1]], dt=tf.int64),
        ),
        tf.pad(
            feed_matrix(tf, feed, name="y"),
            feed_integers(tf, feed, [[1, 1], [0, 1]], name="j"),
            "REFLECT",
        ),
    )


@program
def pad_bad(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0]])


@program
def pad_bad2(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0], [0, -1]])


@program
def pad_bad3(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [1, 0])


@program
def pad_bad4(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0], [0, 1]], "foo")


@program
def pad_bad5(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0], [0, 3]], "REFLECT")


@program
def pad_bad6(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0], [0, 4]], "SYMMETRIC")


@program
def pad_bad7(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), feed_integers(tf, feed, [[1, 0], [0, -1]]))


@program
def pad_bad8(tf: Any, feed: Feed) -> Any:
    return tf.pad(feed_matrix(tf, feed), [[1, 0, 1], [0, 1, 1]])


@program
def tile1(tf: Any, feed: Feed) -> Any:
    x = feed_matrix(tf, feed)
    return (
        tf.tile(x, [2, 1]),
        tf.tile(feed_matrix(tf, feed, [4, 3], name="y"), [2, 3]),
        tf.tile([1, 2], [2]),
        tf.tile(x, feed_integers(tf, feed, [1, 2])),
        tf.tile(feed_matrix(tf, feed, None, name="z"), [2, 2]),
        tf.tile(["a"], [2]),
        tf.tile(x, [tf.shape(x)[0], 2]),
        tf.tile(5, []),
        tf.tile(x, [0, 1]),
    )


@program
def tile_bad(tf: Any, feed: Feed) -> Any:
    return tf.tile(feed_matrix(tf, feed), [2])


@program
def tile_bad2(tf: Any, feed: Feed) -> Any:
    return tf.tile(feed_matrix(tf, feed), [-1, 2])


@program
def tile_bad3(tf: Any, feed: Feed) -> Any:
    return tf.tile(feed_matrix(tf, feed), feed_integers(tf, feed, [-1, 2]))
