"""Predictions of ensembles of boosted trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.resource import Ensemble, Forest, node_logits

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]


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


def _leaves(tree: Any, nodes: _Array, features: Any) -> _Array:
    """Follows all examples from their nodes to leaves."""
    nodes = nodes.copy()
    for _ in range(len(tree.is_leaf) + 1):
        moving = np.flatnonzero(~tree.is_leaf[nodes])
        if not len(moving):
            return nodes
        nodes[moving] = tree.children(nodes[moving], moving, features)
    raise errors.InvalidArgumentError(None, None, "A tree has a cycle.")


@host_kernel("BoostedTreesPredict", large=True)
def predict(c: OpKernelConstruction) -> Compute:
    """Logits [examples, dimensions]."""
    dimensions = c["logits_dimension"]

    def compute(ensemble: Ensemble, *features: _Array) -> _Array:
        count = _examples(features)
        with ensemble.lock:
            forest = Forest(ensemble, dimensions)
        logits = np.zeros((count, dimensions), np.float32)
        for tree, weight in zip(forest.trees, forest.weights, strict=True):
            leaves = _leaves(tree, np.zeros(count, np.int32), features)
            logits += weight * tree.logits[leaves]
        return logits

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
    total = np.zeros((count, dimensions), np.float32)
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
    for number, (tree, weight) in enumerate(
        zip(forest.trees, forest.weights, strict=True)
    ):
        here = np.flatnonzero(tree_ids <= number)
        if not len(here):
            continue
        starts = np.where(tree_ids[here] == number, nodes[here], 0).astype(np.int32)
        parts = [np.asarray(feature)[here] for feature in features]
        leaves = _leaves(tree, starts, parts)
        total[here] += weight * (pending[here] + tree.logits[leaves])
        pending[here] = 0
        if number == last:
            nodes[here] = leaves
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
    past, at = np.float32(0), np.array([example])
    for number, (tree, weight) in enumerate(zip(proto.trees, weights, strict=True)):
        node = 0
        while tree.nodes[node].WhichOneof("node") != "leaf":
            # TensorFlow reads the field of bucketized splits, 0 for other kinds.
            output.feature_ids.append(tree.nodes[node].bucketized_split.feature_id)
            node = int(arrays[number].children(np.array([node]), at, features)[0])
            logit = weight * node_logits(tree.nodes[node])[0]
            output.logits_path.append(past + logit)
        if number == 0 or node > 0:
            past += logit
    return output
