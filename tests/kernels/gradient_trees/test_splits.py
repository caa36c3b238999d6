"""Splits by one feature column, beside all splits that are possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.protos.gradient_trees_splits_pb2 import ObliviousSplitInfo, SplitInfo

_L1, _L2, _COMPLEXITY, _BATCHES = 0.1, 0.5, 0.25, 2
_BOUNDARIES = np.float32([0.5, 1.5, 2.5, 3.5])


def _judge(g: Any, h: Any) -> tuple[float, list[float]]:
    """(gain, weights) of a node, by the formulas of the strategies."""
    g, h = np.asarray(g, float), np.asarray(h, float)
    if g.ndim == 0:
        g = np.sign(g) * max(abs(g) - _L1, 0)
        return float(g * g / (h + _L2)), [float(-g / (h + _L2))]
    matrix = np.diag(h) if h.ndim == 1 else h
    weights = -np.linalg.solve(matrix + _L2 * np.eye(len(g)), g)
    return float(-g @ weights), list(weights)


def _sums(seed: int, rank: int, count: int) -> tuple[Any, Any]:
    rng = np.random.RandomState(seed)
    shapes = [(), ()] if rank == 0 else [(2,), (2,) * rank]
    gradients = rng.randn(count, *shapes[0]).astype(np.float32)
    hessians = rng.rand(count, *shapes[1]).astype(np.float32) + 0.2
    if rank == 2:
        hessians = hessians + hessians.transpose(0, 2, 1)
    return gradients, hessians


def _run(op: str, strategy: int, arguments: dict[str, Any], **more: Any) -> Any:
    rules = {
        "num_minibatches": _BATCHES,
        "class_id": -1,
        "feature_column_group_id": 4,
        "l1_regularization": _L1,
        "l2_regularization": _L2,
        "tree_complexity_regularization": _COMPLEXITY,
        "min_node_weight": 0.0,
        "multiclass_strategy": strategy,
    }
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(apply_op(op, **rules, **arguments, **more))


def _leaf(leaf: Any) -> list[float]:
    return list(leaf.vector.value)


@pytest.mark.parametrize(("strategy", "rank"), [(1, 0), (3, 1), (2, 2)])
def test_dense_splits_are_the_best_ones(strategy: int, rank: int) -> None:
    gradients, hessians = _sums(1, rank, 6)
    leaves, buckets = np.int32([0, 0, 0, 3, 3, 3]), [[b, 0] for b in (0, 1, 3) * 2]
    arguments = {
        "partition_ids": leaves,
        "bucket_ids": np.int64(buckets),
        "gradients": gradients,
        "hessians": hessians,
        "bucket_boundaries": _BOUNDARIES,
    }
    op = "BuildDenseInequalitySplits"
    found, gains, infos = _run(op, strategy, arguments, weak_learner_type=0)
    assert found.tolist() == [0, 3]
    for place, rows in enumerate((range(3), range(3, 6))):
        g, h = gradients[list(rows)] / _BATCHES, hessians[list(rows)] / _BATCHES
        root = _judge(g.sum(0), h.sum(0))[0]
        options = []
        for cut in range(3):
            left = _judge(g[: cut + 1].sum(0), h[: cut + 1].sum(0))
            rest = g[cut + 1 :].sum(0), h[cut + 1 :].sum(0)
            right = _judge(*rest) if cut < 2 else (0.0, None)
            gain = left[0] + right[0] - root - _COMPLEXITY
            options.append((gain, buckets[cut][0], left[1], right[1]))
        gain, bucket, left_weights, right_weights = max(options, key=lambda o: o[0])
        info = SplitInfo.FromString(infos[place])
        split = info.split_node.dense_float_binary_split
        assert gains[place] == pytest.approx(gain, abs=1e-4)
        assert (split.feature_column, split.threshold) == (4, _BOUNDARIES[bucket])
        assert _leaf(info.left_child) == pytest.approx(left_weights, abs=1e-4)
        if right_weights:
            assert _leaf(info.right_child) == pytest.approx(right_weights, abs=1e-4)


def test_an_oblivious_layer_has_one_split() -> None:
    gradients, hessians = _sums(2, 0, 4)
    arguments = {
        "partition_ids": np.int32([1, 1, 2, 2]),
        "bucket_ids": np.int64([[0, 0], [2, 0], [1, 0], [2, 0]]),
        "gradients": gradients,
        "hessians": hessians,
        "bucket_boundaries": _BOUNDARIES,
    }
    op = "BuildDenseInequalitySplits"
    found, gains, infos = _run(op, 1, arguments, weak_learner_type=1)
    g, h = gradients / _BATCHES, hessians / _BATCHES
    roots = sum(_judge(g[i : i + 2].sum(), h[i : i + 2].sum())[0] for i in (0, 2))
    options = {}
    for bucket in (0, 1, 2):
        total = 0.0
        for rows, own in ((slice(0, 2), (0, 2)), (slice(2, 4), (1, 2))):
            below = np.array(own) <= bucket
            for side in (below, ~below):
                if side.any():
                    total += _judge(g[rows][side].sum(), h[rows][side].sum())[0]
        options[bucket] = total - roots - 2 * _COMPLEXITY
    best = max(options, key=lambda bucket: options[bucket])
    info = ObliviousSplitInfo.FromString(infos[0])
    split = info.split_node.oblivious_dense_float_binary_split
    assert gains[0] == pytest.approx(options[best], abs=1e-4)
    assert split.threshold == _BOUNDARIES[best]
    assert list(info.children_parent_id) == found.tolist() == [1, 2]
    assert len(info.children) == 4


def test_missing_numbers_go_where_they_gain_more() -> None:
    gradients = np.float32([2.0, 3.0, -2.0])  # of all, and of two present values
    hessians = np.float32([4.0, 1.0, 1.0])
    arguments = {
        "partition_ids": np.int32([0, 0, 0]),
        "bucket_ids": np.int64([[-1, 0], [0, 1], [2, 1]]),
        "gradients": gradients,
        "hessians": hessians,
        "bucket_boundaries": _BOUNDARIES,
        "bias_feature_id": -1,
    }
    _, gains, infos = _run("BuildSparseInequalitySplits", 1, arguments)
    g, h = gradients / _BATCHES, hessians / _BATCHES
    options = {}
    for bucket, below in ((0, slice(1, 2)), (2, slice(1, 3))):
        low, high = (g[below].sum(), h[below].sum()), (g[1:].sum(), h[1:].sum())
        above = high[0] - low[0], high[1] - low[1]
        for way, left in (("left", (g[0] - above[0], h[0] - above[1])), ("right", low)):
            right = g[0] - left[0], h[0] - left[1]
            sides = _judge(*left)[0] + (_judge(*right)[0] if right[1] > 0 else 0.0)
            options[bucket, way] = sides
    best = max(options, key=lambda option: options[option])
    info = SplitInfo.FromString(infos[0])
    kind = info.split_node.WhichOneof("node")
    split = getattr(info.split_node, kind).split
    assert kind == f"sparse_float_binary_split_default_{best[1]}"
    assert (split.threshold, split.dimension_id) == (_BOUNDARIES[best[0]], 1)
    root = _judge(g[0], h[0])[0]
    assert gains[0] == pytest.approx(options[best] - root - _COMPLEXITY, abs=1e-5)


def test_one_category_goes_to_the_left() -> None:
    least = int(np.iinfo(np.int64).min)
    arguments = {
        "partition_ids": np.int32([0, 0, 0, 5]),
        "feature_ids": np.int64([[least, 0], [7, 0], [9, 0], [least, 0]]),
        "gradients": np.float32([1.0, 2.0, -4.0, 1.0]),
        "hessians": np.float32([4.0, 1.0, 1.0, 1.0]),
        "bias_feature_id": least,
    }
    op = "BuildCategoricalEqualitySplits"
    found, gains, infos = _run(op, 1, arguments, weak_learner_type=0)
    assert found.tolist() == [0]  # leaf 5 has no category to split by
    info = SplitInfo.FromString(infos[0])
    assert info.split_node.categorical_id_binary_split.feature_id == 9
    left, right, root = _judge(-2, 0.5), _judge(2.5, 1.5), _judge(0.5, 2)
    assert gains[0] == pytest.approx(left[0] + right[0] - root[0] - _COMPLEXITY)
    assert _leaf(info.left_child) == pytest.approx(left[1])
    arguments["feature_ids"] = np.int64([[1, 0], [7, 0], [9, 0], [least, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Bias feature ID"):
        _run(op, 1, arguments, weak_learner_type=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="strategy"):
        _run(op, 9, arguments, weak_learner_type=0)


def test_a_hessian_without_inverse_has_a_solution() -> None:
    arguments = {
        "partition_ids": np.int32([0]),
        "bucket_ids": np.int64([[0, 0]]),
        "gradients": np.float32([[1.0, 2.0]]),
        "hessians": np.float32([[[1.0, 1.0], [1.0, 1.0]]]),
        "bucket_boundaries": _BOUNDARIES,
    }
    more = {"l2_regularization": 0.0, "num_minibatches": 1}
    with tf.Graph().as_default(), tf.Session() as session:
        _, _, infos = session.run(
            apply_op(
                "BuildDenseInequalitySplits",
                class_id=-1,
                feature_column_group_id=0,
                l1_regularization=0.0,
                tree_complexity_regularization=0.0,
                min_node_weight=0.0,
                multiclass_strategy=2,
                weak_learner_type=0,
                **arguments,
                **more,
            )
        )
    weights = _leaf(SplitInfo.FromString(infos[0]).left_child)
    assert sorted(weights) == pytest.approx([-1.5, 0.0])
