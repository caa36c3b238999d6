"""Tree ensembles and quantile sketches as resources of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops import boosted_trees_ops, resources

import tensorloom as tf
from tensorloom.protos.boosted_trees_pb2 import TreeEnsemble as TreeMessage


def _initializer() -> Any:
    return resources.initialize_resources(resources.shared_resources())


def _trees(*weights: float) -> bytes:
    message = TreeMessage()
    for weight in weights:
        message.trees.add().nodes.add().leaf.scalar = weight
        message.tree_weights.append(1.0)
        message.tree_metadata.add(num_layers_grown=1)
    serialized: bytes = message.SerializeToString()
    return serialized


@pytest.mark.parametrize(
    ("name", "mode"), [("none", 0), ("pre", 1), ("post", 2)], ids=str
)
def test_pruning_modes(name: str, mode: int) -> None:
    assert boosted_trees_ops.PruningMode.from_str(name) == mode


def test_unknown_pruning_mode() -> None:
    with pytest.raises(ValueError, match="one of: none, post, pre"):
        boosted_trees_ops.PruningMode.from_str("late")


def test_ensemble_changes() -> None:
    ensemble = boosted_trees_ops.TreeEnsemble(
        "forest", stamp_token=4, serialized_proto=_trees(0.5)
    )
    states = ensemble.get_states()
    assert [state.op.name for state in states[:2]] == ["stamp_token", "num_trees"]
    change = ensemble.deserialize(6, _trees(0.25, 1.5))
    with tf.Session() as session:
        made = ensemble.is_initialized()
        assert not session.run(made)
        session.run(_initializer())
        assert session.run(made)
        assert session.run([ensemble.get_stamp_token(), states[1]]) == [4, 1]
        session.run(change)
        stamp, trees = session.run(ensemble.serialize())
        assert (stamp, trees) == (6, _trees(0.25, 1.5))


def test_saver_keeps_an_ensemble(tmp_path: Path) -> None:
    ensemble = boosted_trees_ops.TreeEnsemble("forest")
    change = ensemble.deserialize(3, _trees(2.0))
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(_initializer())
        session.run(change)
        path = saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(ensemble.serialize()) == (3, _trees(2.0))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == ["forest:0_serialized", "forest:0_stamp"]


def test_local_ensemble_is_not_saved() -> None:
    ensemble = boosted_trees_ops.TreeEnsemble("own", is_local=True)
    assert not tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    assert [r.handle for r in resources.local_resources()] == [ensemble.resource_handle]


def test_saver_keeps_boundaries(tmp_path: Path) -> None:
    sketch = boosted_trees_ops.QuantileAccumulator(
        0.01, num_streams=2, num_quantiles=2, name="sketch"
    )
    values = np.arange(8, dtype=np.float32)
    add = sketch.add_summaries([values, values * 10], np.ones(8, np.float32))
    with tf.control_dependencies([add]):
        flush = sketch.flush()
    saver = tf.train.Saver()
    boundaries = sketch.get_bucket_boundaries()
    with tf.Session() as session:
        session.run(_initializer())
        session.run(flush)
        kept = session.run(boundaries)
        assert [len(each) for each in kept] == [3, 3]
        path = saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        saver.restore(session, path)
        for old, new in zip(kept, session.run(boundaries), strict=True):
            np.testing.assert_array_equal(old, new)
