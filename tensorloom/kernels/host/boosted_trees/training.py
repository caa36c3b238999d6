"""Growing ensembles of boosted trees, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.gains import (
    gain_is_larger,
    gains_are_equal,
    weights_and_gains,
)
from tensorloom.kernels.host.boosted_trees.pruning import prune
from tensorloom.kernels.host.boosted_trees.resource import (
    Ensemble,
    leaf_logits,
    named_resource,
    node_logits,
    write_leaf,
)
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]
_F = np.float32
_PRE_PRUNING: Final = 1
_POST_PRUNING: Final = 2
_BIAS_TOLERANCE: Final = 0.01  # centering goes on while the bias moves by more


# --- the resource ------------------------------------------------------------


@host_kernel("BoostedTreesEnsembleResourceHandleOp", large=True)
def handle(c: OpKernelConstruction) -> Compute:
    """The ensemble of this node, or of its shared name; not created yet."""
    return named_resource(c, Ensemble)


@host_kernel("IsBoostedTreesEnsembleInitialized", large=True)
def is_initialized(c: OpKernelConstruction) -> Compute:
    """Whether it was created."""
    return lambda ensemble: np.bool_(ensemble.is_created)


@host_kernel("BoostedTreesCreateEnsemble", large=True)
def create(c: OpKernelConstruction) -> Compute:
    """Creates the ensemble, unless it is there."""

    def compute(ensemble: Ensemble, stamp: Any, serialized: Any) -> None:
        with ensemble.lock:
            if not ensemble.is_created:
                ensemble.load(serialized.item(), int(stamp))

    return compute


@host_kernel("BoostedTreesDeserializeEnsemble", large=True)
def deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces the ensemble."""

    def compute(ensemble: Ensemble, stamp: Any, serialized: Any) -> None:
        with ensemble.lock:
            _ = ensemble.proto
            ensemble.load(serialized.item(), int(stamp))

    return compute


@host_kernel("BoostedTreesSerializeEnsemble", large=True)
def serialize(c: OpKernelConstruction) -> Compute:
    """Stamp and serialized form."""

    def compute(ensemble: Ensemble) -> tuple[Any, Any]:
        with ensemble.lock:
            text = np.array(ensemble.proto.SerializeToString(), object)
            return np.int64(ensemble.stamp), text

    return compute


@host_kernel("BoostedTreesGetEnsembleStates", large=True)
def states(c: OpKernelConstruction) -> Compute:
    """Stamp, trees, finalized trees, attempted layers, nodes of the last layer."""

    def compute(ensemble: Ensemble) -> tuple[Any, ...]:
        with ensemble.lock:
            proto = ensemble.proto
            trees, growing = len(proto.trees), proto.growing_metadata
            finished = trees
            if trees and not proto.tree_metadata[trees - 1].is_finalized:
                finished -= 1
            # An ensemble without trees grows from the node 0 of its first.
            end = max(growing.last_layer_node_end, 1)
            span = [growing.last_layer_node_start, end]
            return (
                np.int64(ensemble.stamp),
                np.int32(trees),
                np.int32(finished),
                np.int32(growing.num_layers_attempted),
                np.array(span, np.int32),
            )

    return compute


@host_kernel("BoostedTreesCenterBias", large=True)
def center_bias(c: OpKernelConstruction) -> Compute:
    """Moves the bias by a Newton step; true while that still changes it."""

    def compute(
        ensemble: Ensemble, gradients: _Array, hessians: _Array, l1: Any, l2: Any
    ) -> Any:
        with ensemble.lock:
            proto = ensemble.proto
            ensemble.stamp += 1
            steps, _ = weights_and_gains(
                gradients.reshape(-1), hessians.reshape(-1), l1, l2
            )
            if not len(proto.trees):
                ensemble.add_tree(steps.tolist())
                bias = steps
            else:
                leaf = proto.trees[0].nodes[0].leaf
                bias = np.array(leaf_logits(leaf), _F) + steps
                write_leaf(leaf, bias.tolist())
            return np.bool_((np.abs(steps / bias) > _BIAS_TOLERANCE).any())

    return compute


# --- layers ------------------------------------------------------------------


class _Split(NamedTuple):
    """A candidate of a node: a row of one feature's lists."""

    feature: int
    dimension: int
    threshold: int
    gain: Any
    left: _Array
    right: _Array
    kind: bytes


# Of the lists of a feature: nodes, gains, thresholds, and what both sides add; then
# kinds and dimensions.
_RANKS: Final = (1, 1, 1, 2, 2)
_RANKS_V2: Final = (*_RANKS, 1, 1)


def _features(
    feature_ids: _Array, lists: Sequence[Sequence[_Array]], count: int
) -> Iterable[Any]:
    """The number of each feature with its lists; what ids there are more is not read.

    Raises:
      InvalidArgumentError: there are fewer ids than features.
    """
    shape = np.shape(feature_ids)
    if len(shape) != 1 or shape[0] < count:
        raise invalid_argument(
            f"feature_ids must be a vector of {count} elements, got shape "
            f"{shape_text(shape)}"
        )
    return zip(feature_ids.tolist(), *lists, strict=False)


