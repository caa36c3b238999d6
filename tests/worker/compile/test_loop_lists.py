"""Loops grow and shrink lists of tensors, and nobody sees how."""

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


def _empty(dtype: Any, shape: Any = -1, most: int = -1) -> Any:
    return tf.raw_ops.EmptyTensorList(
        element_shape=shape, max_num_elements=most, element_dtype=dtype
    )


def _push(handle: Any, value: Any) -> Any:
    return tf.raw_ops.TensorListPushBack(input_handle=handle, tensor=value)


def _pop(handle: Any, dtype: Any, shape: Any = -1) -> Any:
    return tf.raw_ops.TensorListPopBack(
        input_handle=handle, element_shape=shape, element_dtype=dtype
    )


def _pushed(handle: Any, value_of: Callable[[Any], Any], steps: int = STEPS) -> Any:
    """The list when a loop has pushed its values."""
    return tf.while_loop(
        lambda i, _: i < steps,
        lambda i, items: (i + 1, _push(items, value_of(i))),
        [tf.constant(0), handle],
    )[1]


def _popped(handle: Any, dtype: Any, steps: int = STEPS) -> tuple[Any, Any]:
    """(what another loop takes, [steps, ...]; the list then)."""

    def body(i: Any, items: Any, found: Any) -> Any:
        rest, element = _pop(items, dtype)
        return i + 1, rest, found.write(i, element)

    found = tf.TensorArray(dtype, steps, infer_shape=False)
    start = [tf.constant(0), handle, found]
    _, rest, found = tf.while_loop(lambda i, *_: i < steps, body, start)
    return found.stack(), rest


def _length(handle: Any) -> Any:
    return tf.raw_ops.TensorListLength(input_handle=handle)


# the shape of x and of the list's elements; what is pushed of (x, i), here and there
VALUES: dict[str, tuple[Any, Any, Any, Any]] = {
    "small": ((2, 3), [2, 3], tf.float32, lambda x, i: x * i),
    "of any shape": ((2, 3), -1, tf.float32, lambda x, i: x * i),
    "partly known": ((2, 3), [-1, 3], tf.float32, lambda x, i: x * i),
    "large": ((300, 200), [300, 200], tf.float32, lambda x, i: x * i),
    "bool": ((5,), [5], tf.bool, lambda x, i: x > i),
    "scalar": ((), [], tf.float32, lambda x, i: x + i),
}


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown sizes"])
@pytest.mark.parametrize("name", VALUES)
def test_elements_come_back_in_reverse(
    name: str, known: bool, sources: list[str]
) -> None:
    dims, shape, dtype, value_of = VALUES[name]
    x = tf.placeholder(tf.float32, dims if known else None)
    shape = np.array(shape, np.int32)
    items = _pushed(_empty(dtype, shape), lambda i: value_of(x, tf.cast(i, tf.float32)))
    taken, rest = _popped(items, dtype, STEPS - 1)
    fetches = [taken, _length(items), _length(rest), _popped(items, dtype)[0][-1]]
    fed = np.asarray(np.random.RandomState(0).randint(1, 9, dims), np.float32)
    expected = [value_of(fed, np.float32(i)) for i in reversed(range(STEPS))]
    with tf.Session() as sess:
        for _ in range(2):
            got, *lengths, first = sess.run(fetches, {x: fed})
            np.testing.assert_array_equal(got, expected[:-1])
            assert lengths == [STEPS, 1]
            np.testing.assert_array_equal(first, expected[-1])
    source = "\n".join(sources)
    assert ".append(" in source
    assert ".pop()" in source


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_push_and_pop_what_a_list_does(seed: int) -> None:
    """What is pushed to before a loop too, and used after it, in other loops again."""
    random = np.random.RandomState(seed)
    x = tf.placeholder(tf.float32, [2])
    fed = np.array([1, 2], np.float32)
    lists: list[Any] = [_empty(tf.float32, [2]) for _ in range(2)]
    models: list[list[Any]] = [[], []]
    for n in range(6):
        at = random.randint(len(lists))
        kind, steps = random.randint(3), int(random.randint(1, 4))
        handle, model = lists[at], models[at]
        if kind == 0:
            lists.append(_push(handle, x - float(n)))
            models.append([*model, fed - n])
        elif kind == 1 or len(model) < steps:
            lists.append(
                _pushed(handle, lambda i, n=n: x * tf.cast(i + n, tf.float32), steps)
            )
            models.append([*model, *(fed * (i + n) for i in range(steps))])
        else:
            lists.append(_popped(handle, tf.float32, steps)[1])
            models.append(model[:-steps])
    full = [i for i, model in enumerate(models) if model]
    found = [
        tf.raw_ops.TensorListStack(
            input_handle=lists[i], element_shape=[2], element_dtype=tf.float32
        )
        for i in full
    ]
    with tf.Session() as sess:
        got = sess.run([found, [_length(handle) for handle in lists]], {x: fed})
    assert got[1] == [len(model) for model in models]
    for i, value in zip(full, got[0], strict=True):
        np.testing.assert_array_equal(value, models[i])


