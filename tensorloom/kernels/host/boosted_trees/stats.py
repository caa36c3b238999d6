"""Sums of gradients by bucket, and the splits that they speak for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.boosted_trees.gains import (
    gain_is_larger,
    vector_weights_and_gains,
    weights_and_gains,
)

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]
_F = np.float32
_LEFT: Final = b"INEQUALITY_DEFAULT_LEFT"
_RIGHT: Final = b"INEQUALITY_DEFAULT_RIGHT"
_EQUAL: Final = b"EQUALITY_DEFAULT_RIGHT"
_PLACE_WORDS: Final = 32  # what a place and its sums take in tables, about
_LOWEST: Final = np.finfo(_F).min


def _check(name: str, values: _Array, limit: int) -> None:
    if values.size and not (int(values.min()) >= 0 and int(values.max()) < limit):
        raise invalid_argument(f"{name} must be in [0, {limit})")


def _zeros(shape: tuple[int, ...]) -> _Array:
    if min(shape) < 0:
        raise invalid_argument(f"Sizes must not be negative, got {list(shape)}")
    check_memory(shape, dtypes.float32, "CPU")
    return np.zeros(shape, _F)


def _nodes(node_range: _Array, *summaries: _Array) -> range:
    """The nodes [first, last), which every summary must have."""
    if node_range.shape != (2,):
        raise invalid_argument(
            f"node_id_range must have 2 elements, got {node_range.size}"
        )
    first, last = node_range.tolist()
    count = min((len(summary) for summary in summaries), default=0)
    if summaries and not 0 <= first <= last <= count:
        raise invalid_argument(
            f"node_id_range [{first}, {last}) must be in {count} nodes"
        )
    return range(first, last if summaries else first)


# --- sums --------------------------------------------------------------------


@host_kernel("BoostedTreesMakeStatsSummary", large=True)
def make_stats_summary(c: OpKernelConstruction) -> Compute:
    """[features, nodes, buckets, 2]: sums of gradients and hessians.

    Quantiles may have one boundary more than there are buckets. Then the largest values
    are counted in the first bucket of the next node, as TensorFlow counts them.
    """
    nodes, buckets = c["max_splits"], c["num_buckets"]

    def compute(
        node_ids: _Array, gradients: _Array, hessians: _Array, *features: _Array
    ) -> _Array:
        _check("node_ids", node_ids, nodes)
        out = _zeros((len(features), nodes, buckets, 2))
        for index, feature in enumerate(features):
            _check("bucketized_features", feature, buckets + 1)
            # The last node has no next one.
            kept = slice(None)
            if feature.size and int(feature.max()) == buckets:
                kept = (node_ids < nodes - 1) | (feature < buckets)
            ids, places = node_ids[kept], feature[kept]
            _sum_places(out[index, ..., 0], ids, places, gradients[kept, 0])
            _sum_places(out[index, ..., 1], ids, places, hessians[kept, 0])
        return out

    return compute


@host_kernel("BoostedTreesAggregateStats", large=True)
def aggregate_stats(c: OpKernelConstruction) -> Compute:
    """[nodes, dimensions, buckets + 1, stats]; the last bucket is of missing values."""
    nodes, buckets = c["max_splits"], c["num_buckets"]

    def compute(
        node_ids: _Array, gradients: _Array, hessians: _Array, feature: _Array
    ) -> _Array:
        _check("node_ids", node_ids, nodes)
        _check("feature", feature + 1, buckets + 1)
        stats = np.concatenate([gradients, hessians], axis=1)
        dimensions = feature.shape[1]
        out = _zeros((nodes, dimensions, buckets + 1, stats.shape[1]))
        places = np.where(feature == -1, buckets, feature)
        for dimension in range(dimensions):
            for stat in range(stats.shape[1]):
                into = out[:, dimension, :, stat]
                _sum_places(into, node_ids, places[:, dimension], stats[:, stat])
        return out

    return compute


def _sum_places(out: _Array, nodes: _Array, buckets: _Array, values: _Array) -> None:
    """Sums values by node and bucket, in float64: there may be millions in a place."""
    places = nodes.astype(np.int64) * out.shape[1] + buckets
    out[...] = np.bincount(places, values, out.size).reshape(out.shape)


@host_kernel("BoostedTreesSparseAggregateStats", large=True)
def sparse_aggregate_stats(c: OpKernelConstruction) -> Compute:
    """Sums of what a sparse feature has, and of examples that lack it."""
    nodes, buckets = c["max_splits"], c["num_buckets"]

    def compute(
        node_ids: _Array,
        gradients: _Array,
        hessians: _Array,
        indices: _Array,
        values: _Array,
        shape: _Array,
    ) -> tuple[_Array, _Array, _Array]:
        _check("node_ids", node_ids, nodes)
        stats = np.concatenate([gradients, hessians], axis=1)
        batch, dimensions = (int(size) for size in shape)
        if batch != len(node_ids) or dimensions < 0:
            raise invalid_argument(
                f"feature_shape must be [{len(node_ids)}, dimensions], got "
                f"[{batch}, {dimensions}]"
            )
        # Each example has a sum or lacks one, in every dimension.
        check_memory((batch, dimensions, _PLACE_WORDS), dtypes.int64, "CPU")
        if indices.size and not (
            (indices >= 0).all() and (indices < (batch, dimensions)).all()
        ):
            raise invalid_argument(
                f"feature_indices must be within [{batch}, {dimensions}]"
            )
        _check("feature_values", values, buckets + 1)
        sums: dict[tuple[int, int, int], _Array] = {}
        seen: set[tuple[int, int]] = set()
        for (example, dimension), bucket in zip(
            indices.tolist(), values.tolist(), strict=True
        ):
            _add(sums, (int(node_ids[example]), dimension, bucket), stats[example])
            seen.add((example, dimension))
        for example in range(batch):
            for dimension in range(dimensions):
                if (example, dimension) not in seen:
                    place = (int(node_ids[example]), dimension, buckets)
                    _add(sums, place, stats[example])
        rows = [
            (*place, stat) for place in sorted(sums) for stat in range(stats.shape[1])
        ]
        found = [sums[row[:3]][row[3]] for row in rows]
        return (
            np.array(rows, np.int32).reshape(-1, 4),
            np.array(found, _F),
            np.array([nodes, dimensions, buckets + 1, stats.shape[1]], np.int32),
        )

    return compute


def _add(sums: dict[Any, _Array], place: Any, stats: _Array) -> None:
    sums[place] = sums[place] + stats if place in sums else stats.copy()


# --- splits ------------------------------------------------------------------


class _Best(NamedTuple):
    """A split and what it gains, its parent's gain not taken off."""

    gain: Any
    dimension: int
    threshold: int
    left: _Array
    right: _Array
    kind: bytes


