"""Kernels that find the best split of each leaf by one feature column."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.gradient_trees.node_stats import (
    NodeStats,
    Regularization,
    Sums,
)
from tensorloom.protos.gradient_trees_splits_pb2 import ObliviousSplitInfo, SplitInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.protos.gradient_trees_pb2 import Leaf

_Array = NDArray[Any]
_F = np.float32
OBLIVIOUS: Final = 1


class _Layer:
    """What the ops have in common: sums by leaf, and how splits are judged.

    Args:
      minibatches: how many batches the sums are of.
      partitions: int32 [slots], sorted: the leaf of each sum.
      features: int64 [slots, 2].
      sums: gradients and hessians of the slots.
      rules: class, feature column, l1, l2, complexity, node weight and strategy.
      unsorted: what to say of leaves that are not sorted.
    """

    def __init__(
        self,
        minibatches: Any,
        partitions: _Array,
        features: _Array,
        sums: Sums,
        rules: Sequence[Any],
        unsorted: str,
    ) -> None:
        class_id, column, l1, l2, complexity, weight, strategy = rules
        if np.ndim(class_id):
            raise invalid_argument("class_id must be a scalar.")
        if np.any(partitions[1:] < partitions[:-1]):
            raise invalid_argument(unsorted)
        self.class_id, self.column = int(class_id), int(column)
        self.complexity = _F(complexity)
        self._rules = Regularization(_F(l1), _F(l2), _F(weight), int(strategy))
        self._ratio = _F(1) / _F(int(minibatches))
        self._sums = sums
        self.features = features
        changes = np.flatnonzero(partitions[1:] != partitions[:-1]) + 1
        bounds = [0, *changes.tolist(), len(partitions)] if len(partitions) else [0]
        self.slices = list(itertools.pairwise(bounds))
        self.leaves = partitions

    def slots(self, begin: int, end: int) -> Sums:
        """The sums of some slots, divided by the number of batches."""
        return self._sums.at(slice(begin, end)).scaled(self._ratio)

    def total(self, begin: int, end: int) -> Sums:
        """Their sum, divided after it was added up."""
        return self._sums.at(slice(begin, end)).total().scaled(self._ratio)

    def judge(self, sums: Sums) -> NodeStats:
        """What nodes with these sums gain and say."""
        return self._rules.judge(sums)

    def bias(self, begin: int, bias_feature: int, dimension_too: bool) -> Sums:
        """The sum of a leaf's examples, which is its first slot.

        Raises:
          errors.InvalidArgumentError: the first slot is another.
        """
        feature, dimension = self.features[begin]
        if feature != bias_feature:
            raise invalid_argument("Bias feature ID missing.")
        if dimension_too and dimension != 0:
            raise invalid_argument("Bias feature ID must be with dimension 0.")
        return self.slots(begin, begin + 1)

    def fill(self, leaf: Leaf, stats: NodeStats, node: int) -> None:
        """Writes what a node says into a leaf."""
        weights = stats.weights[node].tolist() if stats.have_weights[node] else []
        if self.class_id == -1:
            if weights:  # without any, the leaf is of no kind
                leaf.vector.value.extend(weights)
            return
        if len(weights) != 1:
            raise invalid_argument(
                f"A tree of class {self.class_id} needs one weight, got {len(weights)}."
            )
        leaf.sparse_vector.index.append(self.class_id)
        leaf.sparse_vector.value.extend(weights)

    def net_gain(self, best: np.float32, root: Sums) -> np.float32:
        """What a split gains above its leaf and its complexity."""
        gain: np.float32 = best - self.judge(root).gains[0] - self.complexity
        return gain


def _outputs(found: list[tuple[int, np.float32, Any]]) -> tuple[_Array, _Array, _Array]:
    infos = np.empty(len(found), object)
    infos[:] = [info.SerializeToString(deterministic=True) for _, _, info in found]
    return (
        np.array([leaf for leaf, _, _ in found], np.int32),
        np.array([gain for _, gain, _ in found], _F),
        infos,
    )


def _best(gains: _Array) -> int:
    """The first of the highest gains; a gain that is no number is the lowest."""
    return int(np.argmax(np.where(np.isnan(gains), -np.inf, gains)))


def _two_leaves(
    layer: _Layer, info: SplitInfo, left: NodeStats, right: NodeStats, at: int
) -> None:
    layer.fill(info.left_child, left, at)
    layer.fill(info.right_child, right, at)


# --- by dense numbers --------------------------------------------------------


@host_kernel("BuildDenseInequalitySplits", large=True)
def dense(c: OpKernelConstruction) -> Compute:
    """Tries each boundary: what is not above it goes to the left."""

    def compute(
        minibatches: Any,
        partitions: _Array,
        buckets: _Array,
        gradients: _Array,
        hessians: _Array,
        boundaries: _Array,
        *rules: Any,
    ) -> Any:
        sums = Sums(gradients, hessians)
        layer = _Layer(
            minibatches,
            partitions,
            buckets,
            sums,
            rules[:-1],
            "Input should be sorted.",
        )
        if not len(boundaries) or not layer.slices:
            return _outputs([])
        _check_buckets(buckets, boundaries)
        if int(rules[-1]) == OBLIVIOUS:
            return _oblivious_dense(layer, boundaries)
        return _outputs(
            [_dense_split(layer, boundaries, *part) for part in layer.slices]
        )

    return compute


def _check_buckets(buckets: _Array, boundaries: _Array) -> None:
    if buckets[:, 0].max() >= len(boundaries):
        raise invalid_argument(
            f"Got bucket {buckets[:, 0].max()}, of {len(boundaries)} boundaries."
        )


def _dense_split(
    layer: _Layer, boundaries: _Array, begin: int, end: int
) -> tuple[int, np.float32, SplitInfo]:
    root = layer.total(begin, end)
    below = layer.slots(begin, end).running()
    left, right = layer.judge(below), layer.judge(root - below)
    gains = left.gains + right.gains
    at = _best(gains)
    info = SplitInfo()
    split = info.split_node.dense_float_binary_split
    split.feature_column = layer.column
    split.threshold = boundaries[layer.features[begin + at, 0]]
    _two_leaves(layer, info, left, right, at)
    return int(layer.leaves[begin]), layer.net_gain(gains[at], root), info


def _oblivious_dense(layer: _Layer, boundaries: _Array) -> Any:
    parts = layer.slices
    tried = np.unique(layer.features[:, 0])
    roots = [layer.total(begin, end) for begin, end in parts]

    def below(begin: int, end: int) -> Sums:
        """Sums up to each tried bucket, whether or not the leaf has it."""
        spread = _spread(layer, begin, end, tried)
        return spread.running()

    bucket, gain, info = _oblivious(layer, parts, roots, tried, below)
    split = info.split_node.oblivious_dense_float_binary_split
    split.feature_column, split.threshold = layer.column, boundaries[bucket]
    return _oblivious_outputs(layer, parts, gain, info)


def _spread(layer: _Layer, begin: int, end: int, tried: _Array) -> Sums:
    """The sums of a leaf for each tried bucket; zeros where it has none."""
    own = layer.slots(begin, end)
    at = np.searchsorted(tried, layer.features[begin:end, 0])
    spread = []
    for part in own:
        wide = np.zeros((len(tried), *part.shape[1:]), _F)
        wide[at] = part
        spread.append(wide)
    return Sums(*spread)


def _oblivious(
    layer: _Layer,
    parts: Sequence[tuple[int, int]],
    roots: Sequence[Sums],
    tried: _Array,
    left_sums: Callable[[int, int], Sums],
) -> tuple[int, np.float32, ObliviousSplitInfo]:
    """The best of the tried values to split all leaves by."""
    total = np.zeros(len(tried), _F)
    sides = []
    for (begin, end), root in zip(parts, roots, strict=True):
        left_sum = left_sums(begin, end)
        left, right = layer.judge(left_sum), layer.judge(root - left_sum)
        total = total + (left.gains + right.gains)
        sides += [left, right]
    at = _best(total)
    gain = total[at]
    for root in roots:
        gain = gain - layer.judge(root).gains[0]
    gain = gain - _F(len(roots)) * layer.complexity
    info = ObliviousSplitInfo()
    for side in sides:
        layer.fill(info.children.add(), side, at)
    info.children_parent_id.extend(int(layer.leaves[begin]) for begin, _ in parts)
    return int(tried[at]), gain, info


def _oblivious_outputs(
    layer: _Layer,
    parts: Sequence[tuple[int, int]],
    gain: np.float32,
    info: ObliviousSplitInfo,
) -> Any:
    """All leaves, but one gain and one split."""
    _, gains, infos = _outputs([(0, gain, info)])
    leaves = [layer.leaves[begin] for begin, _ in parts]
    return np.array(leaves, np.int32), gains, infos


# --- by sparse numbers -------------------------------------------------------


@host_kernel("BuildSparseInequalitySplits", large=True)
def sparse(c: OpKernelConstruction) -> Compute:
    """Tries each boundary of each dimension, and both ways for missing values."""

    def compute(
        minibatches: Any,
        partitions: _Array,
        buckets: _Array,
        gradients: _Array,
        hessians: _Array,
        boundaries: _Array,
        class_id: Any,
        column: Any,
        bias_feature: Any,
        *rules: Any,
    ) -> Any:
        layer = _Layer(
            minibatches,
            partitions,
            buckets,
            Sums(gradients, hessians),
            (class_id, column, *rules),
            "Partition ids should be sorted.",
        )
        if len(boundaries):
            _check_buckets(buckets.reshape(-1, 2)[: len(partitions)], boundaries)
        bias = int(bias_feature)
        return _outputs(
            [
                _sparse_split(layer, boundaries, bias, begin, end)
                for begin, end in layer.slices
                if end - begin > 1
            ]
        )

    return compute


def _sparse_split(
    layer: _Layer, boundaries: _Array, bias_feature: int, begin: int, end: int
) -> tuple[int, np.float32, SplitInfo]:
    root = layer.bias(begin, bias_feature, dimension_too=True)
    rows = np.arange(begin + 1, end)
    dimensions = layer.features[rows, 1]
    starts = [0, *(np.flatnonzero(np.diff(dimensions)) + 1).tolist(), len(rows)]
    lefts, rights, fixed = [], [], []
    for first, last in itertools.pairwise(starts):
        part = int(rows[first]), int(rows[last - 1]) + 1
        buckets = layer.features[slice(*part), 0]
        if np.any(buckets[1:] <= buckets[:-1]):
            raise invalid_argument("Bucket ids must be sorted.")
        present = layer.total(*part)
        below = layer.slots(*part).running()
        above = present - below
        lefts.append(_paired(root - above, below))
        rights.append(_paired(above, root - below))
        is_full = (root - present).are_almost_zero()[0]
        fixed.append(np.full(last - first, is_full))
    left, right = layer.judge(_flat(lefts)), layer.judge(_flat(rights))
    gains = (left.gains + right.gains).reshape(-1, 2)
    gains[np.concatenate(fixed), 1] = -np.inf
    at = _best(gains.reshape(-1))
    row = int(rows[at // 2])
    info = SplitInfo()
    node = info.split_node
    if at % 2:
        split = node.sparse_float_binary_split_default_right.split
    else:
        split = node.sparse_float_binary_split_default_left.split
    split.feature_column = layer.column
    split.dimension_id = int(layer.features[row, 1])
    split.threshold = boundaries[layer.features[row, 0]]
    _two_leaves(layer, info, left, right, at)
    gain = layer.net_gain(gains.reshape(-1)[at], root)
    return int(layer.leaves[begin]), gain, info


def _paired(missing_left: Sums, missing_right: Sums) -> Sums:
    """The sums of both ways for missing values, [candidates, 2, ...]."""
    pairs = zip(missing_left, missing_right, strict=True)
    return Sums(*(np.stack(pair, axis=1) for pair in pairs))


def _flat(sums: Sequence[Sums]) -> Sums:
    """Of each candidate its two sums, one after the other."""
    parts = [np.concatenate(part) for part in zip(*sums, strict=True)]
    return Sums(*(part.reshape(-1, *part.shape[2:]) for part in parts))


# --- by categories -----------------------------------------------------------


@host_kernel("BuildCategoricalEqualitySplits", large=True)
def categorical(c: OpKernelConstruction) -> Compute:
    """Tries each category: what has it goes to the left."""

    def compute(
        minibatches: Any,
        partitions: _Array,
        features: _Array,
        gradients: _Array,
        hessians: _Array,
        class_id: Any,
        column: Any,
        bias_feature: Any,
        *rules: Any,
    ) -> Any:
        layer = _Layer(
            minibatches,
            partitions,
            features,
            Sums(gradients, hessians),
            (class_id, column, *rules[:-1]),
            "Partition IDs must be sorted.",
        )
        bias = int(bias_feature)
        parts = [(begin, end) for begin, end in layer.slices if end - begin > 1]
        if not parts:
            return _outputs([])
        if int(rules[-1]) == OBLIVIOUS:
            return _oblivious_categorical(layer, bias, parts)
        return _outputs([_categorical_split(layer, bias, *part) for part in parts])

    return compute


def _categorical_split(
    layer: _Layer, bias_feature: int, begin: int, end: int
) -> tuple[int, np.float32, SplitInfo]:
    root = layer.bias(begin, bias_feature, dimension_too=False)
    those = layer.slots(begin + 1, end)
    left, right = layer.judge(those), layer.judge(root - those)
    gains = left.gains + right.gains
    at = _best(gains)
    info = SplitInfo()
    split = info.split_node.categorical_id_binary_split
    split.feature_column = layer.column
    split.feature_id = int(layer.features[begin + 1 + at, 0])
    _two_leaves(layer, info, left, right, at)
    return int(layer.leaves[begin]), layer.net_gain(gains[at], root), info


def _oblivious_categorical(
    layer: _Layer, bias_feature: int, parts: Sequence[tuple[int, int]]
) -> Any:
    roots = [layer.bias(begin, bias_feature, dimension_too=False) for begin, _ in parts]
    rows = [layer.features[begin + 1 : end, 0] for begin, end in parts]
    tried = np.unique(np.concatenate(rows))
    feature, gain, info = _oblivious(
        layer,
        parts,
        roots,
        tried,
        lambda begin, end: _spread(layer, begin + 1, end, tried),
    )
    split = info.split_node.oblivious_categorical_id_binary_split
    split.feature_column, split.feature_id = layer.column, feature
    return _oblivious_outputs(layer, parts, gain, info)
