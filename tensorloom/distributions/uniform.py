"""The uniform distribution."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    common_shape,
    common_shape_tensor,
    read_after,
)
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_type as check_type_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


@export("distributions.Uniform")
class Uniform(Distribution):
    """Draws between `low` and `high`, all equally likely."""

    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            message = "uniform not defined when low >= high."
            checks = []
            if validate_args:
                checks = [check_ops.assert_less(low, high, message=message)]
            self._low, self._high = read_after(checks, low=low, high=high)
            check_type_ops.assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._low, self._high],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("low", "high"), shape)

    @property
    def low(self) -> Tensor:
        """The lowest draw."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The end of the range."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """The length of the range."""
        with self._name_scope(name):
            return self.high - self.low

    def _batch_shape_tensor(self) -> Tensor:
        return common_shape_tensor(self.low, self.high)

    def _batch_shape(self) -> TensorShape:
        return common_shape(self.low, self.high)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        drawn = random_ops.random_uniform(shape, dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, x: Tensor) -> Tensor:
        x = x * array_ops.ones(self.batch_shape_tensor(), dtype=x.dtype)
        return array_ops.where_v2(
            math_ops.is_nan(x),
            x,
            array_ops.where_v2(
                math_ops.logical_or(x < self.low, x >= self.high),
                array_ops.zeros_like(x),
                array_ops.ones_like(x) / self.range(),
            ),
        )

    def _cdf(self, x: Tensor) -> Tensor:
        shape = array_ops.broadcast_dynamic_shape(
            array_ops.shape(x), self.batch_shape_tensor()
        )
        zeros = array_ops.zeros(shape, dtype=self.dtype)
        ones = array_ops.ones(shape, dtype=self.dtype)
        wide = x * ones
        upto = array_ops.where_v2(x < self.low, zeros, (wide - self.low) / self.range())
        return array_ops.where_v2(x >= self.high, ones, upto)

    def _entropy(self) -> Tensor:
        return math_ops.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return math_ops.square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