def test_a_list_that_the_body_reads_too() -> None:
    def body(i: Any, items: Any, lengths: Any) -> Any:
        longer = _push(items, tf.cast(i, tf.float32))
        return i + 1, longer, lengths + _length(longer)

    start = [tf.constant(0), _empty(tf.float32), tf.constant(0)]
    loop = tf.while_loop(lambda i, *_: i < STEPS, body, start)
    with tf.Session() as sess:
        assert sess.run([_length(loop[1]), loop[2]]) == [4, 1 + 2 + 3 + 4]


def test_a_list_that_tells_when_the_loop_ends() -> None:
    loop = tf.while_loop(
        lambda items: _length(items) < 3,
        lambda items: _push(items, tf.constant(1.5)),
        [_empty(tf.float32)],
    )
    with tf.Session() as sess:
        assert sess.run(_length(loop)) == 3


def test_lists_that_change_places() -> None:
    def body(i: Any, a: Any, b: Any) -> Any:
        return i + 1, b, _push(a, tf.cast(i, tf.float32))

    start = [tf.constant(0), _empty(tf.float32), _empty(tf.float32)]
    _, a, b = tf.while_loop(lambda i, *_: i < 3, body, start)
    with tf.Session() as sess:
        assert sess.run([_length(a), _length(b)]) == [1, 2]


@pytest.mark.parametrize("count", [0, 2])
def test_an_element_that_is_not_read_is_taken_all_the_same(count: int) -> None:
    items = _pushed(_empty(tf.float32), lambda i: tf.cast(i, tf.float32) + 0.5)
    most = tf.placeholder(tf.int32, [])
    _, rest = tf.while_loop(
        lambda i, _: i < most,
        lambda i, left: (i + 1, _pop(left, tf.float32)[0]),
        [tf.constant(0), items],
    )
    with tf.Session() as sess:
        last = sess.run(_pop(rest, tf.float32)[1], {most: count})
    assert last == STEPS - 1 - count + 0.5


def test_elements_that_were_never_set() -> None:
    reserved = tf.raw_ops.TensorListReserve(
        element_shape=[2], num_elements=3, element_dtype=tf.float32
    )
    with tf.Session() as sess:
        np.testing.assert_array_equal(
            sess.run(_popped(reserved, tf.float32, 2)[0]), np.zeros([2, 2])
        )


# what is refused, and by which op
REFUSED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "overfull": (
        lambda: _pushed(_empty(tf.float32, most=2), lambda i: tf.cast(i, tf.float32)),
        "Tried to push item into a full list",
        "TensorListPushBack",
    ),
    "another shape": (
        lambda: _pushed(_empty(tf.float32, [3]), lambda i: tf.zeros([2])),
        "incompatible shape to a list",
        "TensorListPushBack",
    ),
    "empty": (
        lambda: _popped(
            _pushed(_empty(tf.float32), lambda i: tf.cast(i, tf.float32)), tf.float32, 5
        )[1],
        "Trying to pop from an empty list",
        "TensorListPopBack",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_lists_refuse(name: str) -> None:
    program, message, op = REFUSED[name]
    fetched = _length(program())
    refused = pytest.raises(tf.errors.InvalidArgumentError, match=message)
    with tf.Session() as sess, refused as caught:
        sess.run(fetched)
    assert caught.value.op is not None
    assert caught.value.op.type in (op, "While", "StatelessWhile")
