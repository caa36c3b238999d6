"""What is so outside of strategies, and how scopes open and close."""

from __future__ import annotations

import copy

import pytest

import tensorloom as tf


def test_outside_there_is_one_replica() -> None:
    strategy = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy()
    assert not tf.distribute.in_cross_replica_context()
    assert strategy.num_replicas_in_sync == 1
    context = tf.distribute.get_replica_context()
    assert context.strategy is strategy
    assert context.replica_id_in_sync_group == 0
    assert context.merge_call(lambda s, x: (s, x), args=(3,)) == (strategy, 3)
    assert not tf.distribute.in_cross_replica_context()


def test_the_default_strategy_runs_functions_as_they_are() -> None:
    strategy = tf.distribute.get_strategy()
    assert strategy.experimental_run_v2(lambda x: x + 1, args=(1,)) == 2
    assert strategy.reduce(tf.distribute.ReduceOp.SUM, 5) == 5
    assert strategy.experimental_local_results(5) == (5,)


def test_a_scope_makes_its_strategy_current() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    with strategy.scope() as entered, strategy.scope():
        assert entered is strategy
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_replica_context() is None
    assert not tf.distribute.has_strategy()


def test_scopes_of_two_strategies_are_not_mixed() -> None:
    one, other = (tf.distribute.OneDeviceStrategy(f"/cpu:{i}") for i in (0, 1))
    with one.scope(), pytest.raises(RuntimeError, match="Mixing different"):
        other.scope().__enter__()


def test_a_strategy_is_set_until_another_one_is() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_a_strategy_is_copied_deeply_alone() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    made = copy.deepcopy(strategy)
    assert made.extended._container_strategy() is made
    with pytest.raises(RuntimeError, match="Must only deepcopy"):
        copy.copy(strategy)
    with pytest.raises(RuntimeError, match="single instance"):
        copy.deepcopy(tf.distribute.get_strategy())


def test_variables_belong_to_the_strategy_of_their_scope() -> None:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    outside = tf.get_variable("a", initializer=1.0)
    with strategy.scope():
        inside = tf.get_variable("b", initializer=1.0)
        assert strategy.extended.variable_created_in_scope(inside)
        assert not strategy.extended.variable_created_in_scope(outside)
        with pytest.raises(ValueError, match="created in this"):
            strategy.extended.colocate_vars_with(outside)


def test_optimizers_make_the_same_graph_without_a_strategy() -> None:
    v = tf.get_variable("v", initializer=1.0)
    op = tf.train.AdamOptimizer(0.1).minimize(tf.square(v))
    assert op.name == "Adam"
    assert tf.get_default_graph().get_operation_by_name("Adam/update_v/ApplyAdam")
