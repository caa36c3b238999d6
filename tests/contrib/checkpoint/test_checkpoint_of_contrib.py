"""Collections, arrays and parts of variables in object-based checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

contrib = tf.contrib.checkpoint


def test_members_are_saved_with_their_collection(tmp_path: Any) -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 3]))
    names = contrib.UniqueNameTracker()
    extra = [names.track(tf.Variable(float(i)), "x") for i in range(2)]
    members = contrib.List([layer, contrib.Mapping(v=tf.Variable(5.0))])
    assert members.layers == [layer]
    assert len(members.trainable_variables) == 3
    checkpoint = tf.train.Checkpoint(members=members, names=names)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "c"), session=sess)
        sess.run([extra[1].assign(9.0), members[1]["v"].assign(9.0)])
        checkpoint.restore(path).run_restore_ops(sess)
        assert sess.run([extra[1], members[1]["v"]]) == [1.0, 5.0]
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert any(key.startswith("names/x_1/") for key in keys)
    assert any(key.startswith("members/1/v/") for key in keys)
    graph = contrib.dot_graph_from_checkpoint(path)
    assert 'label="x_1"' in graph
    assert len(contrib.object_metadata(path).nodes) >= 7


def test_what_is_kept_is_only_added_to() -> None:
    mapping = contrib.Mapping(a=tf.Variable(1.0))
    with pytest.raises(ValueError, match="append-only"):
        mapping["a"] = tf.Variable(2.0)
    with pytest.raises(ValueError, match="does not inherit from Trackable"):
        contrib.List([3])
    with pytest.raises(ValueError, match="Expected a trackable value"):
        contrib.UniqueNameTracker().track(3, "x")


def test_arrays_are_saved(tmp_path: Any) -> None:
    state = contrib.NumpyState()
    state.x = np.arange(3)
    checkpoint = tf.train.Checkpoint(state=state)
    with tf.Session() as sess:
        sess.run(checkpoint.save_counter.initializer)
        path = checkpoint.save(str(tmp_path / "c"), session=sess)
        state.x = np.zeros(1)
        checkpoint.restore(path).run_restore_ops(sess)
        assert state.x.tolist() == [0, 1, 2]
        count = len(sess.graph.get_operations())
        checkpoint.restore(path).run_restore_ops(sess)
        assert len(sess.graph.get_operations()) == count
        fresh = contrib.NumpyState()
        tf.train.Checkpoint(state=fresh).restore(path).run_restore_ops(sess)
    assert fresh.x.tolist() == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="not a NumPy array"):
        state.y = 3


def test_a_variable_in_parts(tmp_path: Any) -> None:
    v = tf.Variable([1.0, 2.0])

    class Halves(contrib.Checkpointable):  # type: ignore[misc, name-defined]
        """Saves the two elements apart."""

        def __init__(self) -> None:
            parts = contrib.split_dependency(
                ["low", "high"],
                [tf.float32] * 2,
                lambda values: values.update(low=v[0], high=v[1]),
                lambda values: v.assign(tf.stack([values["low"], values["high"]])),
                "",
            )
            self.low, self.high = parts["low"], parts["high"]

    checkpoint = tf.train.Checkpoint(halves=Halves())
    with tf.Session() as sess:
        sess.run([v.initializer, checkpoint.save_counter.initializer])
        path = checkpoint.save(str(tmp_path / "c"), session=sess)
        sess.run(v.assign([0.0, 0.0]))
        checkpoint.restore(path).run_restore_ops(sess)
        assert sess.run(v).tolist() == [1.0, 2.0]
    assert tf.train.load_variable(path, "halves/high/.ATTRIBUTES/VARIABLE_VALUE") == 2.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.contrib.cloud.BigtableClient("p", "i"),
        lambda: tf.contrib.cloud.configure_gcs(None),
        lambda: tf.contrib.rpc.rpc("a", "m", "r"),
        lambda: tf.contrib.remote_fused_graph.remote_fused_graph_execute(*range(7)),
    ],
)
def test_what_is_not_here_says_what_to_use(call: Any) -> None:
    with pytest.raises(RuntimeError, match=r"^tf\.contrib\."):
        call()
