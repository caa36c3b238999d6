"""Chooses the first cluster centers of k-means among the points, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape as shape_of
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.debugging import check
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.nn.norm import l2_normalize
from tensorloom.ops.random.random_ops import random_uniform
from tensorloom.ops.state.reference_variable import assign

RANDOM: Final = "random"
KMEANS_PLUS_PLUS: Final = "kmeans_plus_plus"


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

    points: Any
    """A batch of points, `[batch, depth]`."""
    num_clusters: Any
    """How many centers there shall be, a scalar tensor."""
    choice: Any
    """`RANDOM`, `KMEANS_PLUS_PLUS`, a function of (list of points, how many), or the
    centers."""
    normalized: bool
    """Whether centers are scaled to length one."""
    seed: int | None
    """Of the random numbers."""
    retries: int
    """Further candidates that kmeans++ draws for each center."""
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
            new = self._new_centers(missing)
            if self.normalized:
                new = l2_normalize(new, axis=1)
            centers = cond(
                equal(chosen, 0),
                lambda: new,
                lambda: concat([variables.centers, new], 0),
            )
            stored = assign(variables.centers, centers, validate_shape=False)
            if variables.updated is not variables.centers:
                stored = assign(variables.updated, stored, validate_shape=False)
            return cond(
                equal(self.num_clusters - shape_of(stored)[0], 0),
                lambda: assign(variables.initialized, True).op,
                no_op,
            )

    def _new_centers(self, missing: Any) -> Any:
        count = shape_of(self.points)[0]
        if callable(self.choice):
            choose: Callable[..., Any] = self.choice
            return choose([self.points], missing)
        if not isinstance(self.choice, str):
            given = shape_of(self.choice)[0]
            with control_dependencies([check.assert_equal(missing, given)]):
                return self.choice
        if self.choice == RANDOM:
            return cond(
                count <= missing,
                lambda: self.points,
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
        return embedding_lookup([self.points], rows, partition_strategy="div")

    def _kmeans_plus_plus(self, missing: Any) -> Any:
        points = l2_normalize(self.points, axis=1) if self.normalized else self.points
        return apply_op(
            "KmeansPlusPlusInitialization",
            points=points,
            num_to_sample=cast(missing, dtypes.int64),
            seed=self.seed,
            num_retries_per_sample=self.retries,
        )
