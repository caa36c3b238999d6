"""Loops push to stacks and take from them, and nobody sees how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.worker.compile.piece import Piece

STEPS = 4


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources of the pieces that are compiled while the test runs."""
    made: list[str] = []
    start = Piece.__init__

    def note(self: Piece, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **kwargs)
        made.append(self.source)

    monkeypatch.setattr(Piece, "__init__", note)
    return made


def _stack(dtype: Any, max_size: int = -1) -> Any:
    return tf.raw_ops.StackV2(max_size=max_size, elem_type=dtype)


def _push(stack: Any, value: Any) -> Any:
    return tf.raw_ops.StackPushV2(handle=stack, elem=value)


def _pop(stack: Any, dtype: Any) -> Any:
    return tf.raw_ops.StackPopV2(handle=stack, elem_type=dtype)


def _pushed(stack: Any, value_of: Callable[[Any], Any], steps: int = STEPS) -> Any:
    """A number that is there when a loop has pushed its values."""

    def push(i: Any) -> Any:
        with tf.control_dependencies([_push(stack, value_of(i))]):
            return i + 1

    return tf.while_loop(lambda i: i < steps, push, [tf.constant(0)])


def _popped(count: Any, stack: Any, dtype: Any, steps: int = STEPS) -> Any:
    """What another loop takes then, [steps, ...]."""

    def pop(i: Any, found: Any) -> Any:
        return i + 1, found.write(i, _pop(stack, dtype))

    found = tf.TensorArray(dtype, steps, infer_shape=False)
    start = count * 0  # after the pushes
    return tf.while_loop(lambda i, _: i < steps, pop, [start, found])[1].stack()


def _floats(x: Any, i: Any) -> Any:
    return x * tf.cast(i, tf.float32)


