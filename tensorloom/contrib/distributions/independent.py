"""Batches of distributions, seen as one distribution."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL, kl_divergence
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("contrib.distributions.Independent")
class Independent(Distribution):
    """The last axes of a batch, as parts of one event.

    Args:
      distribution: a batch of distributions.
      reinterpreted_batch_ndims: how many of the last axes; all but the first if None.
      validate_args: whether steps check arguments.
      name: of the scope.

    Raises:
      ValueError: the batch does not have as many axes.
    """

    def __init__(
        self,
        distribution: Any,
        reinterpreted_batch_ndims: Any = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or f"Independent{distribution.name}"
        batch_rank = distribution.batch_shape.ndims
        with name_scope(name) as name:
            if reinterpreted_batch_ndims is None:
                if batch_rank is None:
                    sizes = array_ops.size(distribution.batch_shape_tensor())
                    reinterpreted_batch_ndims = math_ops.maximum(sizes - 1, 0)
                else:
                    reinterpreted_batch_ndims = max(0, batch_rank - 1)
            count = convert_to_tensor(
                reinterpreted_batch_ndims,
                dtype=dtypes.int32,
                name="reinterpreted_batch_ndims",
            )
            known = constant_value(count)
            if known is not None and batch_rank is not None and known > batch_rank:
                raise ValueError(
                    f"reinterpreted_batch_ndims({known}) cannot exceed "
                    f"distribution.batch_ndims({batch_rank})"
                )
            self._count: Any = count if known is None else int(known)
            self._distribution = distribution
            super().__init__(
                dtype=distribution.dtype,
                reparameterization_type=distribution.reparameterization_type,
                validate_args=validate_args,
                allow_nan_stats=distribution.allow_nan_stats,
                parameters=parameters,
                graph_parents=[count, *distribution._graph_parents],
                name=name,
            )

    @property
    def distribution(self) -> Any:
        """The batch of distributions."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many of its last axes are part of the event."""
        return self._count

    def _batch_shape_tensor(self) -> Any:
        shape = self.distribution.batch_shape_tensor()
        return shape[: array_ops.size(shape) - self._count]

    def _batch_shape(self) -> Any:
        shape = self.distribution.batch_shape
        if shape.ndims is None or not isinstance(self._count, int):
            return TensorShape(None)
        return shape[: shape.ndims - self._count]

    def _event_shape_tensor(self) -> Any:
        shape = self.distribution.batch_shape_tensor()
        own = shape[array_ops.size(shape) - self._count :]
        return array_ops.concat([own, self.distribution.event_shape_tensor()], axis=0)

    def _event_shape(self) -> Any:
        shape = self.distribution.batch_shape
        if shape.ndims is None or not isinstance(self._count, int):
            return TensorShape(None)
        own = shape[shape.ndims - self._count :]
        return own.concatenate(self.distribution.event_shape)

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        return self.distribution.sample(sample_shape=n, seed=seed)

    def _sum(self, values: Tensor) -> Any:
        axes: Any = -1 - math_ops.range(self._count)
        if isinstance(self._count, int):
            axes = [-1 - axis for axis in range(self._count)]
        return math_ops.reduce_sum(values, axis=axes)

    def _log_prob(self, x: Tensor) -> Any:
        return self._sum(self.distribution.log_prob(x))

    def _entropy(self) -> Any:
        return self._sum(self.distribution.entropy())

    def _mean(self) -> Any:
        return self.distribution.mean()

    def _variance(self) -> Any:
        return self.distribution.variance()

    def _stddev(self) -> Any:
        return self.distribution.stddev()

    def _mode(self) -> Any:
        return self.distribution.mode()


@RegisterKL(Independent, Independent)
def _kl_of_independent(a: Any, b: Any, name: str | None = None) -> Any:
    if a.event_shape.as_list() != b.event_shape.as_list():
        raise ValueError("Event shapes do not match.")
    if a.distribution.event_shape.as_list() != b.distribution.event_shape.as_list():
        raise NotImplementedError(
            "KL between Independents whose distributions have different event shapes"
        )
    with name_scope(name, "kl_independent"):
        return a._sum(kl_divergence(a.distribution, b.distribution))
