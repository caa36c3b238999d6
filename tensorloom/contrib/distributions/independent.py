"""Batches of distributions, seen as one distribution or in another shape."""

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


@export("contrib.distributions.BatchReshape")
class BatchReshape(Distribution):
    """A batch of distributions in another shape.

    Args:
      distribution: the batch.
      batch_shape: the new shape, an int vector; one size may be -1.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: the new batch has another size, or more than one -1.
    """

    def __init__(
        self,
        distribution: Any,
        batch_shape: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or f"BatchReshape{distribution.name}"
        with name_scope(name, values=[batch_shape]) as name:
            old = distribution.batch_shape_tensor()
            wanted = convert_to_tensor(
                batch_shape, dtype=dtypes.int32, name="batch_shape_unexpanded"
            )
            known_old, known = constant_value(old), constant_value(wanted)
            if known is not None and (known == -1).sum() > 1:
                raise ValueError("At most one dimension can be `-1`.")
            # The sizes of as many numbers, in the new shape.
            count = math_ops.reduce_prod(old)
            numbers = array_ops.reshape(math_ops.range(count), wanted)
            self._new_shape = array_ops.shape(numbers, name="batch_shape")
            if known is not None and known_old is not None:
                sizes, total = known.prod(), known_old.prod()
                is_open = sizes < 0
                if (is_open and total % -sizes) or (not is_open and sizes != total):
                    raise ValueError(
                        f"`batch_shape` size ({sizes}) must match "
                        f"`distribution.batch_shape` size ({total})."
                    )
        self._distribution = distribution
        self._static_new_shape = TensorShape(
            [None] * (wanted.shape.as_list()[0] or 0)
            if known is None
            else [None if size < 0 else int(size) for size in known]
        ).merge_with(numbers.shape)
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._new_shape, *distribution._graph_parents],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The batch in its own shape."""
        return self._distribution

    def _batch_shape_tensor(self) -> Any:
        return array_ops.identity(self._new_shape)

    def _batch_shape(self) -> TensorShape:
        return self._static_new_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        x = self.distribution.sample(sample_shape=n, seed=seed)
        shape = [[n], self.batch_shape_tensor(), self.event_shape_tensor()]
        return array_ops.reshape(x, array_ops.concat(shape, axis=0))

    def _of_value(self, name: str, value: Any, *_rules: Any, **_by: Any) -> Any:
        """What the batch in its own shape says of a value, in the new shape."""
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            event = self.event_shape_tensor()
            kept = array_ops.rank(value) - array_ops.size(self._new_shape)
            samples = array_ops.shape(value)[: kept - array_ops.size(event)]
            old = self.distribution.batch_shape_tensor()
            shape = array_ops.concat([samples, old, event], axis=0)
            found = getattr(self.distribution, name)(array_ops.reshape(value, shape))
            return self._in_new_shape(found, samples, [])

    def _in_new_shape(self, values: Tensor, samples: Any, event: Any) -> Any:
        shape = array_ops.concat(
            [
                convert_to_tensor(samples, dtypes.int32),
                self._new_shape,
                convert_to_tensor(event, dtypes.int32),
            ],
            axis=0,
        )
        found = array_ops.reshape(values, shape)
        if isinstance(samples, list):
            its_event = TensorShape(event) if isinstance(event, list) else None
            if its_event is not None:
                found.set_shape(self.batch_shape.concatenate(its_event))
        return found

    def _statistic(self, name: str, rule: str) -> Any:
        with self._name_scope(name):
            values = getattr(self.distribution, rule)()
            event: Any = self.event_shape_tensor()
            if rule == "entropy":
                event = []
            elif rule == "covariance":
                event = array_ops.concat([event, event], axis=0)
            return self._in_new_shape(values, [], event)

    def variance(self, name: str = "variance") -> Any:
        """The variance, entry by entry."""
        return self._statistic(name, "variance")

    def stddev(self, name: str = "stddev") -> Any:
        """The standard deviation, entry by entry."""
        return self._statistic(name, "stddev")
