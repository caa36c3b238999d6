"""Chooses the first cluster centers of k-means among the points, batch by batch.

k-MC2: O. Bachem et al., "Approximate K-Means++ in Sublinear Time", 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape, squeeze
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.debugging import check
from tensorloom.ops.math.binary import maximum, minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, less
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.nn.norm import l2_normalize
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.state.reference_variable import assign

RANDOM: Final = "random"
KMEANS_PLUS_PLUS: Final = "kmeans_plus_plus"
KMC2: Final = "kmc2"


@dataclass(frozen=True)
class CenterVariables:
    """Where the centers are kept."""

    centers: Any
    """The centers that points are compared with, `[clusters, depth]`."""
    updated: Any
    """The centers that each step moves: `centers` itself, or a second variable."""
    initialized: Any
    """Whether all centers have been chosen."""


@dataclass(frozen=True)
class InitialClusters:
    """Adds centers until there are enough.

    A batch may have fewer points than centers are missing. Then its points become
    centers, and the operation has to run again with the next batch.
    """

    parts: list[Any]
    """A batch of points, in parts `[batch, depth]`."""
    num_clusters: Any
    """How many centers there shall be, a scalar tensor."""
    choice: Any
    """`RANDOM`, `KMEANS_PLUS_PLUS`, `KMC2`, a function of (list of points, how many),
    or the centers."""
    normalized: bool
    """Whether centers are scaled to length one."""
    seed: Any
    """Of the random numbers."""
    retries: int
    """Further candidates that kmeans++ draws for each center."""
    chain_length: int
    """Points that k-MC2 looks at for each center."""
    variables: CenterVariables

    def op(self) -> Any:
        """The operation that adds centers where some are missing."""
        chosen = shape_of(self.variables.centers)[0]
        missing = self.num_clusters - chosen
        return cond(
            equal(missing, 0),
            lambda: check.assert_equal(self.variables.initialized, True),
            lambda: self._add(chosen, missing),
        )

    def _add(self, chosen: Any, missing: Any) -> Any:
        variables = self.variables
        with control_dependencies([check.assert_positive(missing)]):
            if isinstance(self.choice, str) and self.choice == KMC2:
                left = self._add_by_chains(chosen, missing)
            else:
                left = self._add_at_once(chosen, missing)
            return cond(
                equal(left, 0),
                lambda: assign(variables.initialized, True).op,
                no_op,
            )

    def _store(self, centers: Any) -> Any:
        """Keeps the centers; returns how many are missing then."""
        variables = self.variables
        stored = assign(variables.centers, centers, validate_shape=False)
        if variables.updated is not variables.centers:
            stored = assign(variables.updated, stored, validate_shape=False)
        return self.num_clusters - shape_of(stored)[0]

    def _add_at_once(self, chosen: Any, missing: Any) -> Any:
        new = self._normalized(self._new_centers(missing))
        centers = cond(
            equal(chosen, 0),
            lambda: new,
            lambda: concat([self.variables.centers, new], 0),
        )
        return self._store(centers)

    def _normalized(self, points: Any) -> Any:
        return l2_normalize(points, axis=1) if self.normalized else points

    def _add_by_chains(self, chosen: Any, missing: Any) -> Any:
        """Adds a center from each so many points by a Markov chain through them.

        The first center of all is the first point.
        """
        points, length = self.parts[0], self.chain_length
        chains = cast(shape_of(points)[0] / length, dtypes.int32)
        count = maximum(minimum(missing, chains), 1)
        known = self.variables.centers

        def first() -> Any:
            return self._normalized(reshape(points[0], [1, -1]))

        def by_chain(index: Any) -> Any:
            some = points[index * length : (index + 1) * length]
            _, distances = apply_op("NearestNeighbors", points=some, centers=known, k=1)
            found = apply_op(
                "KMC2ChainInitialization", distances=squeeze(distances), seed=self.seed
            )
            new = self._normalized(reshape(some[found], [1, -1]))
            return concat([known, new], 0)

        def add(index: Any, _: Any) -> Any:
            centers = cond(equal(chosen, 0), first, lambda: by_chain(index))
            return index + 1, self._store(centers)

        return while_loop(lambda index, _: less(index, count), add, [0, 0])[1]

    def _new_centers(self, missing: Any) -> Any:
        count = add_n([shape_of(points)[0] for points in self.parts])
        if callable(self.choice):
            choose: Callable[..., Any] = self.choice
            return choose(self.parts, missing)
        if not isinstance(self.choice, str):
            given = shape_of(self.choice)[0]
            with control_dependencies([check.assert_equal(missing, given)]):
                return self.choice
        if self.choice == RANDOM:
            return cond(
                count <= missing,
                lambda: concat(self.parts, 0),
                lambda: self._random(count, missing),
            )
        with control_dependencies([check.assert_greater_equal(count, missing)]):
            return self._kmeans_plus_plus(missing)

    def _random(self, count: Any, missing: Any) -> Any:
        rows = random_uniform(
            reshape(missing, [-1]),
            minval=0,
            maxval=cast(count, dtypes.int64),
            seed=self.seed,
            dtype=dtypes.int64,
        )
        return embedding_lookup(self.parts, rows, partition_strategy="div")

    def _kmeans_plus_plus(self, missing: Any) -> Any:
        return apply_op(
            "KmeansPlusPlusInitialization",
            points=self._normalized(self.parts[0]),
            num_to_sample=cast(missing, dtypes.int64),
            seed=self.seed,
            num_retries_per_sample=self.retries,
        )
