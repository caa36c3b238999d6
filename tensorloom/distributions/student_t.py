"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    checked,
    common_shape,
    common_shape_tensor,
    derived_seed,
    positive,
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
from tensorloom.ops.math import special as special_ops
from tensorloom.ops.random import random_ops


@export("distributions.StudentT")
class StudentT(Distribution):
    """Draws around `loc` with heavy tails; `df` says how light they are."""

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            checks = positive(validate_args, df)
            self._df, self._loc, self._scale = read_after(
                checks, df=df, loc=loc, scale=scale
            )
            check_type_ops.assert_same_float_dtype([self._df, self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._loc, self._scale],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("df", "loc", "scale"), shape)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The center."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    def _batch_shape_tensor(self) -> Tensor:
        outer = common_shape_tensor(self.loc, self.scale)
        return array_ops.broadcast_dynamic_shape(array_ops.shape(self.df), outer)

    def _batch_shape(self) -> TensorShape:
        return common_shape(self.df, self.loc, self.scale)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        normal = random_ops.random_normal(shape, dtype=self.dtype, seed=seed)
        df = self.df * array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)
        gamma = random_ops.random_gamma(
            [n],
            0.5 * df,
            beta=0.5,
            dtype=self.dtype,
            seed=derived_seed(seed, "student_t"),
        )
        return normal * math_ops.rsqrt(gamma / df) * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / self.scale
        power = -0.5 * (self.df + 1.0) * math_ops.log1p(y**2.0 / self.df)
        return power - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        gammas = math_ops.lgamma(0.5 * self.df) - math_ops.lgamma(0.5 * (self.df + 1.0))
        width = math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(self.df)
        return width + 0.5 * math.log(math.pi) + gammas

    def _cdf(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / math_ops.abs(self.scale)
        ratio = self.df / (y**2.0 + self.df)
        half = array_ops.ones_like(ratio) * 0.5
        tail = 0.5 * special_ops.betainc(half * self.df, half, ratio)
        return array_ops.where(y + array_ops.zeros_like(tail) < 0.0, tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        df = self.df + array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)
        half = 0.5 * df
        beta = math_ops.lgamma(half) + math.lgamma(0.5) - math_ops.lgamma(half + 0.5)
        bend = math_ops.digamma(half + 0.5) - math_ops.digamma(half)
        width = math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(df)
        return width + beta + 0.5 * (df + 1.0) * bend

    def _mean(self) -> Any:
        zeros = array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)
        value = self.loc + zeros
        if self.allow_nan_stats:
            return array_ops.where(self.df + zeros > 1.0, value, zeros + np.nan)
        one = array_ops.ones([], dtype=self.dtype)
        message = "mean not defined for components of df <= 1"
        return checked(value, [check_ops.assert_less(one, self.df, message=message)])

    def _variance(self) -> Any:
        zeros = array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)
        df = self.df + zeros
        lighter = array_ops.where(df > 2.0, df - 2.0, zeros + 1.0)
        finite = math_ops.square(self.scale) * df / lighter
        value = array_ops.where(df > 2.0, finite, zeros + np.inf)
        if self.allow_nan_stats:
            return array_ops.where(df > 1.0, value, zeros + np.nan)
        one = array_ops.ones([], dtype=self.dtype)
        message = "variance not defined for components of df <= 1"
        return checked(value, [check_ops.assert_less(one, self.df, message=message)])

    def _mode(self) -> Tensor:
        return self.loc + array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)