def _rows(columns: Sequence[_Array], ranks: Sequence[int]) -> Iterable[Any]:
    """The rows of the lists of a feature, of which the first has all that are read.

    Raises:
      InvalidArgumentError: a list is of another rank, or shorter.
    """
    nodes = np.size(columns[0])
    for column, rank in zip(columns, ranks, strict=True):
        shape = np.shape(column)
        if len(shape) != rank or shape[0] < nodes:
            raise invalid_argument(
                f"The splits of {nodes} nodes need lists of rank {rank} with as many "
                f"rows, got shape {shape_text(shape)}"
            )
    return zip(*columns, strict=False)


@host_kernel("BoostedTreesUpdateEnsemble", large=True)
def update(c: OpKernelConstruction) -> Compute:
    """Adds a layer of inequality splits."""
    pruning, count = c["pruning_mode"], c["num_features"]

    def compute(ensemble: Ensemble, feature_ids: _Array, *rest: Any) -> None:
        lists = [rest[i * count : (i + 1) * count] for i in range(5)]
        max_depth, rate = rest[5 * count :]
        candidates: dict[int, list[_Split]] = {}
        for feature, *columns in _features(feature_ids, lists, count):
            for node, gain, threshold, left, right in _rows(columns, _RANKS):
                split = _Split(feature, 0, int(threshold), gain, left, right, b"")
                candidates.setdefault(int(node), []).append(split)
        _grow(ensemble, candidates, pruning, int(max_depth), _F(rate.item()))

    return compute


@host_kernel("BoostedTreesUpdateEnsembleV2", large=True)
def update_v2(c: OpKernelConstruction) -> Compute:
    """Adds a layer of splits of any kind and dimension."""
    count = c["num_features"]

    def compute(ensemble: Ensemble, feature_ids: _Array, *rest: Any) -> None:
        lists = [rest[i * count : (i + 1) * count] for i in range(7)]
        max_depth, rate, pruning = rest[7 * count :]
        candidates: dict[int, list[_Split]] = {}
        for feature, dimensions, *columns in _features(feature_ids, lists, count):
            rows = _rows([*columns, dimensions], _RANKS_V2)
            for node, gain, threshold, left, right, kind, dimension in rows:
                split = _Split(
                    feature, int(dimension), int(threshold), gain, left, right, kind
                )
                candidates.setdefault(int(node), []).append(split)
        _grow(ensemble, candidates, int(pruning), int(max_depth), _F(rate.item()))

    return compute


def _best(splits: list[_Split]) -> _Split:
    """The largest gain; of equal ones the smallest feature."""
    best = splits[0]
    for split in splits[1:]:
        if gains_are_equal(split.gain, best.gain):
            if split.feature < best.feature:
                best = split
        elif gain_is_larger(split.gain, best.gain):
            best = split
    return best


def _grow(
    ensemble: Ensemble,
    candidates: dict[int, list[_Split]],
    pruning: int,
    max_depth: int,
    rate: np.float32,
) -> None:
    with ensemble.lock:
        proto = ensemble.proto
        ensemble.stamp += 1
        logits = _dimensions(candidates)
        _count_attempt(proto)
        current = len(proto.trees) - 1
        if current < 0:
            current = ensemble.add_tree([0.0] * logits)
        tree, metadata = proto.trees[current], proto.tree_metadata[current]
        start = len(tree.nodes)
        for node in sorted(candidates):
            split = _best(candidates[node])
            if pruning == _PRE_PRUNING and split.gain < 0:
                continue
            _add_split(tree, node, split, rate)
        end = len(tree.nodes)
        if end == start:
            return
        metadata.num_layers_grown += 1
        if metadata.num_layers_grown >= max_depth:
            start, end = 0, 1
            metadata.is_finalized = True
            if pruning == _POST_PRUNING:
                prune(tree, metadata)
            ensemble.add_tree([0.0] * logits)
        growing = proto.growing_metadata
        growing.last_layer_node_start, growing.last_layer_node_end = start, end


def _dimensions(candidates: dict[int, list[_Split]]) -> int:
    for splits in candidates.values():
        return len(np.atleast_1d(splits[0].left))
    return 1


def _count_attempt(proto: Any) -> None:
    """Counts an attempted layer, and a tree where the layer is its first."""
    growing, trees = proto.growing_metadata, len(proto.trees)
    growing.num_layers_attempted += 1
    is_new = trees == 1 or (trees > 1 and proto.tree_metadata[trees - 2].is_finalized)
    if not trees or (is_new and len(proto.trees[trees - 1].nodes) == 1):
        growing.num_trees_attempted += 1


def _add_split(tree: Any, number: int, split: _Split, rate: np.float32) -> None:
    """Turns a leaf into a split with two leaves."""
    if not 0 <= number < len(tree.nodes):
        message = f"There is no node {number} in a tree of {len(tree.nodes)}"
        raise errors.InvalidArgumentError(None, None, message)
    node = tree.nodes[number]
    before = np.array(node_logits(node), _F)
    if number or before.any():
        node.metadata.original_leaf.CopyFrom(node.leaf)
    node.metadata.gain = float(split.gain)
    left = len(tree.nodes)
    if split.kind.upper().startswith(b"EQUALITY"):
        made: Any = node.categorical_split
        made.value = split.threshold
    else:
        made = node.bucketized_split
        made.threshold = split.threshold
        if split.kind.upper() == b"INEQUALITY_DEFAULT_RIGHT":
            made.default_direction = 1
    made.feature_id, made.dimension_id = split.feature, split.dimension
    made.left_id, made.right_id = left, left + 1
    for change in (split.left, split.right):
        step = rate * np.atleast_1d(np.asarray(change, _F))
        write_leaf(tree.nodes.add().leaf, (before + step).tolist())
