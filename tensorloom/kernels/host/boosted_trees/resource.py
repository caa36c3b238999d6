"""An ensemble of boosted trees as a resource: its serialized form is its state."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.runtime.resource import DEFAULT_CONTAINER, Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.framework.registry.op_kernel import OpKernelConstruction
    from tensorloom.protos.boosted_trees_pb2 import Leaf, Node, Tree, TreeEnsemble

# Leaf values are scaled when a layer is added, so trees have no weights of their own.
TREE_WEIGHT: Final = 1.0
_F = np.float32
_Array = NDArray[Any]
R = TypeVar("R", bound=Resource)


class Ensemble(Resource):
    """The trees, a stamp that changes with them, and a lock around both."""

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.lock = threading.RLock()
        self.stamp = -1
        self._held: TreeEnsemble | None = None
        # Of trees that are finished: (their ensemble, by number and dimensions).
        self._arrays: tuple[Any, dict[tuple[int, int], TreeArrays]] = (None, {})

    @property
    def is_created(self) -> bool:
        """Whether there is an ensemble, even an empty one."""
        return self._held is not None

    @property
    def proto(self) -> TreeEnsemble:
        """The ensemble.

        Raises:
          errors.NotFoundError: it was not created yet.
        """
        if self._held is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name}/"
                "BoostedTreesEnsembleResource does not exist.",
            )
        return self._held

    def load(self, serialized: bytes, stamp: int) -> None:
        """Replaces the ensemble.

        Raises:
          errors.InvalidArgumentError: it is no serialized ensemble.
        """
        from google.protobuf.message import DecodeError

        from tensorloom.protos.boosted_trees_pb2 import TreeEnsemble

        try:
            parsed = TreeEnsemble.FromString(serialized)
        except DecodeError:
            raise errors.InvalidArgumentError(
                None, None, "Unable to parse tree ensemble proto."
            ) from None
        self._held, self.stamp = parsed, stamp

    def arrays_of(self, number: int, dimensions: int) -> TreeArrays:
        """A tree as arrays; that of a finished one is kept, as it no longer changes."""
        proto = self.proto
        if self._arrays[0] is not proto:
            self._arrays = proto, {}
        known = self._arrays[1]
        found = known.get((number, dimensions))
        if found is None:
            found = TreeArrays(proto.trees[number], dimensions)
            # An ensemble from outside may say nothing of its trees.
            told = number < len(proto.tree_metadata)
            if told and proto.tree_metadata[number].is_finalized:
                known[number, dimensions] = found
        return found

    def add_tree(self, logits: Sequence[float]) -> int:
        """Adds a tree of a single leaf; gives its number."""
        proto = self.proto
        tree = proto.trees.add()
        write_leaf(tree.nodes.add().leaf, logits)
        proto.tree_weights.append(TREE_WEIGHT)
        proto.tree_metadata.add()
        return len(proto.trees) - 1


def named_resource(c: OpKernelConstruction, kind: type[R]) -> Callable[[], R]:
    """Finds the resource of a shared name; the empty name is one like others."""
    assert c.resources is not None
    resources, name = c.resources, c["shared_name"].decode()
    # TensorFlow does not look at the letters of these containers' names.
    container = c["container"].decode() or DEFAULT_CONTAINER
    return lambda: resources.lookup_or_create(
        container, name, kind, lambda: kind(container, name)
    )


# --- nodes -------------------------------------------------------------------


def write_leaf(leaf: Leaf, logits: Sequence[float]) -> None:
    """Sets a leaf's logit, or its vector of several logits."""
    if len(logits) == 1:
        leaf.scalar = float(logits[0])
    else:
        leaf.vector.value[:] = [float(logit) for logit in logits]


def leaf_logits(leaf: Leaf) -> list[np.float32]:
    """The logits of a leaf."""
    if leaf.HasField("vector"):
        return [_F(value) for value in leaf.vector.value]
    return [_F(leaf.scalar)]


def node_logits(node: Node) -> list[np.float32]:
    """The logits of a leaf; of a split those that it had as a leaf."""
    if node.WhichOneof("node") == "leaf":
        return leaf_logits(node.leaf)
    return leaf_logits(node.metadata.original_leaf)


def split_of(node: Node) -> Any:
    """The split of a node that is no leaf, whatever its kind.

    Raises:
      errors.InvalidArgumentError: the node is neither leaf nor split.
    """
    kind = node.WhichOneof("node")
    if kind is None or kind == "leaf":
        raise errors.InvalidArgumentError(None, None, "A tree has a node of no kind.")
    return getattr(node, kind)


class Forest:
    """The trees as arrays, to follow many examples at once."""

    def __init__(self, ensemble: Ensemble, dimensions: int) -> None:
        proto = ensemble.proto
        self.weights = [_F(weight) for weight in proto.tree_weights]
        self.trees = [
            ensemble.arrays_of(number, dimensions) for number in range(len(proto.trees))
        ]


class TreeArrays:
    """One tree, an element of each array for each node."""

    def __init__(self, tree: Tree, dimensions: int) -> None:
        count = len(tree.nodes)
        self.is_leaf = np.zeros(count, bool)
        self.feature = np.zeros(count, np.int32)
        self.dimension = np.zeros(count, np.int32)
        self.threshold = np.zeros(count, np.float64)
        self.is_equality = np.zeros(count, bool)
        self.left = np.zeros(count, np.int32)
        self.right = np.zeros(count, np.int32)
        self.logits = np.zeros((count, dimensions), np.float32)
        for index, node in enumerate(tree.nodes):
            values = node_logits(node)[:dimensions]
            self.logits[index, : len(values)] = values
            if node.WhichOneof("node") == "leaf":
                self.is_leaf[index] = True
                continue
            split = split_of(node)
            self.feature[index] = split.feature_id
            self.dimension[index] = getattr(split, "dimension_id", 0)
            categorical = node.WhichOneof("node") == "categorical_split"
            self.is_equality[index] = categorical
            self.threshold[index] = split.value if categorical else split.threshold
            self.left[index], self.right[index] = split.left_id, split.right_id
            if not min(split.left_id, split.right_id) >= 0 or (
                max(split.left_id, split.right_id) >= count
            ):
                raise errors.InvalidArgumentError(
                    None, None, f"A split leads to node {split.left_id}, of {count}."
                )

    def child(self, node: int, example: int, features: Sequence[_Array]) -> int:
        """The next node of an example after a split.

        Raises:
          errors.InvalidArgumentError: the split asks for a feature that is not there.
        """
        kind = int(self.feature[node])
        if not 0 <= kind < len(features):
            raise errors.InvalidArgumentError(
                None, None, f"A tree splits feature {kind}, of {len(features)}."
            )
        value = features[kind][example]
        if np.ndim(value):
            value = value[self.dimension[node]]
        threshold = self.threshold[node]
        left = value == threshold if self.is_equality[node] else value <= threshold
        return int(self.left[node] if left else self.right[node])
