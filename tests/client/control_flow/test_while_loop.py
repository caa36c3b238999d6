"""`tf.while_loop` and the loops made of it: structure, invariants, errors."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized

Pair = namedtuple("Pair", "a b")


def test_names_are_those_of_tensorflows_functional_form() -> None:
    i, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), [0, 1.0])
    assert (i.name, y.name) == ("while/Identity_2:0", "while/Identity_3:0")
    ops = tf.get_default_graph().get_operations()
    assert [op.name for op in ops][:5] == [
        *("Const", "Const_1", "while/maximum_iterations", "while/loop_counter"),
        "while",
    ]
    assert run_initialized([i, y]) == [3, 8.0]


def test_results_have_the_structure_that_the_body_gives() -> None:
    def body(i: tf.Tensor, pair: Any) -> list[Any]:
        return [i + 1, Pair(pair.a * 2.0, {"z": pair.b["z"] + 1})]

    _, pair = tf.while_loop(lambda i, _: i < 3, body, (0, Pair(1.0, {"z": 5})))
    assert run_initialized(pair) == Pair(8.0, {"z": 8})
    single = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    assert isinstance(single, tf.Tensor)
    kept = tf.while_loop(
        lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True
    )
    assert isinstance(kept, list)


@pytest.mark.parametrize("maximum", [0, 2, 100])
def test_maximum_iterations(maximum: int) -> None:
    y = tf.while_loop(
        lambda y: y < 50.0, lambda y: y * 2.0, [1.0], maximum_iterations=maximum
    )
    wanted = 1.0
    for _ in range(maximum):
        wanted = wanted * 2.0 if wanted < 50.0 else wanted
    assert run_initialized(y) == wanted


def test_no_iteration() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(lambda y: y < 0.0, lambda y: y * x, [x])
    assert run_initialized([y, *tf.gradients(y, x)], {x: 3.0}) == [3.0, 1.0]


def test_a_shape_may_vary_within_its_invariant() -> None:
    x = tf.placeholder(tf.float32, [1, 2])
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    assert y.shape.as_list() == [None, 2]
    value, gradient = run_initialized([y, tf.gradients(y, x)[0]], {x: [[1, 2]]})
    assert value.shape == (8, 2)
    assert gradient.tolist() == [[8, 8]]


def test_back_prop_false_stops_the_gradient() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(lambda y: y < 9.0, lambda y: y * x, [x], back_prop=False)
    assert tf.gradients(y, x) == [None]
    assert run_initialized(tf.gradients(y + x, x)[0], {x: 3.0}) == 1.0


def test_assignments_in_the_body() -> None:
    reference = tf.get_variable("v", initializer=1.0, use_resource=False)
    resource = tf.get_variable("w", initializer=1.0, use_resource=True)

    def body(i: tf.Tensor) -> tf.Tensor:
        steps = [reference.assign_add(2.0), resource.assign_add(1.0)]
        with tf.control_dependencies(steps):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(loop)
        assert sess.run([reference, resource]) == [9.0, 5.0]


def test_the_gradient_inside_a_body() -> None:
    x = tf.placeholder(tf.float32, [])

    def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, tf.gradients(y * y * x, y)[0]  # 2 y x

    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    value, slope = run_initialized([y, tf.gradients(y, x)[0]], {x: 1.5})
    assert value == 8 * 1.5**4
    assert slope == 32 * 1.5**3


def test_the_gradient_inside_a_body_by_an_outer_tensor() -> None:
    x = tf.placeholder(tf.float32, [])
    square = x * x
    _, y = tf.while_loop(
        lambda i, _: i < 2,
        lambda i, y: (i + 1, tf.gradients(square * y, x)[0]),
        [0, x],
    )
    assert run_initialized(y, {x: 3.0}) == 2 * 3.0 * (2 * 3.0 * 3.0)


def test_second_and_third_order() -> None:
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, y * x), [0, 1.0])
    for wanted in (4 * 2.0**3, 12 * 2.0**2, 24 * 2.0):
        y = tf.gradients(y, x)[0]
        assert run_initialized(y, {x: 2.0}) == wanted


def test_deeply_nested_control_flow_matches_finite_differences() -> None:
    x = tf.placeholder(tf.float64, [])
    w = tf.get_variable("w", initializer=np.float64(1.1), use_resource=True)

    def inner(y: tf.Tensor) -> tf.Tensor:
        def step(j: tf.Tensor, z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            chosen = tf.cond(z > 1.0, lambda: z * x, lambda: tf.exp(z))
            return j + 1, tf.sin(z) * w + chosen

        return tf.while_loop(lambda j, _: j < 2, step, [0, y])[1]

    def body(i: tf.Tensor, y: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        even = tf.equal(i % 2, 0)
        return i + 1, tf.cond(even, lambda: inner(y), lambda: y * w + x)

    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    first = tf.gradients(y, [x, w])
    (second,) = tf.gradients(first[0], x)
    epsilon = 1e-5
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())

        def at(fetch: Any, value: float) -> float:
            return float(sess.run(fetch, {x: value}))

        slope = (at(y, 0.7 + epsilon) - at(y, 0.7 - epsilon)) / (2 * epsilon)
        assert at(first[0], 0.7) == pytest.approx(slope, rel=1e-6)
        bend = (at(first[0], 0.7 + epsilon) - at(first[0], 0.7 - epsilon)) / (
            2 * epsilon
        )
        assert at(second, 0.7) == pytest.approx(bend, rel=1e-5)
        w.load(1.1 + epsilon, sess)
        above = at(y, 0.7)
        w.load(1.1 - epsilon, sess)
        below = at(y, 0.7)
        w.load(1.1, sess)
        by_w = (above - below) / (2 * epsilon)
        assert at(first[1], 0.7) == pytest.approx(by_w, rel=1e-6)


def _two(i: Any, j: Any) -> Any:
    return i < 2


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: tf.while_loop(1, lambda i: i, [0]), TypeError, "cond must be callable"),
    (lambda: tf.while_loop(lambda i: i, 1, [0]), TypeError, "body must be callable"),
    (lambda: tf.while_loop(lambda: 1, lambda: 1, []), ValueError, "No loop variables"),
    (
        lambda: tf.while_loop(_two, _two, [0, 1], parallel_iterations=0),
        TypeError,
        "positive integer",
    ),
    (
        lambda: tf.while_loop(lambda i: i < 2, lambda i: tf.cast(i, tf.float32), [0]),
        TypeError,
        "has type tf.float32 after 1 iteration",
    ),
    (
        lambda: tf.while_loop(
            lambda i: i[0] < 2, lambda i: tf.concat([i, i], 0), [tf.zeros([2])]
        ),
        ValueError,
        r"enters the loop with shape \(2,\), but has shape \(4,\)",
    ),
    (
        lambda: tf.while_loop(_two, lambda i, j: (i,), [0, 1]),
        ValueError,
        "same number of elements",
    ),
    (
        lambda: tf.while_loop(_two, lambda i, j: (i, (j, j)), [0, 1]),
        ValueError,
        "nested structure",
    ),
    (
        lambda: tf.while_loop(
            lambda i: i < 2,
            lambda i: i + 1,
            [0],
            shape_invariants=[tf.TensorShape([3])],
        ),
        ValueError,
        "is not compatible with the initial shape",
    ),
    (
        lambda: tf.while_loop(
            lambda i: i < 2, lambda i: i + 1, [0], maximum_iterations=[1, 2]
        ),
        ValueError,
        "maximum_iterations must be a scalar",
    ),
    (lambda: tf.while_loop(lambda i: i, lambda i: i, [0]), TypeError, "bool"),
]


@pytest.mark.parametrize(("make", "error", "text"), ERRORS)
def test_errors(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


# --- loops over elements -----------------------------------------------------------


def test_map_fn_with_structures() -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.placeholder(tf.float32, [3, 2])
    total, doubled = tf.map_fn(
        lambda pair: (pair[0] + tf.reduce_sum(pair[1]), tf.cast(pair[0], tf.int32)),
        (x, y),
        dtype=(tf.float32, tf.int32),
    )
    assert total.shape.as_list() == [3]
    values = run_initialized([total, doubled], {x: [1, 2, 3], y: np.ones([3, 2])})
    assert [v.tolist() for v in values] == [[3, 4, 5], [1, 2, 3]]


def test_folds_and_scan() -> None:
    x = tf.placeholder(tf.float32, [None])
    feeds = {x: [1.0, 2.0, 3.0]}
    left = tf.foldl(lambda a, e: a - e, x)
    right = tf.foldr(lambda a, e: a - e, x, initializer=10.0)
    sums = tf.scan(lambda a, e: a + e, x)
    backward = tf.scan(lambda a, e: a * e, x, initializer=1.0, reverse=True)
    assert run_initialized([left, right], feeds) == [-4.0, 4.0]
    assert run_initialized(sums, feeds).tolist() == [1, 3, 6]
    assert run_initialized(backward, feeds).tolist() == [6, 6, 3]
    assert run_initialized(tf.gradients(sums, x)[0], feeds).tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: tf.map_fn(1, tf.zeros([3])), TypeError, "fn must be callable"),
        (lambda: tf.map_fn(abs, tf.zeros([])), ValueError, "not a scalar"),
        (lambda: tf.map_fn(lambda x: (x, x), tf.zeros([3])), ValueError, "nested"),
        (lambda: tf.foldl(1, tf.zeros([3])), TypeError, "fn must be callable"),
        (lambda: tf.scan(lambda a, x: (a, x), tf.zeros([3])), ValueError, "nested"),
    ],
)
def test_element_loop_errors(
    make: Callable[[], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("maximum", "iterations"),
    [(2, 2), (np.int64(2), 2), (2.5, 3), (-1.5, 0), (np.uint8(9), 4)],
)
def test_limits_of_any_dtype(maximum: Any, iterations: int) -> None:
    x = tf.constant([1.0, 2.0])
    results = tf.while_loop(
        lambda i, _: i < 4,
        lambda i, a: [i + 1, a * x],
        [0, x],
        maximum_iterations=maximum,
    )
    (gradient,) = tf.gradients(results[1], x)
    with tf.Session() as sess:
        count, value, slope = sess.run([*results, gradient])
    assert count == iterations
    np.testing.assert_allclose(value, [1.0, 2.0 ** (iterations + 1)])
    power = iterations + 1
    np.testing.assert_allclose(slope, [power, power * 2.0**iterations])


@pytest.mark.parametrize("maximum", [[3], "a", True, tf.TensorShape])
def test_limits_that_are_refused(maximum: Any) -> None:
    if maximum is tf.TensorShape:
        maximum = tf.placeholder(tf.int32)  # of any rank
    with pytest.raises((TypeError, ValueError)):
        tf.while_loop(lambda i: i < 4, lambda i: i + 1, [0], maximum_iterations=maximum)


def test_what_bodies_return_in_loops_with_a_limit() -> None:
    """TensorFlow then loops over (counter, loop_vars), and compares the types."""
    x = tf.constant(1.0)

    def loop(body: Any, loop_vars: Any) -> Any:
        forever = tf.constant(True)
        return tf.while_loop(lambda *_: forever, body, loop_vars, maximum_iterations=3)

    assert isinstance(loop(lambda a, b: [a, b], [x, x]), list)
    assert list(loop(lambda a: a, [{"a": x}])) == ["a"]
    for body, loop_vars, error in (
        (lambda a, b: (a, b), [x, x], TypeError),
        (lambda a: [a], [x], ValueError),
    ):
        with pytest.raises(error):
            loop(body, loop_vars)


def _leaked(part: str) -> Any:
    """A tensor of the test or the body of a finished loop."""
    found = []

    def step(i: Any) -> Any:
        found.append(i * 2)
        return i + 1 if part == "body" else found[-1] < 6

    loop = {"cond": lambda i: i < 3, "body": lambda i: i + 1, part: step}
    tf.while_loop(loop["cond"], loop["body"], [tf.constant(0)])
    return found[0]


@pytest.mark.parametrize("part", ["cond", "body"])
@pytest.mark.parametrize(
    ("use", "name"),
    [
        (lambda t: t + 1, "add"),
        (lambda t: tf.identity(t, "use"), "use"),
        (lambda t: tf.stack([t, t]), "stack_1"),
        (lambda t: tf.cast(t, tf.float32), "Cast"),
        (
            lambda t: tf.FIFOQueue(3, [tf.int32], name="q").enqueue(t),
            "q_enqueue",
        ),
    ],
)
def test_what_a_loop_does_not_return_is_no_input(
    part: str, use: Callable[[Any], Any], name: str
) -> None:
    inside = _leaked(part)
    with pytest.raises(
        ValueError,
        match=f"Cannot use 'while/mul' as input to '{name}' because 'while/mul' is in "
        "a while loop",
    ):
        use(inside)
    # A scope may be given it all the same, and is one of the graph around the loop.
    with tf.name_scope("scope", values=[inside]):
        assert tf.constant(1).op.name == "scope/Const"


def test_what_another_loop_does_not_return_is_no_input() -> None:
    inside = _leaked("body")
    with pytest.raises(ValueError, match="not accessible from the body"):
        tf.while_loop(lambda i: i < 3, lambda i: i + inside, [tf.constant(0)])


def test_a_full_scope_names_variables_outside_the_loop() -> None:
    names = []

    def body(i: tf.Tensor) -> tf.Tensor:
        scopes = [tf.name_scope("full/"), tf.name_scope("own")]
        with tf.name_scope("own") as own:
            pass
        for scope in [*scopes, tf.name_scope(own)]:
            with scope:
                names.append(tf.Variable(lambda: 1.0, name="v").name)
        return i + 1

    with tf.name_scope("head"):
        tf.while_loop(lambda i: i < 2, body, [0])
    assert names[:3] == ["full/v:0", "head/while/own_1/v:0", "head/while/own/v:0"]


def test_a_table_of_a_body_is_filled_before_the_loop() -> None:
    def look_up(x: tf.Tensor) -> tf.Tensor:
        keys, values = np.array([1, 2, 3]), np.array([5, 10, 15])
        initializer = tf.lookup.KeyValueTensorInitializer(keys, values)
        return tf.lookup.StaticHashTable(initializer, -1).lookup(x)

    found = tf.map_fn(look_up, np.array([2, 4, 1]))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(found).tolist() == [10, -1, 5]
