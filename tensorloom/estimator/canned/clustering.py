"""The training graph of k-means: Lloyd's algorithm over whole data or in small batches.

Small batches: D. Sculley, "Web-Scale K-Means Clustering", 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.estimator.canned.initial_clusters import (
    CenterVariables,
    InitialClusters,
)
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.fill import ones, ones_like, zeros, zeros_like
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.placeholder import placeholder_with_default
from tensorloom.ops.array.reshape import reshape, squeeze
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.array.shape import size
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import reciprocal, square
from tensorloom.ops.nn.norm import l2_normalize
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.reductions.segment import unsorted_segment_sum
from tensorloom.ops.state.reference_variable import assign, assign_sub
from tensorloom.ops.state.scatter import scatter_add

SQUARED_EUCLIDEAN: Final = "squared_euclidean"
COSINE: Final = "cosine"
CENTERS: Final = "clusters"

# Keeps the mean of a cluster without points finite.
_EPSILON: Final = 1e-6


@dataclass(frozen=True)
class ClusteringOptions:
    """What k-means is told."""

    num_clusters: Any
    """How many clusters; ignored when `initial_clusters` are centers."""
    initial_clusters: Any
    """How the first centers are chosen, or the centers."""
    distance_metric: str
    """`SQUARED_EUCLIDEAN` or `COSINE`."""
    seed: Any
    """Of the choice of centers, as its operations take it."""
    use_mini_batch: bool
    """Whether each step sees a part of the points."""
    steps_per_iteration: int
    """Steps after which points are compared with the moved centers."""
    retries: int
    """Further candidates that kmeans++ draws for each center."""
    chain_length: int = 200
    """Points that k-MC2 looks at for each center."""

    @property
    def cosine(self) -> bool:
        """Whether only directions count."""
        return self.distance_metric == COSINE

    @property
    def delayed(self) -> bool:
        """Whether steps move a second copy of the centers."""
        return self.use_mini_batch and self.steps_per_iteration > 1

    @property
    def unit_centers(self) -> bool:
        """Whether the centers are kept at length one."""
        return self.cosine and (not self.use_mini_batch or self.delayed)


@dataclass(frozen=True)
class Clustering:
    """The tensors and operations of k-means over a batch of points.

    The batch may be in parts: there is a tensor for each.
    """

    all_distances: tuple[Any, ...]
    """Of each point to each center, `[batch, clusters]`."""
    distances: tuple[Any, ...]
    """Of each point to its nearest center, `[batch]`."""
    indices: tuple[Any, ...]
    """The nearest center of each point, `[batch]`."""
    initialized: Any
    """A variable: whether all centers have been chosen."""
    init_op: Any
    """Chooses centers; runs until `initialized` is true."""
    train_op: Any
    """Moves the centers once."""


def clustering(parts: Sequence[Any], options: ClusteringOptions) -> Clustering:
    """Adds k-means over parts of points, `[batch, depth]`, to the default graph."""
    choice = options.initial_clusters
    if isinstance(choice, str) or callable(choice):
        num_clusters = convert_to_tensor(options.num_clusters)
    else:
        choice = convert_to_tensor(choice)
        num_clusters = shape_of(choice)[0]
    variables, counts, steps_left = _variables(num_clusters, options)
    init_op = InitialClusters(
        list(parts),
        num_clusters,
        choice,
        options.cosine,
        options.seed,
        options.retries,
        options.chain_length,
        variables,
    ).op()
    centers = variables.centers
    if options.cosine:
        parts = [l2_normalize(points, axis=1) for points in parts]
        if not options.unit_centers:
            centers = l2_normalize(centers, axis=1)
    found = [_nearest(points, centers, options) for points in parts]
    all_distances, distances, indices = zip(*found, strict=True)
    if options.use_mini_batch:
        synchronized = (
            _synchronize(variables, counts, steps_left, options)
            if options.delayed
            else no_op()
        )
        with control_dependencies([synchronized]):
            train_op = _move(parts, indices, variables.updated, counts)
    else:
        train_op = _recompute(parts, indices, num_clusters, centers, options)
    return Clustering(
        all_distances, distances, indices, variables.initialized, init_op, train_op
    )


def _variables(
    num_clusters: Any, options: ClusteringOptions
) -> tuple[CenterVariables, Any, Any]:
    """The centers, how many points each has moved for, and the steps to the next copy.

    Names and order are those of checkpoints.
    """
    nothing = placeholder_with_default([], shape=None)
    centers = Variable(nothing, name=CENTERS, validate_shape=False)
    initialized = Variable(False, dtype=dtypes.bool, name="initialized")
    if not options.use_mini_batch:
        return CenterVariables(centers, centers, initialized), None, None
    if not options.delayed:
        counts = Variable(ones([num_clusters], dtype=dtypes.int64))
        return CenterVariables(centers, centers, initialized), counts, None
    updated = Variable(nothing, name="clusters_updated", validate_shape=False)
    steps_left = Variable(
        options.steps_per_iteration, dtype=dtypes.int64, name="update_in_steps"
    )
    counts = Variable(zeros([num_clusters], dtype=dtypes.int64))
    return CenterVariables(centers, updated, initialized), counts, steps_left


def _nearest(
    points: Any, centers: Any, options: ClusteringOptions
) -> tuple[Any, Any, Any]:
    """Distances to all centers, the least one, and whose it is."""
    products = matmul(points, centers, transpose_b=True)
    if options.cosine:
        all_distances = 1 - products
        if not options.unit_centers:
            centers = l2_normalize(centers, axis=1)
    else:
        lengths = transpose(reduce_sum(square(centers), 1, keepdims=True))
        own = reduce_sum(square(points), 1, keepdims=True)
        all_distances = own - 2 * products + lengths
    indices, distances = apply_op(
        "NearestNeighbors", points=points, centers=centers, k=1
    )
    if options.cosine:
        # Half the squared distance of unit vectors.
        distances = distances * 0.5
    return all_distances, squeeze(distances, [-1]), squeeze(indices, [-1])


def _synchronize(
    variables: CenterVariables,
    counts: Any,
    steps_left: Any,
    options: ClusteringOptions,
) -> Any:
    """Copies the moved centers back when the iteration is over, else counts down."""

    def copy() -> Any:
        restart = assign(steps_left, options.steps_per_iteration - 1)
        with control_dependencies([restart]):
            centers = variables.updated
            if options.cosine:
                centers = l2_normalize(centers, axis=1)
            copied = assign(variables.centers, centers)
        with control_dependencies([copied]):
            cleared = assign(counts, zeros_like(counts))
        with control_dependencies([cleared]):
            return identity(steps_left)

    return cond(steps_left <= 0, copy, lambda: assign_sub(steps_left, 1))


def _move(
    parts: Sequence[Any], indices: Sequence[Any], centers: Any, counts: Any
) -> Any:
    """Moves each center towards its points, the less the more it had before."""
    updates: list[Any] = []
    for points, nearest in zip(parts, indices, strict=True):
        clusters, positions = unique(reshape(nearest, [-1]))
        number = size(clusters)
        old_centers = gather(centers, clusters)
        added = unsorted_segment_sum(
            ones_like(positions, dtype=counts.dtype.base_dtype), positions, number
        )
        sums = unsorted_segment_sum(points, positions, number)
        counted = scatter_add(counts, clusters, added)
        # TensorFlow leaves the order open, and in practice reads the counts when they
        # have the points of this step, which then count twice.
        with control_dependencies([counted]):
            old_counts = gather(counts, clusters)
        column = reshape(cast(added, points.dtype), [-1, 1])
        rate = reciprocal(cast(old_counts + added, points.dtype))
        change = (sums - column * old_centers) * reshape(rate, [-1, 1])
        updates += [counted, scatter_add(centers, clusters, change)]
    return group(*updates)


def _recompute(
    parts: Sequence[Any],
    indices: Sequence[Any],
    num_clusters: Any,
    centers: Any,
    options: ClusteringOptions,
) -> Any:
    """Puts each center in the middle of its points."""
    sums, counts = [], []
    for points, nearest in zip(parts, indices, strict=True):
        sums.append(unsorted_segment_sum(points, nearest, num_clusters))
        single = ones([shape_of(points)[0], 1])
        counts.append(unsorted_segment_sum(single, nearest, num_clusters))
    total = add_n(sums)
    means = total / (cast(add_n(counts), total.dtype) + _EPSILON)
    if options.unit_centers:
        means = l2_normalize(means, axis=1)
    return assign(centers, means)
