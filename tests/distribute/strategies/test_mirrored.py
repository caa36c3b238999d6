"""MirroredStrategy: what replicas build, and how it comes together."""

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


def _session() -> Any:
    session = tf.Session(config=CONFIG)
    session.run(tf.global_variables_initializer())
    return session


def test_each_replica_is_on_its_device_and_in_its_scope(strategy: Any) -> None:
    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        return tf.identity(context.replica_id_in_sync_group, name="id")

    result = strategy.experimental_run_v2(fn)
    names = [t.name for t in strategy.experimental_local_results(result)]
    assert names == ["id:0", "replica_1/id:0"]
    assert [t.device[-5:] for t in result.values] == ["CPU:0", "CPU:1"]
    with tf.Session(config=CONFIG) as session:
        assert session.run(list(result.values)) == [0, 1]


def test_a_variable_has_a_part_on_each_device(strategy: Any) -> None:
    with strategy.scope():
        v = tf.get_variable("v", initializer=3.0)
    assert [p.name for p in v.values] == ["v:0", "v/replica_1:0"]
    assert [p.device[-5:] for p in v.values] == ["CPU:0", "CPU:1"]
    assert tf.global_variables() == [v]
    assert tf.trainable_variables() == [v]
    with _session() as session:
        assert session.run(list(v.values)) == [3.0, 3.0]
        assert session.run(v) == 3.0


def test_replicas_share_the_variables_that_layers_make(strategy: Any) -> None:
    def fn() -> Any:
        return tf.layers.dense(tf.ones([1, 2]), 3)

    with strategy.scope():
        strategy.experimental_run_v2(fn)
    assert [v.name for v in tf.global_variables()] == ["dense/kernel:0", "dense/bias:0"]


def test_variables_that_only_one_replica_makes_are_refused(strategy: Any) -> None:
    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.get_static_value(context.replica_id_in_sync_group)
        return tf.Variable(1.0, name="a" if number == 0 else "b")

    with pytest.raises(RuntimeError, match="mismatching name"):
        strategy.experimental_run_v2(fn)


def test_a_merge_call_sees_all_replicas_once(strategy: Any) -> None:
    calls = []

    def merge(distribution: Any, value: Any) -> Any:
        assert tf.distribute.in_cross_replica_context()
        calls.append(distribution.experimental_local_results(value))
        return distribution.reduce("SUM", value)

    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        with tf.name_scope("outer"):
            number = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
            return context.merge_call(merge, args=(number,))

    result = strategy.experimental_run_v2(fn)
    assert len(calls) == 1
    assert len(calls[0]) == 2
    assert result.name.startswith("outer/")
    with tf.Session(config=CONFIG) as session:
        assert session.run(result) == 3.0


def test_different_numbers_of_merge_calls_are_refused(strategy: Any) -> None:
    def fn() -> None:
        context = tf.distribute.get_replica_context()
        if tf.get_static_value(context.replica_id_in_sync_group) == 0:
            context.merge_call(lambda _: None)

    with pytest.raises(RuntimeError, match="different number of"):
        strategy.experimental_run_v2(fn)


def test_an_error_in_a_replica_is_the_callers(strategy: Any) -> None:
    def fn() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        strategy.experimental_run_v2(fn)
    assert not tf.distribute.has_strategy()


def test_a_merge_call_in_a_branch_is_refused(strategy: Any) -> None:
    def fn() -> Any:
        context = tf.distribute.get_replica_context()

        def branch() -> Any:
            return context.merge_call(lambda _: tf.constant(1))

        return tf.cond(tf.placeholder(tf.bool, []), branch, branch)

    with pytest.raises(RuntimeError, match="while defining a new graph"):
        strategy.experimental_run_v2(fn)


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("SUM", 3.0), ("MEAN", 1.5), ("ONLY_FIRST_REPLICA", 1.0)],
)
def test_what_replicas_assign_is_aggregated(
    strategy: Any, aggregation: str, expected: float
) -> None:
    with strategy.scope():
        v = tf.Variable(0.0, aggregation=tf.VariableAggregation[aggregation])

    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return v.assign(number + 1.0)

    update = strategy.experimental_run_v2(fn)
    with _session() as session:
        session.run(list(strategy.experimental_local_results(update)))
        assert session.run(list(v.values)) == [expected, expected]


