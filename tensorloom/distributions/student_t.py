"""Student's t-distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    checked,
    common_shape,
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
        return array_ops.broadcast_dynamic_shape(
            array_ops.shape(self.df),
            array_ops.broadcast_dynamic_shape(
                array_ops.shape(self.loc), array_ops.shape(self.scale)
            ),
        )

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
        width = math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(self.df)
        found = width + 0.5 * math.log(math.pi) + math_ops.lgamma(0.5 * self.df)
        return found - math_ops.lgamma(0.5 * (self.df + 1.0))

    def _cdf(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / math_ops.abs(self.scale)
        ratio = self.df / (y**2.0 + self.df)
        tail = 0.5 * special_ops.betainc(0.5 * self.df, 0.5, ratio)
        return array_ops.where_v2(y < 0.0, tail, 1.0 - tail)

    def _ones(self) -> Tensor:
        return array_ops.ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _filled(self, value: float, name: str | None = None) -> Tensor:
        number = self.dtype.as_numpy_dtype(value)
        return array_ops.fill(self.batch_shape_tensor(), number, name=name)

    def _entropy(self) -> Any:
        ones = self._ones()[..., None]
        halves = array_ops.concat([ones * self.df[..., None], ones], -1) / 2.0
        width = math_ops.log(math_ops.abs(self.scale)) + 0.5 * math_ops.log(self.df)
        found = width + special_ops.lbeta(halves)
        bend = 0.5 * (self.df + 1.0)
        return found + bend * (
            math_ops.digamma(0.5 * (self.df + 1.0)) - math_ops.digamma(0.5 * self.df)
        )

    def _defined(self, value: Any, what: str) -> Any:
        """A statistic that components have whose df is above one."""
        if self.allow_nan_stats:
            defined = math_ops.greater(self.df, self._ones())
            return array_ops.where_v2(defined, value, self._filled(np.nan, "nan"))
        one = array_ops.ones([], dtype=self.dtype)
        message = f"{what} not defined for components of df <= 1"
        return checked(value, [check_ops.assert_less(one, self.df, message=message)])

    def _mean(self) -> Any:
        return self._defined(self.loc * self._ones(), "mean")

    def _variance(self) -> Any:
        # Where there is none, the division must not spoil the gradient.
        lighter = array_ops.where_v2(
            math_ops.greater(self.df, 2.0), self.df - 2.0, array_ops.ones_like(self.df)
        )
        finite = self._ones() * math_ops.square(self.scale) * self.df / lighter
        value = array_ops.where_v2(
            math_ops.greater(self.df, self._filled(2.0)),
            finite,
            self._filled(np.inf, "inf"),
        )
        return self._defined(value, "variance")

    def _mode(self) -> Tensor:
        return array_ops.identity(self.loc)