class _Penalties(NamedTuple):
    """The numbers that a split has to pay for."""

    l1: Any
    l2: Any
    complexity: Any
    min_weight: Any


@host_kernel("BoostedTreesCalculateBestGainsPerFeature", large=True)
def best_gains_per_feature(c: OpKernelConstruction) -> Compute:
    """For each feature the nodes that it can split, and how."""

    def compute(node_range: _Array, *rest: Any) -> tuple[_Array, ...]:
        *summaries, l1, l2, complexity, min_weight = rest
        penalties = _Penalties(_F(l1), _F(l2), _F(complexity), _F(min_weight))
        columns: list[list[_Array]] = [[] for _ in range(5)]
        for summary in summaries:
            rows = [
                (node, *found)
                for node in _nodes(node_range, summary)
                if (found := _best_inequality(summary[node], penalties)) is not None
            ]
            for index, dtype in enumerate((np.int32, _F, np.int32, _F, _F)):
                values = np.array([row[index] for row in rows], dtype)
                columns[index].append(values.reshape(-1, 1) if index > 2 else values)
        return tuple(array for column in columns for array in column)

    return compute


def _best_inequality(
    stats: _Array, penalties: _Penalties
) -> tuple[Any, int, Any, Any] | None:
    """(gain, threshold, left, right) of buckets [n, 2]; None for no good split."""
    sums = np.cumsum(stats, axis=0, dtype=_F)
    total = sums[-1]
    if total[1] < penalties.min_weight:
        return None
    rest = total - sums
    regularized = penalties.l1, penalties.l2
    _, parent = weights_and_gains(total[:1], total[1:], *regularized)
    left, left_gains = weights_and_gains(sums[:, 0], sums[:, 1], *regularized)
    right, right_gains = weights_and_gains(rest[:, 0], rest[:, 1], *regularized)
    gains = left_gains + right_gains
    best, at = _LOWEST, 0
    for bucket, gain in enumerate(gains):
        if gain_is_larger(gain, best):
            best, at = gain, bucket
    return best - parent[0] - penalties.complexity, at, left[at], right[at]


@host_kernel("BoostedTreesCalculateBestFeatureSplit", large=True)
def best_feature_split(c: OpKernelConstruction) -> Compute:
    """The nodes that a feature can split, and how."""
    logits, by_value = c["logits_dimension"], c["split_type"] == b"equality"

    def compute(
        node_range: _Array, summary: _Array, *numbers: Any
    ) -> tuple[_Array, ...]:
        penalties = _Penalties(*(_F(number) for number in numbers))
        return _split_nodes(node_range, summary, logits, by_value, penalties)

    return compute


