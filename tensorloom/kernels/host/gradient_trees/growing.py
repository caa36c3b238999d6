"""The kernel that lets an ensemble grow: the best splits become a layer of nodes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.gradient_trees.dropout import dropped_trees, new_weights
from tensorloom.kernels.host.gradient_trees.ensemble_resource import (
    Ensemble,
    parse_learner,
)
from tensorloom.kernels.host.gradient_trees.pruning import link_children, prune
from tensorloom.kernels.host.gradient_trees.splits import OBLIVIOUS
from tensorloom.protos.gradient_trees_pb2 import Leaf, TreeNode
from tensorloom.protos.gradient_trees_splits_pb2 import ObliviousSplitInfo, SplitInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.protos.gradient_trees_learner_pb2 import LearnerConfig
    from tensorloom.protos.gradient_trees_pb2 import DecisionTreeConfig

_Array = NDArray[Any]
_F = np.float32
_LOG = logging.getLogger("tensorloom")
# The field of each kind of node, which tells the simpler of two splits.
_FIELD: Final = {
    field.name: field.number
    for field in TreeNode.DESCRIPTOR.oneofs_by_name["node"].fields
}


@dataclass
class _Candidate:
    """A split of one leaf, or of all of an oblivious tree."""

    handler: int  # that proposes it
    gain: float
    info: Any  # SplitInfo or ObliviousSplitInfo

    def beats(self, other: _Candidate) -> bool:
        """Whether it gains more; among equals, is simpler or of a later handler."""
        if self.gain != other.gain:
            return self.gain > other.gain
        mine, others = (
            _FIELD[candidate.info.split_node.WhichOneof("node")]
            for candidate in (self, other)
        )
        return mine < others or (mine == others and self.handler > other.handler)


@host_kernel("GrowTreeEnsemble", large=True)
def grow(c: OpKernelConstruction) -> Compute:
    """Adds a layer to the growing tree, or begins one; nothing if no split is good."""
    learner = parse_learner(c["learner_config"])
    count, centers = c["num_handlers"], c["center_bias"]

    def compute(
        ensemble: Ensemble,
        stamp: Any,
        after: Any,
        learning_rate: Any,
        seed: Any,
        max_depth: Any,
        weak_learner: Any,
        *inputs: _Array,
    ) -> None:
        proposed = inputs[:count], inputs[count : 2 * count], inputs[2 * count :]
        is_oblivious = int(weak_learner) == OBLIVIOUS
        with ensemble.lock:
            ensemble.move_on(int(stamp), int(after))
            ensemble.count_attempt()
            if is_oblivious:
                best = _best_oblivious(learner, *proposed[1:])
            else:
                best = _best_of_leaves(learner, *proposed)
            if not best:
                _LOG.warning("Not growing tree ensemble as no good splits were found.")
                return
            grower = _Grower(ensemble, learner, centers, int(max_depth))
            grower.begin_layer(float(learning_rate), int(seed))
            if is_oblivious:
                grower.split_layer(best[0])
            else:
                for leaf in sorted(best):
                    grower.split_leaf(leaf, best[leaf])
            grower.end_layer(float(learning_rate), is_oblivious)

    return compute


# --- the best splits ---------------------------------------------------------


def _parsed(kind: Any, serialized: Any, what: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(serialized)
    except DecodeError:
        raise invalid_argument(f"Unable to parse {what}.") from None


def _has_values(leaf: Leaf) -> bool:
    return leaf.WhichOneof("leaf") is not None


def _best_of_leaves(
    learner: LearnerConfig,
    partitions: Sequence[_Array],
    gains: Sequence[_Array],
    splits: Sequence[_Array],
) -> dict[int, _Candidate]:
    """The best split of each leaf."""
    best: dict[int, _Candidate] = {}
    for handler, (leaves, of_leaves, infos) in enumerate(
        zip(partitions, gains, splits, strict=True)
    ):
        for name, others in (("gains", of_leaves), ("splits", infos)):
            if len(leaves) != len(others):
                raise invalid_argument(
                    f"Inconsistent partition Ids and {name} tensors: "
                    f"{len(leaves)} != {len(others)}"
                )
        for leaf, gain, info in zip(leaves.tolist(), of_leaves, infos, strict=True):
            split = _parsed(SplitInfo, info, "split info")
            if split.split_node.WhichOneof("node") is None:
                continue
            _consider(
                learner,
                best,
                leaf,
                _Candidate(handler, float(gain), split),
                _has_values(split.left_child) and _has_values(split.right_child),
            )
    return best


def _best_oblivious(
    learner: LearnerConfig, gains: Sequence[_Array], splits: Sequence[_Array]
) -> dict[int, _Candidate]:
    """The best split of the layer, under 0."""
    best: dict[int, _Candidate] = {}
    for handler, (of_handler, infos) in enumerate(zip(gains, splits, strict=True)):
        for name, values in (("Gains", of_handler), ("Splits", infos)):
            if len(values) != 1:
                raise invalid_argument(
                    f"{name} size must be one for oblivious weak learner: "
                    f"{len(values)} != 1"
                )
        info = _parsed(ObliviousSplitInfo, infos[0], "oblivious split info")
        children = list(info.children)
        if len(children) % 2:
            raise invalid_argument(
                "The oblivious split should generate an even number of children: "
                f"{len(children)}"
            )
        divides = any(
            _has_values(left) and _has_values(right)
            for left, right in zip(children[::2], children[1::2], strict=True)
        )
        candidate = _Candidate(handler, float(of_handler[0]), info)
        _consider(learner, best, 0, candidate, divides)
    return best


def _consider(
    learner: LearnerConfig,
    best: dict[int, _Candidate],
    place: int,
    candidate: _Candidate,
    divides: bool,
) -> None:
    """Takes a candidate if it is good and better than the one before."""
    prunes = learner.pruning_mode == learner.PRE_PRUNE
    if not divides or (prunes and candidate.gain < 0):
        return
    if place not in best or candidate.beats(best[place]):
        best[place] = candidate


# --- the layer ---------------------------------------------------------------


class _Grower:
    """Adds a layer to an ensemble."""

    def __init__(
        self, ensemble: Ensemble, learner: LearnerConfig, centers: bool, max_depth: int
    ) -> None:
        self._ensemble, self._learner = ensemble, learner
        self._centers, self._max_depth = centers, max_depth

    @property
    def _tree(self) -> DecisionTreeConfig:
        return self._ensemble.proto.trees[-1]

    def begin_layer(self, learning_rate: float, seed: int) -> None:
        """Counts the layer; begins a tree of one leaf if the last one is finished."""
        if self._ensemble.last_is_finished:
            self._ensemble.add_tree(learning_rate).nodes.add().leaf.SetInParent()
            metadata = self._ensemble.last_metadata
            metadata.is_finalized = self._max_depth <= 1
            metadata.num_tree_weight_updates = 1
        else:
            metadata = self._ensemble.last_metadata
            metadata.num_layers_grown += 1
            metadata.is_finalized = metadata.num_layers_grown >= self._max_depth
        tuner = self._learner.learning_rate_tuner
        if metadata.is_finalized and tuner.WhichOneof("tuner") == "dropout":
            self._weigh_anew(seed)

    def _weigh_anew(self, seed: int) -> None:
        """Shares the weight of the trees that were left out with the new one."""
        proto = self._ensemble.proto
        last = len(proto.trees) - 1
        kept = {0, last} if self._centers else {last}
        dropout = self._learner.learning_rate_tuner.dropout
        dropped = dropped_trees(seed, dropout, kept, last + 1)
        if dropped:
            weights = new_weights(list(proto.tree_weights), dropped, last)
            for tree, weight in weights.items():
                proto.tree_weights[tree] = weight
                proto.tree_metadata[tree].num_tree_weight_updates += 1

    def split_leaf(self, place: int, candidate: _Candidate) -> None:
        """Makes a node of a leaf, with two leaves below it."""
        nodes = self._tree.nodes
        if not 0 <= place < len(nodes) or nodes[place].WhichOneof("node") != "leaf":
            raise invalid_argument(f"Node {place} is no leaf that can be split.")
        leaf, info = nodes[place].leaf, candidate.info
        children = [len(nodes), len(nodes) + 1]
        for child in (info.left_child, info.right_child):
            nodes.add().leaf.CopyFrom(self._merged(leaf, child))
        node = info.split_node
        link_children(node, children)
        node.node_metadata.gain = candidate.gain
        if self._learner.pruning_mode == self._learner.POST_PRUNE:
            node.node_metadata.original_leaf.CopyFrom(leaf)
        nodes[place].CopyFrom(node)
        if self._learner.constraints.max_number_of_unique_feature_columns:
            self._ensemble.use_handler(candidate.handler)

    def split_layer(self, candidate: _Candidate) -> None:
        """Splits all leaves of an oblivious tree in the same way."""
        nodes, info = self._tree.nodes, candidate.info
        kinds = [node.WhichOneof("node") for node in nodes]
        depth = kinds.index("leaf")
        old = [Leaf.FromString(node.leaf.SerializeToString()) for node in nodes[depth:]]
        if len(old) != 1 << depth or len(info.children) > 2 * len(old):
            raise invalid_argument(
                f"Too many new children, expected <= {2 << depth} and got "
                f"{len(info.children)}"
            )
        new: list[Leaf] = []
        parents = list(info.children_parent_id)
        taken = 0
        for place, leaf in enumerate(old):
            if taken < len(parents) and parents[taken] == depth + place:
                pair = info.children[2 * taken], info.children[2 * taken + 1]
                new += [self._merged(leaf, child) for child in pair]
                taken += 1
            else:
                new += [leaf, leaf]
        if taken != len(parents):
            raise invalid_argument(f"Node {parents[taken]} is no leaf of the layer.")
        node = info.split_node
        node.node_metadata.gain = candidate.gain
        node.node_metadata.original_oblivious_leaves.extend(old)
        del nodes[depth:]
        nodes.append(node)
        for leaf in new:
            nodes.add().leaf.CopyFrom(leaf)

    def _merged(self, old: Leaf, new: Leaf) -> Leaf:
        """What a new leaf says: where trees grow by layers, it adds to the old one."""
        if self._learner.growing_mode == self._learner.WHOLE_TREE:
            return new
        if new.WhichOneof("leaf") is None:
            return old
        return merge_leaves(old, new)

    def end_layer(self, learning_rate: float, is_oblivious: bool) -> None:
        """Prunes a finished tree, if that is asked for, and begins a given one."""
        learner, ensemble = self._learner, self._ensemble
        if (
            learner.pruning_mode != learner.POST_PRUNE
            or not ensemble.last_metadata.is_finalized
        ):
            return
        if is_oblivious:
            raise invalid_argument(
                "Post-pruning is not implemented for oblivious trees."
            )
        prune(self._tree)
        if not self._tree.nodes:
            ensemble.remove_last_tree()
        if ensemble.last_is_finished and learner.each_tree_start.nodes:
            ensemble.add_tree(learning_rate).CopyFrom(learner.each_tree_start)
            metadata = ensemble.last_metadata
            metadata.is_finalized = self._max_depth <= 1
            metadata.num_tree_weight_updates = 1
            metadata.num_layers_grown = learner.each_tree_start_num_layers


def merge_leaves(old: Leaf, new: Leaf) -> Leaf:
    """The sum of two leaves; the new one where the old one has no values.

    Raises:
      errors.InvalidArgumentError: one is a vector and the other sparse, or longer.
    """
    merged = Leaf()
    merged.CopyFrom(new)
    kind = old.WhichOneof("leaf")
    added = getattr(old, kind) if kind else None
    if added is None or not len(added.value):
        return merged
    if kind != new.WhichOneof("leaf"):
        raise invalid_argument(f"A leaf with a {kind} grows into one without.")
    if kind == "vector":
        if len(old.vector.value) != len(new.vector.value):
            raise invalid_argument(
                f"A leaf of {len(new.vector.value)} values grows from one of "
                f"{len(old.vector.value)}."
            )
        sums = [
            float(_F(a) + _F(b))
            for a, b in zip(new.vector.value, old.vector.value, strict=True)
        ]
        merged.vector.value[:] = sums
        return merged
    by_index = dict(zip(new.sparse_vector.index, new.sparse_vector.value, strict=True))
    for index, value in zip(added.index, added.value, strict=True):
        by_index[index] = float(_F(by_index.get(index, 0.0)) + _F(value))
    # The last one first, as TensorFlow's hash tables give few values back.
    merged.sparse_vector.index[:] = list(by_index)[::-1]
    merged.sparse_vector.value[:] = list(by_index.values())[::-1]
    return merged
