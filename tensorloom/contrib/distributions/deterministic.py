"""Distributions of one value."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.reparameterization import NOT_REPARAMETERIZED
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank
from tensorloom.ops.math import math_ops


class _Constant(Distribution):
    """Always `loc`. Values that are near enough count as that."""

    def __init__(
        self,
        loc: Any,
        atol: Any,
        rtol: Any,
        is_vector: bool,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ) -> None:
        parameters = dict(locals())
        parameters.pop("is_vector")
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                message = "Argument loc must be at least rank 1."
                if loc.shape.ndims is None:
                    check = check_rank.assert_rank_at_least(loc, 1, message=message)
                    loc = checked(loc, [check])
                elif loc.shape.ndims < 1:
                    raise ValueError(message)
            self._loc = loc
            super().__init__(
                dtype=loc.dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                graph_parents=[loc],
                name=name,
            )
            self._atol = self._tolerance(atol)
            self._rtol = self._tolerance(rtol)
            self._near = self._atol
            if rtol is not None:
                self._near += self._rtol * math_ops.abs(self.loc)

    def _tolerance(self, value: Any) -> Any:
        if value is None:
            return convert_to_tensor(0, dtype=self.loc.dtype)
        tensor = convert_to_tensor(value, dtype=self.loc.dtype)
        message = "Argument 'tol' must be non-negative"
        check = check_ops.assert_non_negative
        checks = [check(tensor, message=message)] if self.validate_args else []
        return checked(tensor, checks)

    @property
    def loc(self) -> Any:
        """The value."""
        return self._loc

    @property
    def atol(self) -> Any:
        """How far from it other values may be."""
        return self._atol

    @property
    def rtol(self) -> Any:
        """How far, in parts of it."""
        return self._rtol

    def _entropy(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return array_ops.identity(self.loc)

    def _variance(self) -> Any:
        return array_ops.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self.mean()

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        ones = array_ops.ones_like(array_ops.shape(self.loc))
        times = array_ops.concat([[n], ones], axis=0)
        return array_ops.tile(self.loc[None, ...], times)


@export("contrib.distributions.Deterministic")
class Deterministic(_Constant):
    """A number that is always the same.

    Args:
      loc: the number.
      atol, rtol: how far from it a value may be that counts as it; 0 if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        super().__init__(loc, atol, rtol, False, validate_args, allow_nan_stats, name)

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _event_shape_tensor(self) -> Any:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> Any:
        return TensorShape([])

    def _prob(self, x: Tensor) -> Any:
        is_near = math_ops.abs(x - self.loc) <= self._near
        return math_ops.cast(is_near, dtype=self.dtype)

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.cast(x >= self.loc - self._near, dtype=self.dtype)


@export("contrib.distributions.VectorDeterministic")
class VectorDeterministic(_Constant):
    """A vector that is always the same.

    Args:
      loc: the vector.
      atol, rtol: how far from it a value may be that counts as it; 0 if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: `loc` is a number, and arguments are checked.
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        super().__init__(loc, atol, rtol, True, validate_args, allow_nan_stats, name)

    def _batch_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        return array_ops.shape(self.loc)[-1:]

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:]

    def _prob(self, x: Tensor) -> Any:
        if self.validate_args:
            with control_dependencies([check_rank.assert_rank_at_least(x, 1)]):
                size = array_ops.shape(x)[-1:]
            message = (
                "Argument 'x' not defined in the same space R^k as this distribution"
            )
            sizes = self.event_shape_tensor()
            check = check_ops.assert_equal(sizes, size, message=message)
            x = checked(x, [check])
        is_near = math_ops.reduce_all(math_ops.abs(x - self.loc) <= self._near, axis=-1)
        return math_ops.cast(is_near, dtype=self.dtype)
