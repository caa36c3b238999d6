"""Partial runs: one step in several calls, no node twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def test_feeds_and_fetches_in_turns() -> None:
    a = tf.placeholder(tf.float32, [])
    b = tf.placeholder(tf.float32, [])
    c = tf.placeholder(tf.float32, [])
    r1 = a + b
    r2 = r1 * c
    with tf.Session() as sess:
        for factor in (1.0, 2.0):  # the second run finds its parts compiled
            handle = sess.partial_run_setup([r1, r2], [a, b, c])
            assert sess.partial_run(handle, r1, {a: factor, b: 2.0}) == factor + 2
            assert sess.partial_run(handle, r2, {c: factor * 3}) == (factor + 2) * (
                factor * 3
            )


def test_strings_between_parts() -> None:
    x = tf.placeholder(tf.float32, [])
    end = tf.placeholder(tf.string, [])
    text = tf.as_string(x, precision=1)
    line = tf.strings.join([text, end], "-")
    length = tf.strings.length(text) + tf.strings.length(end)
    with tf.Session() as sess:
        handle = sess.partial_run_setup([text, line, length], [x, end])
        assert sess.partial_run(handle, text, {x: 1.5}) == b"1.5"
        later = sess.partial_run(handle, [line, length], {end: "ab"})
        assert later == [b"1.5-ab", 5]


def test_no_node_runs_twice() -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    noise = tf.random_uniform([])
    count = v.assign_add(1.0)
    with tf.control_dependencies([count]):
        first = noise + 0.0
    second = noise + x
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([first, second], [x])
        one = sess.partial_run(handle, first)
        two = sess.partial_run(handle, second, {x: 1.0})
        assert two == np.float32(one + 1.0)
        assert sess.run(v) == 1.0


def test_targets_run_once_they_can() -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=0.0)
    add = tf.assign_add(v, x)
    a = tf.constant(5.0) + 0.0
    y = x * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([a, y, add.op], [x])
        assert sess.partial_run(handle, a) == 5.0
        assert sess.run(v) == 0.0
        assert sess.partial_run(handle, y, {x: 3.0}) == 6.0
        assert sess.run(v) == 3.0


def test_structures_and_what_is_fed() -> None:
    x = tf.placeholder(tf.float32, [2])
    s = tf.sparse_placeholder(tf.float32)
    y, total = x * 2.0, tf.reduce_sum(s.values)
    with tf.Session() as sess:
        handle = sess.partial_run_setup([{"y": y}, total], [x, s])
        (computed,) = sess.partial_run(handle, [{"y": y}], {x: [1, 2]})
        assert computed["y"].tolist() == [2, 4]
        assert sess.partial_run(handle, total, {s: ([[0]], [4.0], [1])}) == 4.0


def test_what_is_announced_twice_is_refused() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = x * 2.0
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="both fed and fetch"):
            sess.partial_run_setup([x, y], [x])
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than once"):
            sess.partial_run_setup([y], [x, x])
        handle = sess.partial_run_setup([y], [x])
        assert sess.partial_run(handle, y, {x: 2.0}) == 4.0


def test_two_at_once() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.placeholder(tf.float32, [])
    a, b = x + 1.0, x + y
    with tf.Session() as sess:
        one = sess.partial_run_setup([a, b], [x, y])
        two = sess.partial_run_setup([a, b], [x, y])
        assert one != two
        sess.partial_run(one, a, {x: 1.0})
        sess.partial_run(two, a, {x: 10.0})
        assert sess.partial_run(one, b, {y: 1.0}) == 2.0
        assert sess.partial_run(two, b, {y: 1.0}) == 11.0


def test_refused() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    a, b = x + 1.0, x + y
    other = tf.constant(1.0)
    invalid = tf.errors.InvalidArgumentError
    with tf.Session() as sess:
        with pytest.raises(invalid, match="at least one target"):
            sess.partial_run_setup([])
        handle = sess.partial_run_setup([a, b], [x, y])
        with pytest.raises(invalid, match="can't be computed from the feeds"):
            sess.partial_run(handle, b, {x: 1.0})
        assert sess.partial_run(handle, a, {x: 1.0}) == 2.0
        with pytest.raises(invalid, match="The feed x:0 has already been fed"):
            sess.partial_run(handle, a, {x: 1.0})
        with pytest.raises(invalid, match="already been fetched"):
            sess.partial_run(handle, a)
        with pytest.raises(invalid, match="was not specified in partial_run_setup"):
            sess.partial_run(handle, other)
        with pytest.raises(invalid, match="was not specified in partial_run_setup"):
            sess.partial_run(handle, b, {other: 1.0})
        with pytest.raises(RuntimeError, match="requires empty target_list"):
            sess.partial_run(handle, a.op)
        assert sess.partial_run(handle, b, {y: 1.0}) == 2.0
        with pytest.raises(invalid, match="Must run 'setup' before"):
            sess.partial_run(handle, b)


def test_what_was_read_follows_a_later_update() -> None:
    x = tf.placeholder(tf.float32, [])
    z = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=0.0)
    y = x * 3.0
    update = tf.assign_add(v, y + z)
    with tf.control_dependencies([update]):
        after = tf.identity(v) + 0.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        for total in (3.5, 7.0):
            handle = sess.partial_run_setup([y, after], [x, z])
            assert sess.partial_run(handle, y, {x: 1.0}) == 3.0
            assert sess.partial_run(handle, after, {z: 0.5}) == total


def test_an_update_whose_result_is_used_later_runs_once() -> None:
    x = tf.placeholder(tf.float32, [])
    z = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=1.0)
    y = x * 2.0
    update = tf.assign_add(v, y)
    product = update * z
    less = tf.assign_sub(update, z)
    with tf.Session() as sess:
        sess.run(v.initializer)
        handle = sess.partial_run_setup([y, product], [x, z])
        assert sess.partial_run(handle, y, {x: 1.0}) == 2.0
        assert sess.partial_run(handle, product, {z: 5.0}) == 15.0
        assert sess.run(v) == 3.0
        handle = sess.partial_run_setup([update, less], [x, z])
        assert sess.partial_run(handle, update, {x: 1.0}) == 5.0
        assert sess.partial_run(handle, less, {z: 0.5}) == 4.5
        assert sess.run(v) == 4.5


def _chosen(x: tf.Tensor) -> tf.Tensor:
    return tf.cond(x > 0.0, lambda: x * 2.0, lambda: x - 1.0)


def _looped(x: tf.Tensor) -> tf.Tensor:
    return tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h * x), [0, x])[1]


def _differentiated(x: tf.Tensor) -> tf.Tensor:
    return tf.gradients(_looped(x), x)[0]


def _unstructured(x: tf.Tensor) -> tf.Tensor:
    """A value of one branch goes past the end of the first cond into another one."""
    no, yes = tf.raw_ops.Switch(data=x, pred=x > 0.0)
    ended = tf.raw_ops.Merge(inputs=[no, yes * 3.0])[0]
    other = tf.raw_ops.Switch(data=ended + 1.0, pred=x > 0.0)
    return tf.raw_ops.Merge(inputs=[other[0] - no, other[1] + yes])[0]


@pytest.mark.parametrize(
    ("make", "expected"),
    [(_chosen, 4.0), (_looped, 16.0), (_differentiated, 32.0), (_unstructured, 9.0)],
)
def test_control_flow_is_not_cut(make: Any, expected: float) -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first = make(x)
    second = make(first * 0.0 + y) + first
    with tf.Session() as sess:
        handle = sess.partial_run_setup([first, second], [x, y])
        assert sess.partial_run(handle, first, {x: 2.0}) == expected
        assert sess.partial_run(handle, second, {y: 2.0}) == 2 * expected


def test_a_cond_waits_for_what_both_branches_take() -> None:
    p, x, y = (tf.placeholder(t, []) for t in (tf.bool, tf.float32, tf.float32))
    chosen = tf.cond(p, lambda: x, lambda: y * 2.0)
    other = tf.cond(p, lambda: x + 1.0, lambda: x - 1.0)
    with tf.Session() as sess:
        handle = sess.partial_run_setup([other, chosen], [p, x, y])
        assert sess.partial_run(handle, other, {p: False, x: 4.0}) == 3.0
        assert sess.partial_run(handle, chosen, {y: 5.0}) == 10.0
