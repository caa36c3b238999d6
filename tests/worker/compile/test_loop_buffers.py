"""Arrays of a loop in the memory of earlier ones: where, and that nobody sees it.

What a program gives is compared, bit by bit, with what it gives where each iteration
makes its arrays anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.worker.compile import loop_buffers
from tensorloom.worker.compile.piece import Piece

SHAPE = (3, 4)
START = np.linspace(-1, 1, 12, dtype=np.float32).reshape(SHAPE)
WEIGHTS = np.linspace(-0.4, 0.5, 16, dtype=np.float32).reshape(4, 4)


@pytest.fixture
def sources(monkeypatch) -> list[str]:
    made: list[str] = []
    start = Piece.__init__

    def note(self, *args, **kwargs) -> None:
        start(self, *args, **kwargs)
        made.append(self.source)

    monkeypatch.setattr(Piece, "__init__", note)
    return made


def buffers(source: str) -> int:
    """How many arrays are made in the memory of others."""
    lines = source.partition("while True:\n")[2].splitlines()
    made = [line.strip() for line in lines if line.rstrip().endswith(")")]
    return sum(", b" in line.rpartition("(")[2] for line in made)


def run(build: Callable[[], Any], feed: Any = START) -> Any:
    with tf.Graph().as_default():
        fetches = build()
        (fed,) = (op.outputs[0] for op in ops("Placeholder"))
        with tf.Session() as session:
            return session.run(fetches, {fed: feed})


def ops(kind: str) -> list[tf.Operation]:
    return [op for op in tf.get_default_graph().get_operations() if op.type == kind]


Body = Callable[[Any], Any]


def loop(body: Body, count: int = 5, other: int = 1) -> Callable[[], Any]:
    """A loop over the state, and a second variable that starts like it."""

    def build() -> Any:
        start = tf.placeholder(tf.float32, SHAPE)
        return tf.while_loop(
            lambda i, *_: i < count,
            lambda i, *values: (i + 1, *body(values if other else values[0])),
            [0, start, *[start] * other],
        )[1:]

    return build


def product(x: tf.Tensor) -> tf.Tensor:
    return tf.matmul(x, tf.constant(WEIGHTS))


# name: what the body makes of (a, b), and how many arrays get an earlier one's memory
CASES: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "a carried product": (lambda a, b: (product(a), b), 1),
    "carried in place": (lambda a, b: (tf.tanh(product(a) + a), b), 1),
    "two carried": (lambda a, b: (tf.exp(-product(a)), tf.tanh(product(b))), 2),
    "one within": (lambda a, b: (tf.tanh(product(a)) + product(tf.sin(b)), -b), 4),
    "the value before": (lambda a, b: (product(a), a), 0),
    "exchanged": (lambda a, b: (product(b), tf.tanh(a)), 2),
    "given twice": (lambda a, b: (product(a),) * 2, 0),
    "a view of what is carried": (
        lambda a, b: (product(a), tf.reshape(product(a), SHAPE)),
        0,
    ),
    "a view of the variable": (lambda a, b: (product(a), tf.reshape(a, SHAPE)), 0),
    "a view within": (lambda a, b: (a + tf.reshape(product(a), SHAPE), b), 1),
    "in a branch": (
        lambda a, b: (tf.cond(tf.reduce_sum(a) > 0, lambda: product(a), lambda: b), b),
        0,
    ),
}


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("case", CASES)
def test_what_is_made_in_place(case: str, count: int, sources, monkeypatch) -> None:
    body, expected = CASES[case]
    build = loop(lambda values: body(*values), count)
    given = START.copy()
    found = run(build, given)
    assert buffers(sources[-1]) == expected, sources[-1]
    np.testing.assert_array_equal(given, START)
    monkeypatch.setattr(loop_buffers, "place", lambda *args: [])
    for value, plain in zip(found, run(build), strict=True):
        np.testing.assert_array_equal(value, plain)


def test_elements_of_arrays_stay(sources) -> None:
    """Each iteration's product is written, kept, and read after the loop."""

    def build() -> Any:
        start = tf.placeholder(tf.float32, SHAPE)
        array = tf.TensorArray(tf.float32, 4)
        _, last, array = tf.while_loop(
            lambda i, *_: i < 4,
            lambda i, x, a: (i + 1, y := product(x), a.write(i, y)),
            [0, start, array],
        )
        return array.stack(), last

    rows, last = run(build)
    state = START
    for row in rows:
        state = state @ WEIGHTS
        np.testing.assert_allclose(row, state, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(rows[-1], last)


def test_results_of_an_inner_loop(sources) -> None:
    """They outlive their loop, in an array beside those of its next runs."""

    def build() -> Any:
        start = tf.placeholder(tf.float32, SHAPE)

        def outer(i: Any, x: Any, before: Any) -> Any:
            inner = tf.while_loop(
                lambda j, _: j < 3, lambda j, y: (j + 1, tf.tanh(product(y))), [0, x]
            )[1]
            return i + 1, inner, before + x

        return tf.while_loop(lambda i, *_: i < 3, outer, [0, start, start])[1:]

    last, total = run(build)
    state, expected = START, START
    for _ in range(3):
        expected = expected + state
        for _ in range(3):
            state = np.tanh(state @ WEIGHTS)
    np.testing.assert_allclose(last, state, rtol=1e-5)
    np.testing.assert_allclose(total, expected, rtol=1e-5)


def test_sizes_that_change() -> None:
    def build() -> Any:
        start = tf.placeholder(tf.float32, SHAPE)
        return tf.while_loop(
            lambda i, _: i < 3,
            lambda i, x: (i + 1, tf.tanh(tf.concat([x, product(x)], 0))),
            [0, start],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])],
        )[1]

    state = START
    for _ in range(3):
        state = np.tanh(np.concatenate([state, state @ WEIGHTS]))
    np.testing.assert_allclose(run(build), state, rtol=1e-5)