@host_kernel("BoostedTreesSparseCalculateBestFeatureSplit", large=True)
def sparse_best_feature_split(c: OpKernelConstruction) -> Compute:
    """The nodes that a sparse feature can split, and how."""
    logits = c["logits_dimension"]

    def compute(
        node_range: _Array,
        indices: _Array,
        values: _Array,
        shape: _Array,
        *numbers: Any,
    ) -> tuple[_Array, ...]:
        penalties = _Penalties(*(_F(number) for number in numbers))
        sizes = tuple(int(size) for size in shape)
        if len(sizes) != 4:
            raise invalid_argument(
                f"stats_summary_shape must have 4 elements, got {sizes}"
            )
        if indices.size and ((indices < 0).any() or (indices >= np.array(sizes)).any()):
            raise invalid_argument(f"stats_summary_indices must be within {sizes}")
        dense = _zeros(sizes)
        np.add.at(dense, tuple(indices.T), values)
        return _split_nodes(node_range, dense, logits, False, penalties)

    return compute


@host_kernel("BoostedTreesCalculateBestFeatureSplitV2", large=True)
def best_feature_split_v2(c: OpKernelConstruction) -> Compute:
    """The nodes that the best of several features splits, and how."""
    logits, count = c["logits_dimension"], c["num_features"]

    def compute(node_range: _Array, *rest: Any) -> tuple[_Array, ...]:
        summaries, kinds, ids = rest[:count], rest[count], rest[count + 1]
        penalties = _Penalties(*(_F(number) for number in rest[count + 2 :]))
        rows: list[tuple[int, int, _Best]] = []
        for node in _nodes(node_range, *summaries):
            chosen: tuple[int, _Best] | None = None
            for index, summary in enumerate(summaries):
                by_value = kinds[index] == b"equality"
                found = _best_split(summary[node], logits, by_value, penalties)
                if found is not None and (
                    chosen is None or gain_is_larger(found.gain, chosen[1].gain)
                ):
                    chosen = int(ids[index]), found
            if chosen is not None:
                rows.append((node, *chosen))
        nodes, gains, *others = _columns([(n, b) for n, _, b in rows], logits)
        features = np.array([feature for _, feature, _ in rows], np.int32)
        return (nodes, gains, features, *others)

    return compute


def _split_nodes(
    node_range: _Array,
    summary: _Array,
    logits: int,
    by_value: bool,
    penalties: _Penalties,
) -> tuple[_Array, ...]:
    rows = []
    for node in _nodes(node_range, summary):
        found = _best_split(summary[node], logits, by_value, penalties)
        if found is not None:
            rows.append((node, found))
    return _columns(rows, logits)


def _columns(rows: list[tuple[int, _Best]], logits: int) -> tuple[_Array, ...]:
    best = [found for _, found in rows]
    return (
        np.array([node for node, _ in rows], np.int32),
        np.array([found.gain for found in best], _F),
        np.array([found.dimension for found in best], np.int32),
        np.array([found.threshold for found in best], np.int32),
        np.array([found.left for found in best], _F).reshape(-1, logits),
        np.array([found.right for found in best], _F).reshape(-1, logits),
        np.array([found.kind for found in best], object),
    )


def _best_split(
    stats: _Array, logits: int, by_value: bool, penalties: _Penalties
) -> _Best | None:
    """The best split of one node by stats [dimensions, buckets + 1, stats]."""
    total = stats[0].sum(axis=0, dtype=_F)
    if np.linalg.norm(total[logits:]) < penalties.min_weight:
        return None
    _, parent = vector_weights_and_gains(
        total[:logits], total[logits:], penalties.l1, penalties.l2
    )
    best: _Best | None = None
    for dimension, buckets in enumerate(stats):
        if not by_value:
            total = buckets.sum(axis=0, dtype=_F)
        for left, threshold, kind in _proposals(buckets, by_value):
            best = _better(
                best,
                left,
                total - left,
                logits,
                penalties,
                (dimension, threshold, kind),
            )
    if best is None:
        return None
    return best._replace(gain=best.gain - parent - penalties.complexity)


def _proposals(buckets: _Array, by_value: bool) -> list[tuple[_Array, int, bytes]]:
    """(what goes left, threshold, kind) of each split that one dimension offers."""
    *known, missing = buckets
    if by_value:
        return [(stats, bucket, _EQUAL) for bucket, stats in enumerate(known)]
    sums = np.cumsum(known, axis=0, dtype=_F)
    found = []
    for bucket, left in enumerate(sums):
        found.append((left + missing, bucket, _LEFT))
        found.append((left, bucket, _RIGHT))
    return found


def _better(
    best: _Best | None,
    left: _Array,
    right: _Array,
    logits: int,
    penalties: _Penalties,
    where: tuple[int, int, bytes],
) -> _Best | None:
    regularized = penalties.l1, penalties.l2
    left_weights, left_gain = vector_weights_and_gains(
        left[:logits], left[logits:], *regularized
    )
    right_weights, right_gain = vector_weights_and_gains(
        right[:logits], right[logits:], *regularized
    )
    gain = left_gain + right_gain
    if not gain_is_larger(gain, _LOWEST if best is None else best.gain):
        return best
    return _Best(gain, where[0], where[1], left_weights, right_weights, where[2])
