"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    common_shape,
    common_shape_tensor,
    positive,
    read_after,
)
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
)
from tensorloom.distributions.special_math import log_ndtr, ndtr, ndtri
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check_type as check_type_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


@export("distributions.Normal")
class Normal(Distribution):
    """Draws of mean `loc` and standard deviation `scale`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            checks = positive(validate_args, scale)
            self._loc, self._scale = read_after(checks, loc=loc, scale=scale)
            check_type_ops.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("loc", "scale"), shape)

    @property
    def loc(self) -> Tensor:
        """The mean."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation."""
        return self._scale

    def _batch_shape_tensor(self) -> Tensor:
        return common_shape_tensor(self.loc, self.scale)

    def _batch_shape(self) -> TensorShape:
        return common_shape(self.loc, self.scale)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        drawn = random_ops.random_normal(shape, dtype=self.loc.dtype, seed=seed)
        return drawn * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        return -0.5 * math_ops.square(self._z(x)) - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi) + math_ops.log(self.scale)

    def _cdf(self, x: Tensor) -> Tensor:
        return ndtr(self._z(x))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return log_ndtr(self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return ndtr(-self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return log_ndtr(-self._z(x))

    def _quantile(self, p: Tensor) -> Any:
        standard = ndtri(p)
        with name_scope("reconstruct", values=[standard]):
            return standard * self.scale + self.loc

    def _entropy(self) -> Tensor:
        scale = self.scale * array_ops.ones_like(self.loc)
        return 0.5 + 0.5 * math.log(2.0 * math.pi) + math_ops.log(scale)

    def _mean(self) -> Tensor:
        return self.loc * array_ops.ones_like(self.scale)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return self.scale * array_ops.ones_like(self.loc)

    def _z(self, x: Tensor) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (convert_to_tensor(x, dtype=a.loc.dtype) for x in (1, 2, 0.5))
        variance_a, variance_b = math_ops.square(a.scale), math_ops.square(b.scale)
        ratio = variance_a / variance_b
        apart = math_ops.squared_difference(a.loc, b.loc) / (two * variance_b)
        return apart + half * (ratio - one - math_ops.log(ratio))
