"""`tf.contrib.tpu` without TPUs: what works, and what is refused by name."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf

tpu = tf.contrib.tpu
_REFUSED = [
    "DeviceAssignment",
    "InfeedQueue",
    "TPUDistributionStrategy",
    "Topology",
    "batch_parallel",
    "device_assignment",
    "export_estimator_savedmodel",
    "infeed_dequeue",
    "infeed_dequeue_tuple",
    "infeed_enqueue",
    "infeed_enqueue_tuple",
    "initialize_system",
    "keras_to_tpu_model",
    "outfeed_dequeue",
    "outfeed_dequeue_tuple",
    "outfeed_enqueue",
    "outfeed_enqueue_tuple",
    "replicate",
    "rewrite",
    "shard",
    "shutdown_system",
]


@pytest.mark.parametrize("name", _REFUSED)
def test_what_needs_tpus_says_so_by_name(name: str) -> None:
    function = getattr(tpu, name)
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    with pytest.raises(RuntimeError, match=rf"tpu\.{name}: .*use_tpu=False"):
        function(*[None] * len(needed))
    with pytest.raises(TypeError):
        function(no_such_argument=1)


def test_an_optimizer_across_shards_is_the_one_in_it() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=[1.0, 2.0])
        step = tf.train.get_or_create_global_step()
        optimizer = tpu.CrossShardOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
        train = optimizer.minimize(tf.reduce_sum(x * x), step)
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([x, step])[0].tolist() == pytest.approx([0.8, 1.6])
        assert session.run(step) == 1
        assert optimizer.get_slot_names() == ["momentum"]
        assert optimizer.get_slot(x, "momentum").op.name == "x/Momentum"
        assert [v.op.name for v in optimizer.variables()] == ["x/Momentum"]


@pytest.mark.parametrize("groups", [[[0, 1]], 3, [0]])
def test_groups_of_more_than_one_replica(groups: Any) -> None:
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with tf.Graph().as_default():
        x = tf.get_variable("x", [2])
        across = tpu.CrossShardOptimizer(optimizer, group_assignment=groups)
        with pytest.raises(ValueError, match="group_assignment"):
            across.compute_gradients(tf.reduce_sum(x))
    with pytest.raises(ValueError, match="Unsupported reduction: none"):
        tpu.CrossShardOptimizer(optimizer, reduction="none")


def test_variables_of_a_bfloat16_scope_are_float32() -> None:
    with tf.Graph().as_default():
        with tpu.bfloat16_scope():
            cast = tf.get_variable("a", [2], tf.bfloat16)
            own = tf.get_variable("b", [2])
        assert [v.dtype.base_dtype for v in tf.global_variables()] == [tf.float32] * 2
        assert (cast.dtype, own.dtype.base_dtype) == (tf.bfloat16, tf.float32)


def test_loops() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        counter = tf.get_variable("n", initializer=0, use_resource=True)
        doubled = tpu.repeat(3, lambda a: a * 2.0, [1.0])
        last = tpu.while_loop(lambda i: i < 5, lambda i: i + 1, [0])
        counted = tpu.repeat(4, lambda: counter.assign_add(1).op)
        assert isinstance(counted, tf.Operation)
        session.run(counter.initializer)
        session.run(counted)
        assert session.run([doubled, last, counter]) == [[8.0], 5, 4]
        with pytest.raises(TypeError, match="Mismatch between input types"):
            tpu.while_loop(lambda i: i < 5, lambda i: tf.cast(i, tf.float32), [0])
        with pytest.raises(TypeError, match="body function cannot be called"):
            tpu.while_loop(lambda i: i < 5, lambda: 0, [0])
        with pytest.raises(ValueError, match="followed by zero or more Operations"):
            tpu.while_loop(lambda i: i < 5, lambda i: [tf.no_op(), i], [0])
        with pytest.raises(RuntimeError, match="infeed_queue"):
            tpu.repeat(2, lambda: (), infeed_queue=1)


def test_names_of_cores_and_what_is_outside() -> None:
    assert tpu.core(3) == "device:TPU_REPLICATED_CORE:3"
    assert tpu.outside_compilation(lambda a, b: a - b, 5, b=3) == 2
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.tpu.cross_replica_sum(tf.ones([2]))).tolist() == [1, 1]


class _Failing(tf.train.CheckpointSaverListener):  # type: ignore[misc]
    def before_save(self, session: Any, step: int) -> None:
        if step == 2:
            raise ValueError("the listener fails")


def _train(folder: Path, listeners: Any = None) -> None:
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        add = tf.assign_add(step, 1)
        scaffold = tf.train.Scaffold()
        hook = tpu.AsyncCheckpointSaverHook(
            str(folder), save_steps=2, scaffold=scaffold, listeners=listeners
        )
        with tf.train.SingularMonitoredSession([hook], scaffold) as session:
            for _ in range(5):
                session.run(add)


@pytest.mark.slow
def test_checkpoints_are_saved_in_the_background(tmp_path: Path) -> None:
    _train(tmp_path)
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-5")
    assert tf.train.load_variable(str(tmp_path), "global_step") == 5


@pytest.mark.slow
def test_a_failure_in_the_background_is_raised(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the listener fails"):
        _train(tmp_path, [_Failing()])
