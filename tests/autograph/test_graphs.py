"""Converted functions give in a graph what Python gives."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tensorloom as tf
from tests.autograph import graph_functions

FUNCTIONS = [
    function
    for name, function in inspect.getmembers(graph_functions, inspect.isfunction)
    if name != "helper"
]
ARGUMENTS = [-9, 0, 1, 4, 12, 27]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_tensors_as_numbers(function: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, [])
        results = tf.autograph.to_graph(function)(x)
        for value in ARGUMENTS:
            assert _plain(sess.run(results, {x: value})) == function(value)


def _plain(value: Any) -> Any:
    return tuple(map(int, value)) if isinstance(value, tuple) else int(value)


def _tensors(*values: Any) -> list[Any]:
    return [tf.constant(value) for value in values]


def test_rows_of_a_tensor() -> None:
    def running(xs: Any, limit: Any) -> Any:
        largest = 0.0
        total = 0.0
        for x in xs:
            if x > limit:
                break
            total += x
            largest = x if x > largest else largest
        return largest, total

    with tf.Graph().as_default(), tf.Session() as sess:
        xs = tf.placeholder(tf.float32, [None])
        made = tf.autograph.to_graph(running)(xs, tf.constant(5.0))
        assert sess.run(made, {xs: [1.0, 4.0, 2.0, 9.0, 1.0]}) == (4.0, 7.0)
        assert sess.run(made, {xs: []}) == (0.0, 0.0)


def test_ranges_of_tensors() -> None:
    def sums(n: Any, step: Any) -> Any:
        up = 0
        for i in tf.range(n):
            up += i
        down = 0
        for i in tf.range(n, 0, step):
            down += i
        return up, down

    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.autograph.to_graph(sums)(*_tensors(5, -2))) == (10, 9)


def test_datasets() -> None:
    def through(dataset: Any) -> Any:
        total = tf.constant(0, tf.int64)
        until = tf.constant(0, tf.int64)
        for x in dataset:
            total += x
        for x in dataset:
            if until > 5:
                break
            until += x
        for i, (x, y) in enumerate(zip(dataset, dataset)):  # noqa: B905
            total += i * (x - y)
        return total, until

    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf.autograph.to_graph(through)(tf.data.Dataset.range(6))
        assert sess.run(made) == (15, 6)


def test_state_that_only_a_branch_changes() -> None:
    class Model:
        value: Any = None

    def step(model: Model, x: Any) -> Any:
        if x > 0:
            model.value = x * 2
        for _ in tf.range(3):
            model.value = model.value + 1
        return model.value

    with tf.Graph().as_default(), tf.Session() as sess:
        model = Model()
        model.value = tf.constant(10)
        x = tf.placeholder(tf.int32, [])
        made = tf.autograph.to_graph(step)(model, x)
        assert sess.run(made, {x: 1}) == 5
        assert sess.run(made, {x: -1}) == 13
        assert model.value is made


def test_lists() -> None:
    def squares(n: Any) -> Any:
        found: Any = []
        tf.contrib.autograph.set_element_type(found, tf.int32, [])
        for i in tf.range(n):
            found.append(i * i)
        last = found.pop()
        return tf.contrib.autograph.stack(found), last, found[1]

    with tf.Graph().as_default(), tf.Session() as sess:
        convert = tf.autograph.to_graph(
            squares,
            experimental_optional_features=tf.autograph.experimental.Feature.ALL,
        )
        stacked, last, second = sess.run(convert(tf.constant(4)))
        assert (stacked.tolist(), last, second) == ([0, 1, 4], 9, 1)


def test_checks_prints_and_equality(capfd: pytest.CaptureFixture[str]) -> None:
    def checked(x: Any) -> Any:
        assert x > 0, "not positive"
        print("x is", x)
        return float(x) + 0.5, len(tf.zeros([x, 2])), x == 3, 0 < x < 3

    features = tf.autograph.experimental.Feature
    convert = tf.autograph.to_graph(
        checked, experimental_optional_features=features.all_but(features.LISTS)
    )
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.int32, [])
        made = convert(x)
        assert made[0].name.startswith("checked/")
        assert sess.run(made, {x: 2}) == (2.5, 2, False, True)
        assert capfd.readouterr().out == "x is 2\n"
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
            sess.run(made, {x: -1})


def test_effects_happen_in_order_and_once() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=0.0, use_resource=True)

        @tf.function
        def step(x: Any) -> Any:
            if x > 0:
                v.assign_add(1.0)
            for _ in tf.range(3):
                v.assign(v * 2.0)
            while v < 100.0:
                v.assign_add(x)

        sess.run(v.initializer)
        sess.run(step(tf.constant(50.0)))
        assert sess.run(v) == 108.0
        sess.run(step(tf.constant(-1.0)))
        assert sess.run(v) == 864.0


def test_datasets_and_layers_convert_what_they_are_given() -> None:
    class Clipped(tf.layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            if tf.reduce_sum(inputs) > 3.0:
                return inputs * 0.0
            return inputs

    def digits(x: Any) -> Any:
        count = tf.constant(0, tf.int64)
        while x > 0:
            x //= 10
            count += 1
        return count

    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.from_tensor_slices([7, 1234, 0, 55])
        dataset = dataset.map(digits).filter(lambda n: n > 0 and n < 3)
        total = dataset.reduce(
            tf.constant(0, tf.int64), lambda a, n: a + n if n > 1 else a + 10
        )
        assert sess.run(total) == 12
        small, large = Clipped()(tf.ones([2])), Clipped()(tf.ones([4]))
        assert sess.run(small).tolist() == [1.0, 1.0]
        assert not sess.run(large).any()


def test_iterators_in_functions() -> None:
    @tf.function
    def sums() -> Any:
        iterator = iter(tf.data.Dataset.range(5))
        first = next(iterator)
        until = tf.constant(0, tf.int64)
        for x in iterator:
            if x > 2:
                break
            until += x
        return first, until, next(iterator)

    with tf.Graph().as_default(), tf.Session() as sess:
        made = sums()
        assert [sess.run(made), sess.run(made)] == [(0, 3, 4)] * 2
        with pytest.raises(RuntimeError, match="only supported inside of"):
            iter(tf.data.Dataset.range(5))


def test_replicas_convert_where_their_function_is_converted() -> None:
    def step(x: Any) -> Any:
        if x > 2:
            return x * 10
        return x

    with tf.Graph().as_default(), tf.Session() as sess:
        strategy = tf.distribute.OneDeviceStrategy("/cpu:0")

        @tf.function
        def train(x: Any) -> Any:
            return strategy.experimental_run_v2(step, args=(x,))

        made = train(tf.constant(3)), train(tf.constant(1))
        assert sess.run(made) == (30, 1)
        with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
            strategy.experimental_run_v2(step, args=(tf.constant(3),))
