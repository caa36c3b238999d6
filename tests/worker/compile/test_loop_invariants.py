"""What a loop's iterations share is computed in the first, and nothing else is."""

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


def has_block(source: str) -> bool:
    """Whether a loop has a block for its first iteration."""
    return any(line.strip().startswith("if o") for line in source.splitlines())


def weights(rows: int, columns: int) -> np.ndarray:
    return np.random.RandomState(1).randn(rows, columns).astype(np.float32)


def halves(x: Any, w: Any) -> Any:
    a, b = tf.split(w, 2, 1)
    return tf.tanh(tf.matmul(x, a) - tf.matmul(x, b))


def slices(x: Any, w: Any) -> Any:
    columns = int(x.shape[1])
    return tf.tanh(tf.matmul(x, w[:, :columns])) + tf.matmul(x, w[:, columns:])


def transposed(x: Any, w: Any) -> Any:
    columns = int(x.shape[1])
    turned = tf.reshape(tf.transpose(w), [2, columns, columns])
    return tf.tanh(tf.matmul(x, turned[0]) * tf.reduce_sum(turned[1]))


CELLS = {"halves": halves, "slices": slices, "transposed": transposed}


@pytest.mark.parametrize("units", [3, 70])
@pytest.mark.parametrize("kind", ["fed", "resource", "reference"])
@pytest.mark.parametrize("name", CELLS)
def test_states_and_gradients(
    name: str, kind: str, units: int, sources: list[str]
) -> None:
    """As the same cells written out."""
    first, given = weights(2, units), weights(units, 2 * units) / 9
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, given.shape)
        w = fed
        if kind != "fed":
            resource = kind == "resource"
            w = tf.get_variable("w", initializer=given, use_resource=resource)
        w_read = w if kind == "fed" else w.read_value()
        start = tf.constant(first)
        cell = CELLS[name]
        _, last = tf.while_loop(
            lambda i, _: i < STEPS,
            lambda i, x: (i + 1, cell(x, tf.convert_to_tensor(w))),
            [0, start],
        )
        written = start
        for _ in range(STEPS):
            written = cell(written, w_read)
        loops = [last, *tf.gradients(last, [w])]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = session.run(loops, {fed: given})
            assert has_block(sources[-1])
            again = session.run(loops, {fed: given})
            expected = session.run([written, *tf.gradients(written, [w])], {fed: given})
    for one, other, value in zip(found, again, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_allclose(one, value, rtol=2e-4, atol=1e-4)


def test_a_variable_that_the_body_writes_is_read_in_each_iteration() -> None:
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)

        def body(i: Any, total: Any) -> Any:
            read = tf.square(w.read_value())
            with tf.control_dependencies([read]):
                added = w.assign_add([1.0, 1.0])
            with tf.control_dependencies([added]):
                return i + 1, total + read

        loop = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])])
        with tf.Session() as session:
            session.run(w.initializer)
            np.testing.assert_array_equal(session.run(loop)[1], [1 + 4 + 9, 4 + 9 + 16])


def test_an_update_after_the_loop_changes_no_result() -> None:
    with tf.Graph().as_default():
        w = tf.get_variable("w", initializer=weights(40, 40), use_resource=True)
        _, last = tf.while_loop(
            lambda i, _: i < 2,
            lambda i, x: (i + 1, tf.identity(w.read_value())[:20]),
            [0, tf.zeros([20, 40])],
        )
        with tf.control_dependencies([last]):
            update = w.assign_add(tf.ones([40, 40]))
        with tf.Session() as session:
            session.run(w.initializer)
            before = session.run([last, update])[0]
            after = session.run(last)
    np.testing.assert_array_equal(before, weights(40, 40)[:20])
    np.testing.assert_array_equal(after, weights(40, 40)[:20] + 1)


FAILURES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: tf.reshape(x, [-1, 4]),
    "gather": lambda x: tf.gather(x, tf.cast(x, tf.int32) + 100),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_does_so_only_if_it_runs(name: str) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        count = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, _: i < count,
            lambda i, t: (i + 1, t + tf.reduce_sum(FAILURES[name](x))),
            [0, 0.0],
        )
        with tf.Session() as session:
            assert session.run(total, {x: [1.0, 2.0, 3.0], count: 0}) == 0.0
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(total, {x: [1.0, 2.0, 3.0], count: 2})
    assert caught.value.op is not None


def test_loops_in_loops() -> None:
    given = weights(3, 6)
    with tf.Graph().as_default():
        w = tf.placeholder(tf.float32, given.shape)

        def inner(scale: Any) -> Any:
            return tf.while_loop(
                lambda j, _: j < 2,
                lambda j, t: (j + 1, t + scale * tf.split(w, 2, 1)[1]),
                [0, tf.zeros([3, 3])],
            )[1]

        _, total = tf.while_loop(
            lambda i, _: i < 3,
            lambda i, t: (i + 1, t + inner(tf.cast(i, tf.float32)) + inner(1.0)),
            [0, tf.zeros([3, 3])],
        )
        with tf.Session() as session:
            found = session.run(total, {w: given})
    np.testing.assert_allclose(found, given[:, 3:] * (2 * 3 + 2 * 3), rtol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_random_bodies(seed: int) -> None:
    """Of operations on what changes and what does not, beside the same in NumPy."""
    random = np.random.RandomState(seed)
    operations = [
        (tf.add, np.add),
        (tf.multiply, np.multiply),
        (tf.maximum, np.maximum),
        (lambda a, b: tf.tanh(a) - b, lambda a, b: np.tanh(a) - b),
        (lambda a, b: tf.transpose(a) + b, lambda a, b: a.T + b),
        (lambda a, b: tf.concat([a[1:], b[:1]], 0), lambda a, b: np.r_[a[1:], b[:1]]),
    ]
    chosen = [
        (random.randint(len(operations)), random.randint(99), random.randint(99))
        for _ in range(12)
    ]

    def body(library: int, state: Any, fixed: Any) -> Any:
        values = [state, *fixed]
        for operation, a, b in chosen:
            function: Any = operations[operation][library]
            values.append(function(values[a % len(values)], values[b % len(values)]))
        return values[-1] * 0.25

    given = [weights(3, 3), weights(3, 3) / 3]
    with tf.Graph().as_default():
        x, fixed = tf.constant(weights(3, 3)), tf.placeholder(tf.float32, [2, 3, 3])
        _, last = tf.while_loop(
            lambda i, _: i < STEPS,
            lambda i, s: (i + 1, body(0, s, [fixed[0], fixed[1]])),
            [0, x],
        )
        with tf.Session() as session:
            found = session.run(last, {fixed: given})
    state = weights(3, 3)
    for _ in range(STEPS):
        state = body(1, state, given)
    np.testing.assert_allclose(found, state, rtol=1e-4, atol=1e-4)
