"""One tree as arrays, an element of each for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from tensorloom.kernels.host.gradient_trees.batch_features import Question
    from tensorloom.protos.gradient_trees_pb2 import DecisionTreeConfig, Leaf, TreeNode

_Array = NDArray[Any]
# A category goes to the left where the answer to its question is 0.
_IS_THERE = 0.5


class TreeArrays:
    """What the nodes of a tree ask, and what its leaves say.

    A split asks a question (a place in `questions`), whose answer is a number; one that
    is not above the threshold leads to the left. Of an oblivious tree the arrays hold
    the whole tree that it stands for; `numbers` are the leaves' places in the message.

    Raises:
      errors.InvalidArgumentError: a node is of no kind, or leads to none of the tree.
    """

    def __init__(self, tree: DecisionTreeConfig) -> None:
        self.questions: list[Question] = []
        nodes = list(tree.nodes)
        kind = nodes[0].WhichOneof("node") if nodes else None
        if kind is not None and kind.startswith("oblivious"):
            splits, self.leaves, self.numbers = self._oblivious(nodes)
        else:
            splits = [self._split(node) for node in nodes]
            self.leaves = [
                node.leaf if split is None else None
                for node, split in zip(nodes, splits, strict=True)
            ]
            self.numbers = np.arange(len(nodes), dtype=np.int32)
        self._logits: dict[int, _Array] = {}
        self._fill(splits)

    def _fill(self, splits: list[tuple[int, float, int, int] | None]) -> None:
        count = len(splits)
        rows = [(-1, 0.0, 0, 0) if split is None else split for split in splits]
        asked, thresholds, lefts, rights = (
            zip(*rows, strict=True) if rows else ((), (), (), ())
        )
        self.question: _Array = np.array(asked, np.int32)
        self.threshold: _Array = np.array(thresholds, np.float64)
        self.left: _Array = np.array(lefts, np.int32)
        self.right: _Array = np.array(rights, np.int32)
        for side in (self.left, self.right):
            wrong = side[(side < 0) | (side >= max(count, 1))]
            if len(wrong):
                raise invalid_argument(f"A split leads to node {wrong[0]}, of {count}.")

    def _ask(self, *question: Any) -> int:
        if question not in self.questions:
            self.questions.append(question)
        return self.questions.index(question)

    def _split(self, node: TreeNode) -> tuple[int, float, int, int] | None:
        """(question, threshold, left, right) of a node; None of a leaf."""
        kind = node.WhichOneof("node")
        if kind == "leaf":
            return None
        if kind is None:
            raise invalid_argument("A tree has a node of no kind.")
        asked, threshold = self._asked(kind, getattr(node, kind))
        split = getattr(node, kind)
        if kind.startswith("sparse_float"):
            split = split.split
        return asked, threshold, split.left_id, split.right_id

    def _asked(self, kind: str, split: Any) -> tuple[int, float]:
        if kind in ("dense_float_binary_split", "oblivious_dense_float_binary_split"):
            return self._ask("dense", split.feature_column), split.threshold
        if kind.startswith("sparse_float"):
            goes_left = kind.endswith("left")
            place = split.split.feature_column, split.split.dimension_id
            return self._ask("sparse", *place, goes_left), split.split.threshold
        if kind == "categorical_id_set_membership_binary_split":
            ids = tuple(split.feature_ids)
        else:
            ids = (split.feature_id,)
        return self._ask("ids", split.feature_column, ids), _IS_THERE

    def _oblivious(self, nodes: list[TreeNode]) -> tuple[Any, Any, _Array]:
        """The whole tree: its nodes level by level, the leaves last."""
        kinds = [node.WhichOneof("node") for node in nodes]
        depth = kinds.index("leaf") if "leaf" in kinds else len(nodes)
        inner = (1 << depth) - 1
        if len(nodes) < depth + inner + 1 or set(kinds[depth:]) != {"leaf"}:
            raise invalid_argument(
                f"An oblivious tree of {depth} splits needs {inner + 1} leaves."
            )
        asked = [
            self._asked(str(kind), getattr(node, str(kind)))
            for node, kind in zip(nodes[:depth], kinds[:depth], strict=True)
        ]
        splits: list[Any] = []
        for level, (question, threshold) in enumerate(asked):
            for _ in range(1 << level):
                at = len(splits)
                splits.append((question, threshold, 2 * at + 1, 2 * at + 2))
        leaves = [None] * inner + [node.leaf for node in nodes[depth:][: inner + 1]]
        splits += [None] * (inner + 1)
        numbers = np.arange(2 * inner + 1, dtype=np.int32) - inner + depth
        return splits, leaves, numbers

    @property
    def dimensions(self) -> int:
        """How many dimensions the leaves speak of."""
        leaves = [leaf for leaf in self.leaves if leaf is not None]
        dense = [len(leaf.vector.value) for leaf in leaves]
        sparse = [index + 1 for leaf in leaves for index in leaf.sparse_vector.index]
        return int(max([1, *dense, *sparse]))

    def logits(self, dimensions: int) -> _Array:
        """What the leaves add, float32 [nodes, dimensions].

        Raises:
          errors.InvalidArgumentError: a leaf speaks of a dimension that is not there.
        """
        known = self._logits.get(dimensions)
        if known is None:
            known = np.zeros((len(self.leaves), dimensions), np.float32)
            for row, leaf in zip(known, self.leaves, strict=True):
                if leaf is not None:
                    _add_leaf(row, leaf, dimensions)
            self._logits[dimensions] = known
        return known


def _add_leaf(row: _Array, leaf: Leaf, dimensions: int) -> None:
    if leaf.HasField("sparse_vector"):
        places, values = list(leaf.sparse_vector.index), leaf.sparse_vector.value
    else:
        values = leaf.vector.value
        places = list(range(len(values)))
    if places and not 0 <= min(places) <= max(places) < dimensions:
        raise invalid_argument(
            f"A leaf has a value of dimension {max(places)}, of {dimensions}."
        )
    np.add.at(row, places, np.array(values, np.float32))
