"""A batch of distributions in another shape."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import checked
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import (
    constant_value,
    constant_value_as_shape,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging.check_rank import assert_rank
from tensorloom.ops.math import math_ops


def _checked_static_shape(distribution: Any, wanted: Tensor) -> TensorShape:
    """The new shape, as far as it is known before a step; -1 is an unknown size."""
    if wanted.shape.ndims not in (None, 1):
        raise ValueError(
            f"`batch_shape` must be a vector (saw rank: {wanted.shape.ndims})."
        )
    known = constant_value(wanted)
    if known is not None:
        if (known == -1).sum() > 1:
            raise ValueError("At most one dimension can be `-1`.")
        if any(size < -1 or size == 0 for size in known):
            raise ValueError("`batch_shape` elements must be >=-1.")
    static = constant_value_as_shape(wanted)
    total = distribution.batch_shape.num_elements()
    if known is not None and total is not None:
        size = int(known.prod())
        if (size < 0 and total % -size) or (size >= 0 and size != total):
            raise ValueError(
                f"`batch_shape` size ({size}) must match `distribution.batch_shape` "
                f"size ({total})."
            )
        if size < 0:
            rest = total // -size
            static = TensorShape([rest if n == -1 else int(n) for n in known])
    return static


def _expanded(old: Tensor, wanted: Tensor, validate_args: bool) -> Any:
    """The new shape with the size that -1 stands for."""
    total = math_ops.reduce_prod(old)
    is_open = math_ops.equal(wanted, -1)
    rest = total // math_ops.maximum(1, -math_ops.reduce_prod(wanted))
    filled = array_ops.fill(array_ops.shape(wanted), rest)
    shape = array_ops.where_v2(is_open, filled, wanted)
    if not validate_args:
        return shape
    count = math_ops.count_nonzero(is_open, dtype=dtypes.int32)
    checks = [
        assert_rank(wanted, 1, message="New shape must be a vector."),
        check_ops.assert_less_equal(
            count, 1, message="At most one dimension can be unknown."
        ),
        check_ops.assert_positive(shape, message="Shape elements must be >=-1."),
        check_ops.assert_equal(
            math_ops.reduce_prod(shape), total, message="Shape sizes do not match."
        ),
    ]
    return checked(shape, checks)


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
      ValueError: the new shape is no vector, the new batch has another size, or it has
        sizes below 1 other than one -1.
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
            wanted = convert_to_tensor(
                batch_shape, dtype=dtypes.int32, name="batch_shape_unexpanded"
            )
            self._static_new_shape = _checked_static_shape(distribution, wanted)
            self._new_shape = _expanded(
                distribution.batch_shape_tensor(), wanted, validate_args
            )
        self._distribution = distribution
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
            value = checked(value, self._value_checks(value))
            kept = array_ops.rank(value) - array_ops.size(self._new_shape)
            samples = array_ops.shape(value)[: kept - array_ops.size(event)]
            old = self.distribution.batch_shape_tensor()
            shape = array_ops.concat([samples, old, event], axis=0)
            found = getattr(self.distribution, name)(array_ops.reshape(value, shape))
            return self._in_new_shape(found, samples, [])

    def _value_checks(self, value: Tensor) -> list[Any]:
        """Checks that a value has the batch and the event as its last axes.

        Raises:
          NotImplementedError: it is known that it would have to be broadcast.
        """
        expected = self.batch_shape.concatenate(self.event_shape)
        few = "Broadcasting is not supported; too few batch and event dims"
        other = "Broadcasting is not supported; unexpected batch and event shape"
        if expected.ndims is not None and value.shape.ndims is not None:
            if value.shape.ndims < expected.ndims:
                raise NotImplementedError(
                    f"{few} (expected at least {expected.ndims}, saw "
                    f"{value.shape.ndims})."
                )
            last = value.shape[value.shape.ndims - expected.ndims :]
            if expected.is_fully_defined() and last.is_fully_defined():
                if expected.as_list() != last.as_list():
                    raise NotImplementedError(
                        f"{other} (expected {expected.as_list()}, saw "
                        f"{last.as_list()})."
                    )
                return []
        if not self.validate_args:
            return []
        shapes = [self.batch_shape_tensor(), self.event_shape_tensor()]
        shape = array_ops.concat(shapes, axis=0)
        samples = array_ops.rank(value) - array_ops.size(shape)
        enough = check_ops.assert_greater_equal(samples, 0, message=f"{few}.")
        # Shapes of different lengths cannot be compared: that is checked first.
        with control_dependencies([enough]):
            its_own = array_ops.shape(value)[math_ops.maximum(samples, 0) :]
            return [check_ops.assert_equal(shape, its_own, message=f"{other}.")]

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
