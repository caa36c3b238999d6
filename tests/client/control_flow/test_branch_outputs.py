"""What a program uses of branches behind them, and what no step reads of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework import errors
from tests.client.session.sessions import run_initialized

DEAD = "does not have value"

# A program gives its fetch, for a predicate p and a variable v of 0 and x of 2.
Program = Callable[[tf.Tensor, Any, Any], Any]


def _leak(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> tf.Tensor:
        box.append(x * 3.0)
        return tf.identity(x)

    y = tf.cond(p, branch, lambda: 0.0)
    return [y, box[0] + 1.0]


def _leak_of_the_other_branch(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> tf.Tensor:
        box.append(x * 3.0)
        return tf.identity(x)

    tf.cond(p, lambda: 0.0, branch)
    return box[0] + 1.0


def _leak_of_two_branches(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> tf.Tensor:
        def inner() -> tf.Tensor:
            box.append(x * 5.0)
            return tf.identity(x)

        return tf.cond(x > 1.0, inner, lambda: 0.0)

    tf.cond(p, branch, lambda: 0.0)
    return box[0] * 2.0


def _leak_into_another_branch(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> tf.Tensor:
        box.append(x * 5.0)
        return tf.identity(x)

    tf.cond(p, branch, lambda: 0.0)
    return tf.cond(p, lambda: box[0] + 1.0, lambda: -1.0)


def _leak_in_a_loop(p: tf.Tensor, v: Any, x: Any) -> Any:
    def body(i: tf.Tensor, a: tf.Tensor) -> Any:
        box = []

        def branch() -> tf.Tensor:
            box.append(a * 3.0)
            return tf.identity(a)

        y = tf.cond(i < 2, branch, lambda: a + 1.0)
        merged, _ = tf.raw_ops.Merge(inputs=[box[0], -y])
        return i + 1, tf.cond(i < 2, lambda: box[0], lambda: y) + 0.0 * merged

    return tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]


def _control(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> float:
        box.append(tf.assign_add(v, 1.0))
        return 1.0

    tf.cond(p, branch, lambda: 0.0)
    with tf.control_dependencies(box):
        return tf.constant(5.0)


def _gradient(p: tf.Tensor, v: Any, x: Any) -> Any:
    box = []

    def branch() -> tf.Tensor:
        box.append(x * x * 5.0)
        return tf.identity(x)

    y = tf.cond(p, branch, lambda: 0.0)
    return tf.gradients(y + box[0], x)[0]


def _losses(p: tf.Tensor, v: Any, x: Any) -> Any:
    def branch(factor: float) -> Callable[[], tf.Tensor]:
        def build() -> tf.Tensor:
            tf.add_to_collection("losses", x * factor)
            return tf.identity(x)

        return build

    tf.cond(p, branch(1.0), branch(2.0))
    return tf.add_n(tf.get_collection("losses"))


# (program, what it gives where p is true, where it is false)
LEAKS: list[tuple[Program, Any, Any]] = [
    (_leak, [2.0, 7.0], DEAD),
    (_leak_of_the_other_branch, DEAD, 7.0),
    (_leak_of_two_branches, 20.0, DEAD),
    (_leak_into_another_branch, 11.0, -1.0),
    (_leak_in_a_loop, 19.0, 19.0),
    (_control, 5.0, DEAD),
    (_gradient, 21.0, 0.0),
    (_losses, DEAD, DEAD),
]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(("program", "taken", "other"), LEAKS)
def test_what_leaves_a_branch(
    program: Program, taken: Any, other: Any, use_resource: bool
) -> None:
    p = tf.placeholder(tf.bool, [])
    v = tf.get_variable("v", initializer=0.0, use_resource=use_resource)
    x = tf.get_variable("x", initializer=2.0, use_resource=use_resource)
    fetch = program(p, v, x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for value, wanted in ((True, taken), (False, other)):
            if wanted is DEAD:
                with pytest.raises(errors.InvalidArgumentError, match=DEAD):
                    sess.run(fetch, {p: value})
            else:
                assert sess.run(fetch, {p: value}) == wanted


def test_summaries_of_branches_are_merged() -> None:
    p = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [None])

    def branch() -> tf.Tensor:
        def inner() -> tf.Tensor:
            tf.summary.scalar("deep", tf.reduce_max(x))
            return tf.constant(1.0)

        y = tf.cond(x[0] > 0.0, inner, lambda: tf.constant(-1.0))
        tf.summary.histogram("values", x)
        return y + tf.reduce_sum(x)

    y = tf.cond(p, branch, lambda: tf.constant(0.0))
    tf.summary.scalar("y", y)
    merged = tf.summary.merge_all()
    with tf.Session() as sess:
        # Its last bytes are zeros.
        text = sess.run([merged, y], {p: True, x: [1.0, 2.0]})[0]
        found = tf.Summary.FromString(text)
        assert [value.tag for value in found.value] == [
            "cond/cond/deep",
            "cond/values",
            "y",
        ]
        assert sess.run(y, {p: False, x: [1.0]}) == 0.0
        for feed in ({p: True, x: [-1.0]}, {p: False, x: [1.0]}):
            with pytest.raises(errors.InvalidArgumentError, match=DEAD):
                sess.run(merged, feed)


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_no_step_reads_of_a_branch_does_not_run(use_resource: bool) -> None:
    p = tf.placeholder(tf.bool, [])
    counts = [
        tf.get_variable(f"v{i}", initializer=0.0, use_resource=use_resource)
        for i in range(4)
    ]
    before = tf.identity(tf.assign_add(counts[3], 1.0))  # for one of the results

    def branch() -> Any:
        inner = tf.cond(
            counts[0] < 5.0,
            lambda: (tf.constant(3.0), tf.assign_add(counts[1], 1.0)),
            lambda: (tf.constant(4.0), tf.constant(0.0)),
        )
        return inner[0], tf.assign_add(counts[2], 1.0) + inner[1] + before

    y, z = tf.cond(p, branch, lambda: (tf.constant(0.0), before))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(y, {p: True}) == 3.0
        assert sess.run(counts) == [0.0, 0.0, 0.0, 0.0]
        sess.run(z, {p: False})
        assert sess.run(counts) == [0.0, 0.0, 0.0, 1.0]
        assert sess.run([y, z], {p: True}) == [3.0, 4.0]
        assert sess.run(counts) == [0.0, 1.0, 1.0, 2.0]


def test_what_a_loop_does_not_read_of_a_branch_does_not_run() -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def body(i: tf.Tensor, a: tf.Tensor) -> Any:
        kept, _ = tf.cond(
            i < 2,
            lambda: (a + 1.0, v.assign_add(1.0)),
            lambda: (a * 2.0, tf.constant(0.0)),
        )
        return i + 1, kept

    result = tf.while_loop(lambda i, a: i < 3, body, [0, 1.0])[1]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(result) == 6.0
        assert sess.run(v) == 0.0


@pytest.mark.parametrize("use_resource", [False, True])
def test_branches_and_loops_use_what_was_written_before(use_resource: bool) -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
    written = tf.assign_add(v, 2.0)
    y = tf.cond(written > 2.0, lambda: written * 2.0, lambda: 0.0)
    _, z = tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, a + written), [0, 0.0]
    )
    assert run_initialized(y) == 6.0
    assert run_initialized(z) == 6.0


def test_a_branch_writes_to_what_was_written_before() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    written = tf.assign(v, 5.0)
    y = tf.cond(v < 9.0, lambda: tf.assign_add(written, 2.0), lambda: 0.0)
    assert run_initialized(y) == 7.0


def test_the_gradient_reads_what_a_branch_wrote() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=False)
    x = tf.placeholder_with_default(3.0, [])
    y = tf.cond(x > 0.0, lambda: tf.assign_add(v, 2.0) * x, lambda: x)
    assert run_initialized(tf.gradients(y, x)[0]) == 3.0


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("in_loop", [False, True])
def test_updates_run_for_the_results_that_wait_for_them(
    functional: bool, in_loop: bool
) -> None:
    if functional:
        tf.enable_control_flow_v2()
    x = tf.placeholder_with_default(2.0, [])
    u, v, w = (
        tf.get_variable(name, initializer=0.0, use_resource=True) for name in "uvw"
    )

    def update(first: tf.Tensor, second: tf.Tensor) -> Any:
        u.assign_add(1.0)
        with tf.control_dependencies([v.assign_add(1.0).op]):
            first = first + v.read_value()
        with tf.control_dependencies([w.assign_add(1.0).op]):
            second = second + 1.0
        return first, second

    if in_loop:
        count, first, second = tf.while_loop(
            lambda i, *_: i < 2, lambda i, a, b: (i + 1, *update(a, b)), [0, x, x]
        )
    else:
        first, second = tf.cond(x > 0.0, lambda: update(x, x), lambda: (x, x))
        count = tf.shape(first)
    times = 2.0 if in_loop else 1.0
    with tf.Session() as sess:
        for fetch, expected in (
            (first, [0.0, times, 0.0]),
            (second, [0.0, 0.0, times]),
            (second.op, [0.0, 0.0, times]),
            ([first, second], [0.0, times, times]),
            (count if in_loop else [], [0.0, 0.0, 0.0]),
        ):
            sess.run(tf.global_variables_initializer())
            sess.run(fetch)
            assert sess.run([u, v, w]) == expected
