"""Sums that a loop makes are added up in place, and are the same sums."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.torch.linalg.product_sum import LEAST_ROWS, ProductSum
from tensorloom.worker.compile.piece import Piece


@pytest.fixture
def sources(monkeypatch) -> list[str]:
    made: list[str] = []
    start = Piece.__init__

    def note(self, *args, **kwargs) -> None:
        start(self, *args, **kwargs)
        made.append(self.source)

    monkeypatch.setattr(Piece, "__init__", note)
    return made


def loop_of(source: str) -> list[str]:
    """The lines of a loop."""
    lines = source.partition("while True:\n")[2].splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("        "))
    return [line.strip() for line in lines[:end]]


def adds_in_place(source: str) -> bool:
    """Whether a line of the loop changes something and gives nothing."""
    return any(
        line.startswith(("np.add", "v", "s")) and "=" not in line
        for line in loop_of(source)
    )


def parts(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).randn(*shape).astype(np.float32)


def product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return tf.matmul(a, b, transpose_a=True)


def part_itself(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return a + b


# rows, columns of a and b; what is added; its reference
CASES = {
    "product": ((3, 100), (3, 90), product, lambda a, b: a.T @ b),
    "small product": ((3, 4), (3, 5), product, lambda a, b: a.T @ b),
    "tensor": ((100, 90), (100, 90), part_itself, np.add),
    "array": ((4, 5), (4, 5), part_itself, np.add),
    "product of other rows": (
        (90, 200),
        (200, 100),
        lambda a, b: tf.matmul(a, b),
        np.matmul,
    ),
}
ADDITIONS = {
    "add": lambda total, part: total + part,
    "added to": lambda total, part: part + total,
    "add_n": lambda total, part: tf.add_n([total, part]),
}


@pytest.mark.parametrize("addition", ADDITIONS)
@pytest.mark.parametrize("case", CASES)
def test_sum(case: str, addition: str, sources) -> None:
    left, right, part, reference = CASES[case]
    a, b = parts(5, *left), parts(5, *right)
    start = parts(*reference(a[0], b[0]).shape)
    given = start.copy()
    with tf.Graph().as_default():
        count = tf.placeholder(tf.int32, [])
        fed = tf.placeholder(tf.float32, start.shape)
        x, y = tf.constant(a), tf.constant(b)

        def body(i, total):
            return i + 1, ADDITIONS[addition](total, part(x[i], y[i]))

        loops = [
            tf.while_loop(lambda i, total: i < count, body, [0, first])[1]
            for first in (fed, tf.constant(start))
        ]
        with tf.Session() as session:
            # Twice: what a sum begins with stays as it is.
            for n in (3, 0, 5, 5):
                found = session.run(loops, {count: n, fed: given})
                expected = start + sum(reference(a[i], b[i]) for i in range(n))
                for value in found:
                    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)
                np.testing.assert_array_equal(given, start)
    assert adds_in_place(sources[-1])


def test_batch_of_unknown_size() -> None:
    a, b = parts(4, 7, 60), parts(4, 7, 50)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4, None, 60])
        y = tf.placeholder(tf.float32, [4, None, 50])
        _, total = tf.while_loop(
            lambda i, total: i < 4,
            lambda i, total: (i + 1, total + product(x[i], y[i])),
            [0, tf.zeros([60, 50])],
        )
        with tf.Session() as session:
            found = session.run(total, {x: a, y: b})
            np.testing.assert_allclose(
                found, np.einsum("nij,nik->jk", a, b), rtol=1e-4, atol=1e-4
            )
            with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible"):
                session.run(total, {x: a, y: b[:, :5]})


def test_wide_factors_are_not_kept_beyond_the_size_of_the_sum() -> None:
    for sizes, rows in (
        ((4, 5), LEAST_ROWS),
        ((100, 90), LEAST_ROWS),
        ((300_000, 2), 3),
        ((2, 0), LEAST_ROWS),
    ):
        total = np.zeros(sizes, np.float32)
        one = ProductSum(total, is_host=True, known=True)
        a, b = (np.ones((1, size), np.float32) for size in sizes)
        for _ in range(rows):
            assert not total.any()
            one.add(a, b)
        assert (total == rows).all()


def test_gradient_of_weights(sources) -> None:
    """The weights of a recurrent network, beside the same written out."""
    inputs, weights = parts(6, 8, 40), parts(80, 40) / 10
    with tf.Graph().as_default():
        x, w = tf.constant(inputs), tf.constant(weights)

        def cell(i, state):
            return i + 1, tf.tanh(tf.matmul(tf.concat([x[i], state], 1), w))

        _, last = tf.while_loop(lambda i, s: i < 6, cell, [0, tf.zeros([8, 40])])
        state = tf.zeros([8, 40])
        for i in range(6):
            _, state = cell(i, state)
        with tf.Session() as session:
            in_loop = session.run(tf.gradients(last, w))[0]
            assert adds_in_place(sources[-1].partition("while True:\n")[2])
            written_out = session.run(tf.gradients(state, w))[0]
    np.testing.assert_allclose(in_loop, written_out, rtol=1e-4, atol=1e-5)


def _gradient_of_slices(x: tf.Tensor, w: tf.Tensor) -> list[tf.Tensor]:
    """Of products with slices of the weights, some rows of which are in none."""
    return tf.gradients(tf.tanh(x @ w[:30, :40]) + x[:, :20] @ w[20:40, 10:50], w)


def _gradient_of_pieces(x: tf.Tensor, w: tf.Tensor) -> list[tf.Tensor]:
    first, second = tf.split(w, 2, 1)
    return tf.gradients(tf.reduce_sum(x @ first, 1) * tf.reduce_sum(x @ second, 1), w)


# the rows of the weights; what is added for x [8, 30] and the weights
TAKEN_APART = {
    "slices": (45, _gradient_of_slices),
    "pieces": (30, _gradient_of_pieces),
    "padded twice": (
        30,
        lambda x, w: tf.gradients(tf.square(w[:20][2:10, 3:-3][:, 1:]), w),
    ),
    "every other": (30, lambda x, w: tf.gradients(tf.square(w[::2]), w)),
    "a row": (30, lambda x, w: tf.gradients(tf.square(w[3]) + tf.exp(w[-1]), w)),
    "the same twice": (30, lambda x, w: _gradient_of_pieces(x, w) * 2),
    "rows of products": (
        30,
        lambda x, w: [tf.concat([product(x[:, :10], x @ w), w[10:] * 2.0], 0)],
    ),
}


@pytest.mark.parametrize("columns", [50, 220])
@pytest.mark.parametrize("case", TAKEN_APART)
def test_sums_of_what_was_taken_apart(case: str, columns: int, sources) -> None:
    rows, added = TAKEN_APART[case]
    weights, given = parts(rows, columns) / 9, parts(3, 8, 30)
    with tf.Graph().as_default():
        w, x = tf.constant(weights), tf.placeholder(tf.float32, given.shape)

        def body(i, total):
            return i + 1, tf.add_n([total, *added(x[i], w)])

        _, total = tf.while_loop(lambda i, _: i < 3, body, [0, tf.ones_like(w)])
        written = tf.ones_like(w)
        for i in range(3):
            written = body(i, written)[1]
        with tf.Session() as session:
            found = session.run(total, {x: given})
            assert adds_in_place(sources[-1])
            expected = session.run(written, {x: given})
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("seed", range(6))
def test_random_parts(seed: int) -> None:
    """Parts put together of parts, in random ways, beside the same written out."""
    random = np.random.RandomState(seed)
    x = tf.placeholder(tf.float32, [12, 16])

    def part(rows: int, columns: int, depth: int, random) -> tf.Tensor:
        kind = random.randint(4 if depth else 1)
        if kind == 0:
            scaled = x[:rows, :columns] * float(random.randint(1, 5))
            multiplied = product(x[:, :rows], x[:, 16 - columns :])
            return multiplied if random.randint(2) else scaled
        if kind == 1:
            return tf.add_n([part(rows, columns, depth - 1, random) for _ in range(3)])
        if kind == 2 and columns > 1:
            cut = random.randint(1, columns)
            pieces = [
                part(rows, size, depth - 1, random) for size in (cut, columns - cut)
            ]
            return tf.concat(pieces, 1 - 2 * random.randint(2))
        begin = random.randint(0, rows), random.randint(0, columns)
        end = random.randint(begin[0], rows) + 1, random.randint(begin[1], columns) + 1
        return tf.raw_ops.StridedSliceGrad(
            shape=[rows, columns],
            begin=begin,
            end=end,
            strides=[1, 1],
            dy=part(end[0] - begin[0], end[1] - begin[1], depth - 1, random),
        )

    state = random.get_state()

    def body(i, total):
        random.set_state(state)
        return i + 1, total + part(12, 16, 4, random)

    _, total = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([12, 16])])
    written = 3.0 * body(0, tf.zeros([12, 16]))[1]
    with tf.Session() as session:
        found, expected = session.run([total, written], {x: parts(12, 16)})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_sum_of_sums() -> None:
    a = parts(3, 4, 30, 40)
    with tf.Graph().as_default():
        x = tf.constant(a)

        def inner(i):
            return tf.while_loop(
                lambda j, total: j < 4,
                lambda j, total: (j + 1, total + x[i, j]),
                [0, tf.zeros([30, 40])],
            )[1]

        _, total = tf.while_loop(
            lambda i, total: i < 3,
            lambda i, total: (i + 1, total + inner(i)),
            [0, tf.ones([30, 40])],
        )
        with tf.Session() as session:
            found = session.run(total)
    np.testing.assert_allclose(found, 1 + a.sum((0, 1)), rtol=1e-4, atol=1e-5)


# What a body makes of (i, total, other): not a sum that nobody else sees.
OTHERS = {
    "read by the other": lambda i, t, o: (t + 1.0, o + t),
    "part is the other": lambda i, t, o: (t + o, t * 2.0),
    "added twice": lambda i, t, o: (t + t, o),
    "moved on": lambda i, t, o: (o + 1.0, t + 1.0),
    "result in both": lambda i, t, o: [t + tf.ones([40, 50])] * 2,
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_variables_are_not_changed_in_place(case: str) -> None:
    with tf.Graph().as_default():
        start = [tf.constant(parts(40, 50)), tf.constant(2 * parts(40, 50))]
        loop = tf.while_loop(
            lambda i, t, o: i < 3,
            lambda i, t, o: (i + 1, *OTHERS[case](i, t, o)),
            [0, *start],
        )
        state = start
        for i in range(3):
            state = list(OTHERS[case](i, *state))
        with tf.Session() as session:
            values = session.run([loop[1:], state])
    np.testing.assert_array_equal(values[0], values[1])


def test_a_sum_that_ends_the_loop() -> None:
    with tf.Graph().as_default():
        total = tf.while_loop(
            lambda total: tf.reduce_sum(total) < 2000.0,
            lambda total: total + tf.ones([20, 50]),
            [tf.zeros([20, 50])],
        )
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(total), np.full([20, 50], 2.0))


def test_a_product_that_somebody_else_reads() -> None:
    a, b = parts(3, 100), parts(3, 90)
    with tf.Graph().as_default():

        def body(i, total, last):
            part = product(tf.constant(a) * tf.to_float(i), tf.constant(b))
            return i + 1, total + part, part

        zeros = tf.zeros([100, 90])
        loop = tf.while_loop(lambda i, t, p: i < 3, body, [0, zeros, zeros])
        with tf.Session() as session:
            _, total, last = session.run(loop)
    np.testing.assert_allclose(total, 3 * a.T @ b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(last, 2 * a.T @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("columns", [5, 90])
@pytest.mark.parametrize("rows", [0, 3, 200, 600])
def test_products_of_many_rows(rows: int, columns: int) -> None:
    """Some are added before the loop ends: it does not keep all their factors."""
    a, b = parts(7, rows, 100), parts(7, rows, columns)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [7, None, 100])
        y = tf.placeholder(tf.float32, [7, None, columns])
        count = tf.placeholder(tf.int32, [])
        _, total = tf.while_loop(
            lambda i, total: i < count,
            lambda i, total: (i + 1, total + product(x[i], y[i])),
            [0, tf.ones([100, columns])],
        )
        with tf.Session() as session:
            for n in (7, 0, 4):
                found = session.run(total, {x: a, y: b, count: n})
                expected = 1 + np.einsum("nij,nik->jk", a[:n], b[:n])
                np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("columns", [5, 200])
@pytest.mark.parametrize("use_resource", [False, True])
def test_a_factor_that_is_a_variable(columns: int, use_resource: bool) -> None:
    """Each product is of the value that the variable had then."""
    b = parts(3, columns)
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.ones([3, 150], np.float32))
        if use_resource:
            v = tf.get_variable(
                "r", initializer=np.ones([3, 150], np.float32), use_resource=True
            )

        def body(i, total):
            added = total + product(v, tf.constant(b))
            with tf.control_dependencies([added]):
                changed = tf.assign(v, v * 2.0)
            with tf.control_dependencies([changed]):
                return i + 1, added

        zeros = tf.zeros([150, columns])
        _, total = tf.while_loop(
            lambda i, _: i < 4, body, [0, zeros], parallel_iterations=1
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = session.run(total)
    expected = 15 * np.ones([3, 150], np.float32).T @ b
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
