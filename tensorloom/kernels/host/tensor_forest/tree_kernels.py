"""Kernels of decision trees: made, saved, followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.tensor_forest import parameters
from tensorloom.kernels.host.tensor_forest.inputs import Inputs, Spec
from tensorloom.kernels.host.tensor_forest.tree import Tree

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("DecisionTreeResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The tree of a shared name; not created yet."""
    return named_resource(c, Tree)


@host_kernel("TreeIsInitializedOp", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether it was created."""
    return lambda tree: np.bool_(tree.is_created)


@host_kernel("CreateTreeVariable", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Creates the tree, unless it is there."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree, config: Any) -> None:
        with tree.lock:
            if not tree.is_created:
                tree.load(scalar(config, "Tree"), settings)

    return compute


@host_kernel("TreeDeserialize", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces the tree."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree, config: Any) -> None:
        with tree.lock:
            _ = tree.parameters
            tree.load(scalar(config, "Tree"), settings)

    return compute


def scalar(config: Any, what: str) -> bytes:
    """The bytes of a string scalar.

    Raises:
      errors.InvalidArgumentError: it is no scalar.
    """
    if np.ndim(config):
        raise invalid_argument(f"{what} config must be a scalar.")
    value: bytes = config.item()
    return value


@host_kernel("TreeSerialize", large=True)
def serialize(c: OpKernelConstruction) -> Compute:
    """The serialized form."""

    def compute(tree: Tree) -> Any:
        with tree.lock:
            return np.array(tree.serialize(), object)

    return compute


@host_kernel("TreeSize", large=True)
def size(c: OpKernelConstruction) -> Compute:
    """How many nodes there are."""

    def compute(tree: Tree) -> Any:
        _ = tree.parameters
        return np.int32(tree.size)

    return compute


@host_kernel("TraverseTreeV4", large=True)
def traverse(c: OpKernelConstruction) -> Compute:
    """The leaf of each example."""
    spec = Spec(c["input_spec"].decode())

    def compute(tree: Tree, *data: Any) -> Any:
        with tree.lock:
            _ = tree.parameters
            return tree.leaf_ids(Inputs(spec, *data))

    return compute


@host_kernel("TreePredictionsV4", large=True)
def predict(c: OpKernelConstruction) -> Compute:
    """What the leaves say: of classes their share, of regressions their mean."""
    spec, settings = Spec(c["input_spec"].decode()), parameters.parse(c["params"])

    def compute(tree: Tree, *data: Any) -> Any:
        with tree.lock:
            _ = tree.parameters
            leaves = tree.leaf_ids(Inputs(spec, *data))
            values: Any = tree.leaves[leaves]
            if not settings.is_regression:
                sums = values.sum(axis=1, keepdims=True, dtype=np.float32)
                values = values / np.where(sums > 0, sums, np.float32(1))
            paths = np.array([], object)
            if settings.proto.inference_tree_paths:
                known = {leaf: _path(tree, leaf) for leaf in set(leaves.tolist())}
                paths = np.array([known[leaf] for leaf in leaves.tolist()], object)
            return values, paths

    return compute


def _path(tree: Tree, leaf: int) -> bytes:
    from tensorloom.protos.fertile_stats_pb2 import TreePath

    message = TreePath()
    for node in tree.path(leaf):
        tree.write_node(node, message.nodes_visited.add())
    return message.SerializeToString(deterministic=True)


@host_kernel("UpdateModelV4", large=True)
def update(c: OpKernelConstruction) -> Compute:
    """Adds the examples' weights to their classes' counts; means stay as they are."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree, leaf_ids: Any, labels: Any, weights: Any) -> None:
        with tree.lock:
            _ = tree.parameters
            if settings.is_regression:
                return
            classes = class_labels(labels, settings.outputs)
            counted = example_weights(weights, len(classes))
            leaves = np.asarray(leaf_ids).reshape(-1)[: len(classes)]
            np.add.at(tree.leaves, (leaves, classes[: len(leaves)]), counted)

    return compute


def class_labels(labels: Any, classes: int) -> Any:
    """The classes of the examples, an int64 vector.

    Raises:
      errors.InvalidArgumentError: a label is no class.
    """
    found = np.asarray(labels).reshape(-1).astype(np.int64)
    if found.size and not 0 <= found.min() <= found.max() < classes:
        wrong = found.max() if found.max() >= classes else found.min()
        raise invalid_argument(
            f"Got label {wrong}, which is not within the indicated number of classes, "
            f"{classes}. Is params.num_classes set correctly?"
        )
    return found


def example_weights(weights: Any, count: int) -> Any:
    """The weights of the examples; 1 where none is given."""
    given = np.asarray(weights, np.float32).reshape(-1)[:count]
    return np.concatenate([given, np.ones(count - len(given), np.float32)])


@host_kernel("FeatureUsageCounts", large=True)
def usage(c: OpKernelConstruction) -> Compute:
    """How many nodes split by each feature."""
    settings = parameters.parse(c["params"])

    def compute(tree: Tree) -> Any:
        with tree.lock:
            _ = tree.parameters
            return tree.usage(settings.proto.num_features)

    return compute
