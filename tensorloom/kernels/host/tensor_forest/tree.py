"""A decision tree as a resource."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.resource import Resource
from tensorloom.kernels.host.tensor_forest.inputs import goes_left
from tensorloom.kernels.host.tensor_forest.messages import (
    read_split,
    read_values,
    write_sparse,
    write_split,
    write_values,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.kernels.host.tensor_forest.inputs import Inputs
    from tensorloom.kernels.host.tensor_forest.parameters import Parameters
    from tensorloom.kernels.host.tensor_forest.statistics import Split
    from tensorloom.protos.decision_trees_pb2 import TreeNode


class Tree(Resource):
    """The nodes as arrays, and a lock around them. A leaf has no left child."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.lock = threading.RLock()
        self._parameters: Parameters | None = None
        self.size = 0

    @property
    def is_created(self) -> bool:
        """Whether there is a tree, even one of a single leaf."""
        return self._parameters is not None

    @property
    def parameters(self) -> Parameters:
        """How the tree grows.

        Raises:
          errors.NotFoundError: it was not created yet.
        """
        if self._parameters is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/DecisionTreeResource does not "
                "exist.",
            )
        return self._parameters

    def load(self, serialized: bytes, parameters: Parameters) -> None:
        """Replaces the tree; an empty message makes one of a single leaf.

        Raises:
          errors.InvalidArgumentError: it is no serialized tree.
        """
        from google.protobuf.message import DecodeError

        from tensorloom.protos.decision_trees_pb2 import Model

        try:
            nodes = Model.FromString(serialized).decision_tree.nodes
        except DecodeError:
            raise invalid_argument("Unable to parse tree config.") from None
        self._parameters = parameters
        self.size = len(nodes) or 1
        self._left = np.zeros(self.size, np.int32)
        self._right = np.zeros(self.size, np.int32)
        self._feature = np.zeros(self.size, np.int64)
        self._test = np.zeros(self.size, np.int8)
        self._threshold = np.zeros(self.size, np.float32)
        self.leaves = np.zeros((self.size, parameters.outputs), np.float32)
        for index, node in enumerate(nodes):
            self._read(index, node)

    def _read(self, index: int, node: TreeNode) -> None:
        kind = node.WhichOneof("node_type")
        if kind == "leaf":
            outputs = self.parameters.outputs
            values = read_values(node.leaf, "vector", "sparse_vector", outputs)
            self.leaves[index] = values
            return
        if kind != "binary_node":
            raise invalid_argument(f"Node {index} is neither a leaf nor a split.")
        split = node.binary_node
        left, right = split.left_child_id.value, split.right_child_id.value
        if not index < min(left, right) <= max(left, right) < self.size:
            raise invalid_argument(
                f"Node {index} leads to nodes {left} and {right}, of {self.size}."
            )
        self._left[index], self._right[index] = left, right
        feature, test, threshold = read_split(split)
        self._feature[index], self._test[index] = feature, test
        self._threshold[index] = threshold

    def serialize(self) -> bytes:
        """A serialized Model message."""
        from tensorloom.protos.decision_trees_pb2 import Model

        _ = self.parameters
        model = Model()
        for index in range(self.size):
            self.write_node(index, model.decision_tree.nodes.add())
        return model.SerializeToString(deterministic=True)

    def write_node(self, index: int, node: TreeNode) -> None:
        """Writes one node into an empty message."""
        if index:
            node.node_id.value = index
        if self._left[index]:
            split = node.binary_node
            split.left_child_id.value = int(self._left[index])
            split.right_child_id.value = int(self._right[index])
            write_split(
                split,
                int(self._feature[index]),
                int(self._test[index]),
                float(self._threshold[index]),
            )
        elif self.parameters.is_sparse:
            node.leaf.sparse_vector.SetInParent()
            write_sparse(node.leaf.sparse_vector, self.leaves[index])
        else:
            write_values(node.leaf.vector, self.leaves[index], keep_zeros=index > 0)

    def leaf_ids(self, inputs: Inputs) -> NDArray[np.int32]:
        """The leaf of each example."""
        at = np.zeros(inputs.count, np.int32)
        rows = np.flatnonzero(self._left[at])
        while rows.size:
            nodes = at[rows]
            left = goes_left(
                inputs.at(rows, self._feature[nodes]),
                self._test[nodes],
                self._threshold[nodes],
            )
            at[rows] = np.where(left, self._left[nodes], self._right[nodes])
            rows = rows[self._left[at[rows]] > 0]
        return at

    def path(self, leaf: int) -> list[int]:
        """The nodes from the root to a leaf."""
        nodes = [leaf]
        while nodes[0]:
            parent = (self._left == nodes[0]) | (self._right == nodes[0])
            nodes.insert(0, int(np.flatnonzero(parent & (self._left > 0))[0]))
        return nodes

    def split(self, node: int, best: Split) -> tuple[int, int]:
        """Makes a leaf a split with two new leaves; gives their numbers."""
        left, right = self.size, self.size + 1
        self.size += 2
        for name in ("_left", "_right", "_feature", "_test", "_threshold", "leaves"):
            setattr(self, name, _grown(getattr(self, name)))
        self._left[node], self._right[node] = left, right
        self._feature[node], self._test[node] = best.feature, best.test
        self._threshold[node] = best.threshold
        self.leaves[node] = 0
        self.leaves[left], self.leaves[right] = best.left, best.right
        return left, right

    def usage(self, features: int) -> NDArray[np.int32]:
        """How many nodes split by each feature."""
        used = self._feature[self._left > 0]
        if used.size and used.max() >= features:
            raise invalid_argument(
                f"A tree splits feature {used.max()}, of {features}."
            )
        return np.bincount(used, minlength=features).astype(np.int32)


def _grown(values: Any) -> Any:
    return np.concatenate([values, np.zeros((2, *values.shape[1:]), values.dtype)])
