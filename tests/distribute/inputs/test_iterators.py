"""Datasets and input functions whose elements go to replicas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

DEVICES = ["/device:CPU:0", "/device:CPU:1"]
CONFIG = tf.ConfigProto(device_count={"CPU": 2})


@pytest.fixture
def strategy() -> Any:
    return tf.distribute.MirroredStrategy(DEVICES)


def _steps(iterator: Any, count: int) -> list[Any]:
    element = iterator.get_next()
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        return [
            [v.tolist() for v in session.run(list(element.values))]
            for _ in range(count)
        ]


def test_batches_are_divided(strategy: Any) -> None:
    dataset = tf.data.Dataset.range(8).batch(4)
    iterator = strategy.make_dataset_iterator(dataset)
    assert _steps(iterator, 2) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_a_distributed_dataset_makes_iterators(strategy: Any) -> None:
    dataset = strategy.experimental_distribute_dataset(
        tf.data.Dataset.range(4).batch(4)
    )
    iterator = dataset.make_initializable_iterator()
    assert iterator.output_types == tf.int64
    assert _steps(iterator, 1) == [[[0, 1], [2, 3]]]
    with pytest.raises(ValueError, match="make_initializable_iterator"):
        dataset.make_one_shot_iterator()
    with pytest.raises(RuntimeError, match="__iter__"):
        iter(dataset)


def test_an_input_function_makes_batches_of_replicas(strategy: Any) -> None:
    contexts = []

    def input_fn(context: Any) -> Any:
        contexts.append(context)
        return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(2))

    iterator = strategy.make_input_fn_iterator(input_fn)
    assert _steps(iterator, 2) == [[[0], [1]], [[2], [3]]]
    (context,) = contexts
    assert (context.num_input_pipelines, context.input_pipeline_id) == (1, 0)
    assert context.num_replicas_in_sync == 2


def test_an_input_function_may_make_a_function(strategy: Any) -> None:
    iterator = strategy.make_input_fn_iterator(lambda _: lambda: tf.constant([7]))
    assert _steps(iterator, 1) == [[[7], [7]]]


def test_datasets_from_a_function(strategy: Any) -> None:
    dataset = strategy.experimental_distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(2).batch(1)
    )
    assert _steps(dataset.make_initializable_iterator(), 1) == [[[0], [1]]]


@pytest.mark.parametrize("made", [3, None])
def test_what_an_input_function_may_not_make(strategy: Any, made: Any) -> None:
    with pytest.raises(ValueError, match=r"Dataset or a callable"):
        strategy.make_input_fn_iterator(lambda _: made)


def test_elements_that_are_no_batches(strategy: Any) -> None:
    with pytest.raises(ValueError, match="batched"):
        strategy.make_dataset_iterator(tf.data.Dataset.range(4))


def test_the_end_comes_for_all(strategy: Any) -> None:
    iterator = strategy.make_dataset_iterator(tf.data.Dataset.range(2).batch(2))
    with pytest.raises(tf.errors.OutOfRangeError):
        _steps(iterator, 2)


def test_the_last_batch_need_not_be_of_all_replicas(strategy: Any) -> None:
    strategy.extended.experimental_enable_get_next_as_optional = True
    dataset = tf.data.Dataset.range(5).map(lambda x: {"a": x, "b": (x, -x)}).batch(4)
    iterator = strategy.make_dataset_iterator(dataset)
    element = iterator.get_next()
    parts = [element["a"].values, element["b"][1].values]
    assert parts[0][0].shape.as_list() == [None]
    with tf.Session(config=CONFIG) as session:
        session.run(iterator.initialize())
        first, last = (session.run(part) for part in parts)
        assert [v.tolist() for v in first] == [[0, 1], [2, 3]]
        assert [v.tolist() for v in last] == [[-4], []]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(parts)


def test_rows_of_arrays_are_put_into_variables(strategy: Any) -> None:
    rows = np.arange(4, dtype=np.float32)
    with tf.Session(config=CONFIG) as session, strategy.scope():
        dataset = strategy.experimental_make_numpy_dataset(rows, session=session)
        element = dataset.batch(4).make_initializable_iterator()
        following = element.get_next()
        session.run(element.initializer)
        assert session.run(following).tolist() == rows.tolist()


def test_batch_sizes_that_cannot_be_divided() -> None:
    with pytest.raises(ValueError, match="not divisible"):
        tf.distribute.InputContext(num_replicas_in_sync=3).get_per_replica_batch_size(4)


def test_several_steps_in_one_run(strategy: Any) -> None:
    with strategy.scope():
        total = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.SUM)
        iterator = strategy.make_dataset_iterator(
            tf.data.Dataset.range(8).batch(2, True)
        )

        def step(context: Any, elements: Any) -> Any:
            def fn(value: Any) -> Any:
                return total.assign_add(value[0])

            updates = strategy.extended.call_for_each_replica(fn, args=(elements,))
            context.set_last_step_output("last", elements, reduce_op="SUM")
            return strategy.group(updates)

        context = strategy.extended.experimental_run_steps_on_iterator(
            step, iterator, 3, {"last": tf.constant([0], tf.int64)}
        )
    with tf.Session(config=CONFIG) as session:
        session.run([iterator.initialize(), total.initializer])
        session.run(context.run_op)
        assert session.run(list(total.values)) == [15, 15]


def test_layers_in_a_loop_of_steps(strategy: Any) -> None:
    with strategy.scope():
        dataset = tf.data.Dataset.from_tensors([[1.0]]).repeat()
        iterator = strategy.make_input_fn_iterator(lambda _: dataset)
        optimizer = tf.train.GradientDescentOptimizer(0.125)

        def fn(x: Any) -> Any:
            y = tf.layers.dense(
                x, 1, use_bias=False, kernel_initializer=tf.zeros_initializer()
            )
            return optimizer.minimize(tf.reduce_sum(tf.square(y - 1.0)))

        def step(_: Any, elements: Any) -> Any:
            return strategy.group(
                strategy.extended.call_for_each_replica(fn, args=(elements,))
            )

        context = strategy.extended.experimental_run_steps_on_iterator(
            step, iterator, 2
        )
        (kernel,) = tf.trainable_variables()
    with tf.Session(config=CONFIG) as session:
        session.run([iterator.initialize(), tf.global_variables_initializer()])
        session.run(context.run_op)
        # Each step halves the distance.
        np.testing.assert_allclose(session.run(kernel.values[1]), [[0.75]])


@pytest.mark.parametrize("fused", [False, True])
def test_an_empty_batch_leaves_moving_averages(fused: bool) -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    strategy.extended.experimental_enable_get_next_as_optional = True
    images = tf.placeholder(tf.float32, [None, 2, 2, 3])
    with strategy.scope():
        layer = tf.layers.BatchNormalization(fused=fused)
        strategy.experimental_run_v2(lambda: layer(images, training=True))
        init = tf.global_variables_initializer()
    with tf.Session() as session:
        session.run(init)
        session.run(layer.updates, {images: np.zeros([0, 2, 2, 3])})
        mean, variance = session.run([layer.moving_mean, layer.moving_variance])
    assert mean.tolist() == [0.0] * 3
    assert variance.tolist() == [1.0] * 3