def test_runs_beside_each_other_have_their_own() -> None:
    """Two runs of one step, one inside the other's loop."""
    seen: list[int] = []
    inside: list[Any] = []

    def look(i: Any) -> Any:
        seen.append(i)
        if len(seen) == 3:
            inside.append(session.run(last, {start: 2 * START}))
        return i

    with tf.Graph().as_default():
        start = tf.placeholder(tf.float32, SHAPE)

        def body(i: Any, x: Any) -> Any:
            y = tf.tanh(product(x))
            with tf.control_dependencies([tf.py_func(look, [i], tf.int32)]):
                return i + 1, y + tf.exp(-product(x))

        last = tf.while_loop(lambda i, _: i < 5, body, [0, start])[1]
        with tf.Session() as session:
            found = session.run(last, {start: START})
            again = session.run(last, {start: START})
            doubled = session.run(last, {start: 2 * START})
    np.testing.assert_array_equal(found, again)
    np.testing.assert_array_equal(inside[0], doubled)


# --- any body ------------------------------------------------------------------------

UNARY: dict[str, Callable[[Any], Any]] = {
    "tanh": tf.tanh,
    "sin": tf.sin,
    "product": product,
    "same": tf.identity,
    "view": lambda x: tf.reshape(tf.reshape(x, [-1]), SHAPE),
    "turned": lambda x: tf.transpose(tf.transpose(x)),
    "sigmoid": tf.sigmoid,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * tf.tanh(y),
    "sub": lambda x, y: x - y,
    "chosen": lambda x, y: tf.cond(
        tf.reduce_sum(x) < tf.reduce_sum(y), lambda: x + y, lambda: y
    ),
    "inner": lambda x, y: tf.while_loop(
        lambda j, *_: j < 2,
        lambda j, a, b: (j + 1, tf.tanh(product(b)), a),
        [0, x, y],
    )[1],
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *BINARY]),
        st.integers(0, 10),
        st.integers(0, 10),
    ),
    min_size=1,
    max_size=8,
)


@hypothesis.settings(max_examples=20, deadline=None)
@hypothesis.given(STEPS, st.lists(st.integers(0, 10), min_size=3, max_size=3))
def test_any_body(steps: list[tuple[str, int, int]], ends: list[int]) -> None:
    def build() -> Any:
        start = tf.placeholder(tf.float32, SHAPE)

        def body(i: Any, array: Any, *values: Any) -> Any:
            known = list(values)
            for name, left, right in steps:
                x, y = known[left % len(known)], known[right % len(known)]
                known.append(UNARY[name](x) if name in UNARY else BINARY[name](x, y))
            known.reverse()
            array = array.write(i, known[0])
            return i + 1, array, *[known[end % len(known)] for end in ends]

        array = tf.TensorArray(tf.float32, 4)
        _, array, *values = tf.while_loop(
            lambda i, *_: i < 4, body, [0, array, start, start / 2, start]
        )
        return array.stack(), *values

    found = run(build)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_buffers, "place", lambda *args: [])
        plain = run(build)
    for value, expected in zip(found, plain, strict=True):
        np.testing.assert_array_equal(value, expected)
