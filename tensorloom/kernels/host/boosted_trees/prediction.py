"""Predictions of ensembles of boosted trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.kernels.host.boosted_trees.resource import (
    Ensemble,
    Forest,
    node_logits,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]
# Examples that one thread takes at a time, at least.
_LEAST_RANGE = 1000


def _examples(features: tuple[_Array, ...]) -> int:
    """The number of examples.

    Raises:
      errors.InvalidArgumentError: the features have different numbers of them.
    """
    sizes = {len(feature) for feature in features}
    if len(sizes) != 1:
        raise errors.InvalidArgumentError(
            None, None, f"features have different numbers of examples: {sizes}"
        )
    return sizes.pop()


def _add_up(
    forest: Forest,
    features: Sequence[_Array],
    trees: _Array,
    nodes: _Array,
    pending: _Array,
) -> _Array:
    """The logits [examples, dimensions] of all trees from the ones given.

    Args:
      forest: the trees.
      features: the values, each [examples] or [examples, width].
      trees, nodes: int32 [examples]: where each begins; `nodes` becomes where it ends.
      pending: float32 [examples, dimensions], added to those of its first tree.

    Raises:
      errors.InvalidArgumentError: a tree asks for a feature that is not there, or goes
        round in a circle.
    """
    from tensorloom.kernels.loops.boosted_trees.tree_traversal import follow

    total = np.zeros_like(pending)
    if not len(forest.trees):
        return total
    flat = [np.asarray(f).reshape(len(f), -1) for f in features]
    columns = np.concatenate(flat, axis=1, dtype=np.float64)
    arrays = _joined(forest, np.array([f.shape[1] for f in flat]))

    def work(first: int, end: int) -> None:
        if not follow(first, end, columns, trees, nodes, pending, total, *arrays):
            raise errors.InvalidArgumentError(None, None, "A tree has a cycle.")

    in_ranges(work, len(nodes), _LEAST_RANGE)
    return total


def _joined(forest: Forest, widths: _Array) -> tuple[_Array, ...]:
    """The arrays of all trees, one after the other, as `follow` takes them."""
    trees = forest.trees
    sizes = [len(tree.is_leaf) for tree in trees]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def of_all(name: str) -> _Array:
        return np.concatenate([getattr(tree, name) for tree in trees])

    is_leaf = of_all("is_leaf")
    feature = np.where(is_leaf, 0, of_all("feature"))
    wrong = feature[(feature < 0) | (feature >= len(widths))]
    if len(wrong):
        raise errors.InvalidArgumentError(
            None, None, f"A tree splits feature {wrong[0]}, of {len(widths)}."
        )
    dimension = np.where(is_leaf, 0, of_all("dimension"))
    if np.any(~is_leaf & ((dimension < 0) | (dimension >= widths[feature]))):
        raise errors.InvalidArgumentError(
            None, None, "A tree splits a dimension that a feature does not have."
        )
    column = (np.cumsum(widths) - widths)[feature] + dimension
    return (
        starts,
        np.array(forest.weights, np.float32),
        np.where(is_leaf, -1, column).astype(np.int32),
        *(of_all(name) for name in ("threshold", "is_equality", "left", "right")),
        of_all("logits"),
    )


@host_kernel("BoostedTreesPredict", large=True)
def predict(c: OpKernelConstruction) -> Compute:
    """Logits [examples, dimensions]."""
    dimensions = c["logits_dimension"]

    def compute(ensemble: Ensemble, *features: _Array) -> _Array:
        count = _examples(features)
        with ensemble.lock:
            forest = Forest(ensemble, dimensions)
        begin = np.zeros((2, count), np.int32)
        nothing = np.zeros((count, dimensions), np.float32)
        return _add_up(forest, features, begin[0], begin[1], nothing)

    return compute


@host_kernel("BoostedTreesTrainingPredict", large=True)
def training_predict(c: OpKernelConstruction) -> Compute:
    """The change of the logits since a cached tree and node, and where that ends."""
    dimensions = c["logits_dimension"]

    def compute(
        ensemble: Ensemble, tree_ids: _Array, node_ids: _Array, *features: _Array
    ) -> tuple[_Array, _Array, _Array]:
        count = _examples(features)
        for name, ids in (("tree", tree_ids), ("node", node_ids)):
            if len(ids) != count:
                message = f"cached {name} ids must have {count} elements"
                raise errors.InvalidArgumentError(None, None, message)
        with ensemble.lock:
            if not len(ensemble.proto.trees):
                empty = np.zeros((count, dimensions), np.float32)
                return empty, tree_ids.copy(), np.zeros(count, np.int32)
            return _follow(ensemble, dimensions, tree_ids, node_ids, features)

    return compute


def _follow(
    ensemble: Ensemble,
    dimensions: int,
    tree_ids: _Array,
    node_ids: _Array,
    features: Any,
) -> tuple[_Array, _Array, _Array]:
    forest = Forest(ensemble, dimensions)
    count, last = len(tree_ids), len(forest.trees) - 1
    pending = np.zeros((count, dimensions), np.float32)
    nodes = np.zeros(count, np.int32)
    for example in np.flatnonzero(node_ids >= 0):
        tree_id, node = int(tree_ids[example]), int(node_ids[example])
        if not 0 <= tree_id <= last:
            message = f"There is no tree {tree_id} of {last + 1}"
            raise errors.InvalidArgumentError(None, None, message)
        pruned = ensemble.proto.tree_metadata[tree_id].post_pruned_nodes_meta
        if len(pruned):
            moved = pruned[node]
            node = moved.new_node_id
            pending[example] += np.array(moved.logit_change, np.float32)
        pending[example] -= forest.trees[tree_id].logits[node]
        nodes[example] = node
    begins = np.clip(tree_ids, 0, last + 1).astype(np.int32)
    total = _add_up(forest, features, begins, nodes, pending)
    return total, np.full(count, last, np.int32), nodes


@host_kernel("BoostedTreesExampleDebugOutputs", large=True)
def debug_outputs(c: OpKernelConstruction) -> Compute:
    """For each example the features that were asked and the logits on the way."""

    def compute(ensemble: Ensemble, *features: _Array) -> _Array:
        from tensorloom.protos.boosted_trees_pb2 import DebugOutput

        count = _examples(features)
        outputs = np.full(count, b"", object)
        with ensemble.lock:
            proto = ensemble.proto
            if not len(proto.trees):
                return outputs
            arrays = Forest(ensemble, 1).trees
            for example in range(count):
                outputs[example] = _path(
                    proto, arrays, example, features, DebugOutput()
                ).SerializeToString()
        return outputs

    return compute


def _path(proto: Any, arrays: Any, example: int, features: Any, output: Any) -> Any:
    weights = [np.float32(weight) for weight in proto.tree_weights]
    logit = weights[0] * node_logits(proto.trees[0].nodes[0])[0]
    output.logits_path.append(logit)
    past = np.float32(0)
    for number, (tree, weight) in enumerate(zip(proto.trees, weights, strict=True)):
        node = 0
        while tree.nodes[node].WhichOneof("node") != "leaf":
            # TensorFlow reads the field of bucketized splits, 0 for other kinds.
            output.feature_ids.append(tree.nodes[node].bucketized_split.feature_id)
            node = arrays[number].child(node, example, features)
            logit = weight * node_logits(tree.nodes[node])[0]
            output.logits_path.append(past + logit)
        if number == 0 or node > 0:
            past += logit
    return output