def test_replicas_do_not_assign_without_an_aggregation(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(0.0)
    with pytest.raises(ValueError, match="You must specify an aggregation method"):
        strategy.experimental_run_v2(lambda: v.assign(1.0))


def test_for_all_replicas_an_assignment_changes_all_parts(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(1.0)
        update = v.assign_add(2.0)
    with _session() as session:
        session.run(update)
        assert session.run(list(v.values)) == [3.0, 3.0]


def test_a_sync_on_read_variable_is_of_each_replica(strategy: Any) -> None:
    with strategy.scope():
        v = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        read = strategy.extended.read_var(v)

    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return v.assign_add(number)

    update = strategy.group(strategy.experimental_run_v2(fn))
    with strategy.scope(), pytest.raises(ValueError, match="does not support"):
        v.assign_add(1.0)
    with strategy.scope():
        spread = v.assign(5.0)
    with _session() as session:
        session.run(update)
        assert session.run(list(v.values)) == [1.0, 2.0]
        assert session.run(read) == 3.0
        session.run(spread)
        assert session.run(list(v.values)) == [2.5, 2.5]


def test_optimizers_apply_the_sum_of_the_replicas_gradients(strategy: Any) -> None:
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        optimizer = tf.train.MomentumOptimizer(0.1, 0.5)

        def fn() -> Any:
            context = tf.distribute.get_replica_context()
            number = tf.cast(context.replica_id_in_sync_group, tf.float32)
            return optimizer.minimize(v * (number + 1.0), var_list=[v])

        step = strategy.group(strategy.experimental_run_v2(fn))
        slot = optimizer.get_slot(v, "momentum")
    assert [p.name for p in slot.values] == ["v/Momentum:0", "v/Momentum/replica_1:0"]
    with _session() as session:
        session.run(step)
        np.testing.assert_allclose(session.run(list(v.values)), [0.7, 0.7], rtol=1e-6)
        assert session.run(list(slot.values)) == [3.0, 3.0]


def test_gradients_are_applied_in_replicas_alone(strategy: Any) -> None:
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        with pytest.raises(RuntimeError, match="_distributed_apply"):
            tf.train.GradientDescentOptimizer(0.1).apply_gradients([(1.0, v)])


def test_rows_that_replicas_look_up_are_updated(strategy: Any) -> None:
    with strategy.scope():
        table = tf.get_variable("t", [3, 1], initializer=tf.zeros_initializer())
        optimizer = tf.train.GradientDescentOptimizer(1.0)

        def fn() -> Any:
            context = tf.distribute.get_replica_context()
            rows = tf.nn.embedding_lookup(table, [context.replica_id_in_sync_group])
            return optimizer.minimize(tf.reduce_sum(rows))

        step = strategy.group(strategy.experimental_run_v2(fn))
    with _session() as session:
        session.run(step)
        for part in session.run(list(table.values)):
            np.testing.assert_allclose(part, [[-1.0], [-1.0], [0.0]])


def test_the_first_replica_makes_the_summaries(strategy: Any) -> None:
    strategy.experimental_run_v2(lambda: tf.summary.scalar("s", 1.0))
    summaries = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert [s.name for s in summaries] == ["s:0"]


def test_all_reduce_is_differentiable(strategy: Any) -> None:
    x = tf.constant(2.0)

    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, x * 3.0)
        return tf.gradients(total, x)[0], total

    gradient, total = strategy.experimental_run_v2(fn)
    with tf.Session(config=CONFIG) as session:
        assert session.run([gradient.values[1], total.values[1]]) == [6.0, 12.0]


@pytest.mark.parametrize(
    ("op", "axis", "expected"),
    [("SUM", None, [5.0, 7.0]), ("MEAN", None, [2.5, 3.5]), ("SUM", 0, 12.0)],
)
def test_reduce(strategy: Any, op: str, axis: int | None, expected: Any) -> None:
    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        number = tf.cast(context.replica_id_in_sync_group, tf.float32)
        return tf.constant([1.0, 2.0]) + 3.0 * number

    value = strategy.experimental_run_v2(fn)
    with strategy.scope():
        reduced = strategy.reduce(op, value, axis=axis)
    with tf.Session(config=CONFIG) as session:
        np.testing.assert_allclose(session.run(reduced), expected)


def test_a_mean_along_an_axis_is_over_all_elements(strategy: Any) -> None:
    sizes = {0: 1, 1: 3}

    def fn() -> Any:
        context = tf.distribute.get_replica_context()
        number = int(tf.get_static_value(context.replica_id_in_sync_group))
        return tf.fill([sizes[number]], float(number))

    value = strategy.experimental_run_v2(fn)
    with strategy.scope():
        mean = strategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=0)
        with pytest.raises(TypeError, match="Expected `axis` to be an integer"):
            strategy.reduce("MEAN", value, axis="rows")
    with tf.Session(config=CONFIG) as session:
        assert session.run(mean) == 0.75


