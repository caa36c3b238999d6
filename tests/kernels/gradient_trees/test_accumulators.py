"""Sums of gradients and sketches of quantiles, between the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.boosted_trees.resources.quantile_accumulator import (
    QuantileAccumulator,
)
from tensorloom.contrib.boosted_trees.resources.stats_accumulator import (
    StatsAccumulator,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.protos.gradient_trees_quantiles_pb2 import QuantileConfig
from tensorloom.train.sessions.resources import initialize_resources, shared_resources


def _session() -> Any:
    session = tf.Session()
    session.run(initialize_resources(shared_resources()))
    return session


@pytest.mark.parametrize("shape", [(), (2,)])
def test_what_belongs_together_is_added_up(shape: Any, tmp_path: Any) -> None:
    with tf.Graph().as_default():
        kind = tf.TensorShape(list(shape))
        sums = StatsAccumulator(0, kind, kind, name="sums")
        ones = np.ones((3, *shape), np.float32)
        features = [[4, 0], [3, 1], [4, 0]]
        add = sums.add(0, [1, 0, 1], features, ones, 2 * ones)
        late = sums.add(9, [1, 0, 1], features, ones, ones)  # of another stamp
        saver = tf.train.Saver()
        flush = sums.flush(0, 1)
        with _session() as session:
            session.run([add, late])
            path = saver.save(session, str(tmp_path / "sums"))
            session.run(add)
            updates, leaves, found, gradients, hessians = session.run(flush)
            assert (updates, leaves.tolist()) == (2, [0, 1])
            assert found.tolist() == [[3, 1], [4, 0]]
            counts = np.float32([2, 4]).reshape(-1, *(1,) * len(shape))
            assert (gradients == counts).all()
            assert (hessians == 2 * counts).all()
            assert len(session.run(sums.saveable.serialize())[2]) == 0
            saver.restore(session, path)
            assert session.run(flush)[0] == 1
            with pytest.raises(tf.errors.FailedPreconditionError, match="stamp 1"):
                session.run(flush)


def test_other_shapes_are_refused() -> None:
    with tf.Graph().as_default():
        sums = StatsAccumulator(0, tf.TensorShape([2]), tf.TensorShape([2]))
        wrong = tf.placeholder_with_default(np.ones((1, 3), np.float32), None)
        with _session() as session:
            with pytest.raises(tf.errors.InvalidArgumentError, match="must match"):
                session.run(sums.add(0, [1], [[0, 0]], wrong, wrong))
            pair = np.ones((1, 2), np.float32)
            features = tf.placeholder_with_default(np.int64([[1]]), None)
            with pytest.raises(tf.errors.InvalidArgumentError, match="of shape"):
                session.run(sums.add(0, [1], features, pair, pair))


@pytest.mark.parametrize(
    ("exactly", "buckets"), [(False, [1, 3, 5]), (True, [1, 2, 3, 4, 5])]
)
def test_boundaries_come_with_the_next_stamp(
    exactly: bool, buckets: list[int], tmp_path: Any
) -> None:
    values = np.float32([[5], [1], [3], [2], [4]])
    with tf.Graph().as_default():
        sketch = QuantileAccumulator(
            0, 0.01, 4 if exactly else 3, name="sketch", generate_quantiles=exactly
        )
        add = sketch.add_summary(0, values, np.ones((5, 1), np.float32))
        flush, read = sketch.flush(0, 1), sketch.get_buckets(1)
        saver = tf.train.Saver()
        with _session() as session:
            assert not session.run(read)[0]
            session.run(add)
            path = saver.save(session, str(tmp_path / "sketch"))
            session.run(flush)
            is_ready, found = session.run(read)
            assert is_ready
            assert found.tolist() == buckets
            saver.restore(session, path)
            assert not session.run(read)[0]
            session.run(flush)
            assert session.run(read)[1].tolist() == buckets


def test_values_fall_into_buckets() -> None:
    sparse = {
        "sparse_float_feature_indices": [np.int64([[0, 3], [2, 1]])],
        "sparse_float_feature_values": [np.float32([7.0, 9.0])],
        "sparse_float_feature_shapes": [np.int64([3, 4])],
    }
    config = QuantileConfig(eps=0.01, num_quantiles=2).SerializeToString()
    with tf.Graph().as_default(), tf.Session() as session:
        dense, rare = session.run(
            apply_op(
                "QuantileBuckets",
                dense_float_features=[np.float32([[1], [2], [3]])],
                **sparse,
                example_weights=np.ones((3, 1), np.float32),
                dense_config=[config],
                sparse_config=[config],
            )
        )
        assert [dense[0].tolist(), rare[0].tolist()] == [[1, 3], [7, 9]]
        places, of_rare = session.run(
            apply_op(
                "Quantiles",
                dense_values=[np.float32([[0.0], [2.0], [9.0]])],
                sparse_values=sparse["sparse_float_feature_values"],
                dense_buckets=[dense[0]],
                sparse_buckets=[rare[0]],
                sparse_indices=sparse["sparse_float_feature_indices"],
            )
        )
        assert places[0].tolist() == [[0, 0], [1, 0], [1, 0]]
        assert of_rare[0].tolist() == [[0, 3], [1, 1]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Malformed"):
            session.run(
                apply_op(
                    "QuantileBuckets",
                    dense_float_features=[np.float32([[1]])],
                    sparse_float_feature_indices=[],
                    sparse_float_feature_values=[],
                    sparse_float_feature_shapes=[],
                    example_weights=np.ones((1, 1), np.float32),
                    dense_config=[b"\xff"],
                    sparse_config=[],
                )
            )