# the value that is pushed in an iteration; its dtype; its reference
VALUES = {
    "small": (_floats, tf.float32, (2, 3), lambda x, i: x * i),
    "large": (_floats, tf.float32, (300, 200), lambda x, i: x * i),
    "scalar": (
        lambda x, i: tf.reduce_sum(x) * tf.cast(i, tf.float32),
        tf.float32,
        (4,),
        lambda x, i: x.sum() * i,
    ),
    "string": (
        lambda x, i: tf.as_string(i) + tf.as_string(x),
        tf.string,
        (),
        lambda x, i: f"{i}{x:f}".encode(),
    ),
    "bool": (
        lambda x, i: x > tf.cast(i, tf.float32),
        tf.bool,
        (5,),
        lambda x, i: x > i,
    ),
    "made in turns": (
        lambda x, i: tf.cond(tf.equal(i % 2, 0), lambda: x + 1.0, lambda: -x),
        tf.float32,
        (3,),
        lambda x, i: -x if i % 2 else x + 1,
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_elements_come_back_in_reverse(name: str, sources: list[str]) -> None:
    value_of, dtype, dims, reference = VALUES[name]
    x = tf.placeholder(tf.float32, dims)
    stack = _stack(dtype)
    count = _pushed(stack, lambda i: value_of(x, i))
    popped = _popped(count, stack, dtype)
    fed = np.random.RandomState(0).randint(1, 9, dims).astype(np.float32)
    with tf.Session() as sess:
        for _ in range(2):  # each step has a stack of its own
            got = sess.run(popped, {x: fed})
            expected = [reference(fed, i) for i in reversed(range(STEPS))]
            if dtype == tf.string:
                assert got.tolist() == expected
            else:
                np.testing.assert_allclose(got, expected, rtol=1e-6)
    source = "\n".join(sources)
    assert ".append(" in source
    assert ".pop()" in source


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_push_and_pop_what_a_list_does(seed: int) -> None:
    """Several stacks in one loop, pushed to before it too; not all is taken again."""
    random = np.random.RandomState(seed)
    counts = [int(n) for n in random.randint(0, 3, random.randint(1, 4))]
    x = tf.placeholder(tf.float32, [2])
    stacks = [_stack(tf.float32) for _ in counts]
    done: list[Any] = []
    for stack, count in zip(stacks, counts, strict=True):
        for n in range(count):
            with tf.control_dependencies(done):
                done = [_push(stack, x - float(n)).op]

    def push(i: Any) -> Any:
        pushes = [
            _push(stack, x * tf.cast(i + s, tf.float32))
            for s, stack in enumerate(stacks)
        ]
        with tf.control_dependencies(pushes):
            return i + 1

    with tf.control_dependencies(done):
        start = tf.identity(tf.constant(0))
    end = tf.while_loop(lambda i: i < STEPS, push, [start])
    taken = [int(random.randint(1, count + STEPS + 1)) for count in counts]
    found = [
        _popped(end, stack, tf.float32, most)
        for stack, most in zip(stacks, taken, strict=True)
    ]
    fed = np.array([1, 2], np.float32)
    with tf.Session() as sess:
        got = sess.run(found, {x: fed})
    for s, values in enumerate(got):
        model = [fed - n for n in range(counts[s])]
        model += [fed * (i + s) for i in range(STEPS)]
        np.testing.assert_array_equal(values, model[::-1][: taken[s]])


def _overfull() -> Any:
    return _pushed(_stack(tf.float32, 2), lambda i: tf.cast(i, tf.float32) + 0.5)


def _empty() -> Any:
    stack = _stack(tf.float32)
    count = _pushed(stack, lambda i: tf.cast(i, tf.float32) + 0.5, 2)
    return _popped(count, stack, tf.float32, 3)


def _another_type() -> Any:
    return _pushed(_stack(tf.int64), lambda i: tf.cast(i, tf.float32) + 0.5)


def _closed() -> Any:
    stack = _stack(tf.float32)
    with tf.control_dependencies([tf.raw_ops.StackCloseV2(handle=stack)]):
        start = tf.identity(tf.constant(0))

    def push(i: Any) -> Any:
        with tf.control_dependencies([_push(stack, tf.cast(i, tf.float32))]):
            return i + 1

    return tf.while_loop(lambda i: i < STEPS, push, [start])


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (_overfull, r"overflowed its max_size \(2\)"),
        (_empty, r"is empty when calling Pop\(\)"),
        (_another_type, "Must have type int64 but got float"),
        (_closed, "has already been closed"),
    ],
)
def test_what_stacks_refuse(program: Callable[[], Any], message: str) -> None:
    fetched = program()
    refused = pytest.raises(tf.errors.InvalidArgumentError, match=message)
    with tf.Session() as sess, refused as caught:
        sess.run(fetched)
    assert caught.value.op is not None
    assert caught.value.op.type in ("StackPushV2", "StackPopV2")


def test_a_stack_that_the_body_closes_takes_nothing_more() -> None:
    stack = _stack(tf.float32)

    def push(i: Any) -> Any:
        with tf.control_dependencies([_push(stack, tf.cast(i, tf.float32))]):
            close = tf.raw_ops.StackCloseV2(handle=stack)
        with tf.control_dependencies([close]):
            return i + 1

    count = tf.while_loop(lambda i: i < 2, push, [tf.constant(0)])
    refused = pytest.raises(tf.errors.InvalidArgumentError, match="closed")
    with tf.Session() as sess, refused:
        sess.run(count)


def test_an_element_that_is_not_read_is_taken_all_the_same() -> None:
    stack = _stack(tf.float32)
    count = _pushed(stack, lambda i: tf.cast(i, tf.float32) + 0.5)

    def drop(i: Any) -> Any:
        with tf.control_dependencies([_pop(stack, tf.float32)]):
            return i + 1

    dropped = tf.while_loop(lambda i: i < 3, drop, [count * 0])
    with tf.control_dependencies([dropped]):
        last = _pop(stack, tf.float32)
    with tf.Session() as sess:
        assert sess.run(last) == 0.5