def test_saved_variables_are_restored_on_all_devices(
    strategy: Any, tmp_path: Any
) -> None:
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        summed = tf.get_variable(
            "s",
            initializer=2.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        saver = tf.train.Saver()
        change = [v.assign(7.0), summed.assign(9.0)]
    with _session() as session:
        path = saver.save(session, str(tmp_path / "model"))
        session.run(change)
        saver.restore(session, path)
        assert session.run(list(v.values)) == [1.0, 1.0]
        assert session.run(list(summed.values)) == [2.0, 2.0]
    assert tf.train.list_variables(path) == [("s", []), ("v", [])]
    with tf.Graph().as_default():  # and in one graph without a strategy
        plain = tf.get_variable("v", initializer=0.0)
        with tf.Session() as session:
            tf.train.Saver([plain]).restore(session, path)
            assert session.run(plain) == 1.0


def test_variables_start_with_values_of_a_checkpoint(
    strategy: Any, tmp_path: Any
) -> None:
    with tf.Graph().as_default():
        tf.get_variable("a", initializer=4.0)
        with _session() as session:
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
    with strategy.scope():
        v = tf.get_variable("v", initializer=1.0)
        w = tf.get_variable("w", initializer=1.0)
        tf.train.init_from_checkpoint(path, {"a": v})
    strategy.experimental_run_v2(
        lambda: tf.train.init_from_checkpoint(path, {"a": "".join(["w"])})
    )
    with _session() as session:
        assert session.run([*v.values, *w.values]) == [4.0] * 4


@pytest.mark.parametrize(
    ("devices", "error"),
    [
        (["/cpu:0", "/device:CPU:0"], AssertionError),
        (["/job:worker/task:0/device:CPU:0", "/device:CPU:0"], ValueError),
        (["/job:worker/task:0", "/job:worker/task:1"], ValueError),
    ],
)
def test_devices_that_do_not_fit(devices: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.distribute.MirroredStrategy(devices)


def test_losses_are_averaged_over_the_batch_of_all_replicas(strategy: Any) -> None:
    losses = tf.constant([2.0, 4.0, 6.0])

    def fn() -> Any:
        return [
            tf.nn.compute_average_loss(losses),
            tf.nn.compute_average_loss(losses, sample_weight=2.0),
            tf.nn.compute_average_loss(losses, global_batch_size=10),
            tf.nn.scale_regularization_loss(losses),
        ]

    with strategy.scope():
        for function in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
            with pytest.raises(RuntimeError, match="in cross replica context"):
                function(losses)
        each = strategy.experimental_run_v2(fn)
        found = [strategy.reduce("SUM", value, axis=None) for value in each]
    with tf.Session(config=CONFIG) as session:
        assert session.run(found) == pytest.approx([4.0, 8.0, 2.4, 12.0])


@pytest.mark.parametrize(
    ("shape", "weights", "average"),
    [
        ([2, 2], [1.0, 3.0], 4.0),  # a weight for each row
        ([2], [[1.0], [3.0]], 2.0),
        ([2, 2], 2.0, 4.0),
    ],
)
def test_weights_of_an_averaged_loss(shape: Any, weights: Any, average: float) -> None:
    average_loss = tf.nn.compute_average_loss(tf.ones(shape), weights)
    with tf.Session() as session:
        assert session.run(average_loss) == average


def test_averaged_losses_have_a_batch() -> None:
    with pytest.raises(ValueError, match="with at least rank 1"):
        tf.nn.compute_average_loss(tf.constant(2.0))
    with pytest.raises(ValueError, match="weights can not be broadcast"):
        tf.nn.compute_average_loss([1.0, 2.0, 3.0], sample_weight=[0.2, 0.8])
    fed = tf.placeholder(tf.float32)
    average = tf.nn.compute_average_loss(fed)
    with tf.Session() as session:
        assert session.run(average, {fed: [1.0, 2.0]}) == 1.5
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least rank 1"):
            session.run(average, {fed: 1.0})
