"""Distributions of numbers: Cauchy, logistic, half-normal, inverse gamma, chi2."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.contrib.distributions.scalar_distribution import (
    ScalarDistribution,
    same_shapes,
)
from tensorloom.distributions import special_math
from tensorloom.distributions.gamma import Gamma
from tensorloom.distributions.parameters import checked, positive, read_after
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_type
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops


class _LocationScale(ScalarDistribution):
    """A standard variable, times `scale`, plus `loc`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        name: str,
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            checks = positive(validate_args, scale)
            self._loc, self._scale = read_after(checks, loc=loc, scale=scale)
            check_type.assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    _param_shapes = same_shapes("loc", "scale")

    def _own_parameters(self) -> list[Tensor]:
        return [self.loc, self.scale]

    @property
    def loc(self) -> Tensor:
        """The middle."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    def _z(self, x: Tensor) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


@export("contrib.distributions.Cauchy")
class Cauchy(_LocationScale):
    """Draws with tails so heavy that there is no mean.

    Args:
      loc: the median.
      scale: half the distance between the quartiles.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        drawn = random_ops.random_uniform(
            self._shape_of(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed
        )
        return self._quantile(drawn)

    def _log_prob(self, x: Tensor) -> Any:
        shape = -math_ops.log1p(math_ops.square(self._z(x)))
        return shape - (math.log(math.pi) + math_ops.log(self.scale))

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.atan(self._z(x)) / math.pi + 0.5

    def _log_cdf(self, x: Tensor) -> Any:
        angle = math_ops.atan(self._z(x))
        return math_ops.log1p(2 / math.pi * angle) - math.log(2)

    def _quantile(self, p: Tensor) -> Any:
        return self.loc + self.scale * math_ops.tan(math.pi * (p - 0.5))

    def _entropy(self) -> Any:
        entropy = math.log(4 * math.pi) + math_ops.log(self.scale)
        return entropy * array_ops.ones_like(self.loc)

    def _mode(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _undefined(self, what: str) -> Any:
        if self.allow_nan_stats:
            return self._filled(math.nan)
        raise ValueError(f"`{what}` is undefined for Cauchy distribution.")

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _stddev(self) -> Any:
        return self._undefined("stddev")


@export("contrib.distributions.Logistic")
class Logistic(_LocationScale):
    """Draws whose distribution function is the logistic one.

    Args:
      loc: the mean.
      scale: the width.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        drawn = random_ops.random_uniform(
            self._shape_of(n),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        odds = math_ops.log(drawn) - math_ops.log1p(-1.0 * drawn)
        return odds * self.scale + self.loc

    def _log_prob(self, x: Tensor) -> Any:
        z = self._z(x)
        return -z - 2.0 * nn_ops.softplus(-z) - math_ops.log(self.scale)

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.sigmoid(self._z(x))

    def _log_cdf(self, x: Tensor) -> Any:
        return -nn_ops.softplus(-self._z(x))

    def _survival_function(self, x: Tensor) -> Any:
        return math_ops.sigmoid(-self._z(x))

    def _log_survival_function(self, x: Tensor) -> Any:
        return -nn_ops.softplus(self._z(x))

    def _entropy(self) -> Any:
        return 2 + math_ops.log(self.scale * array_ops.ones_like(self.loc))

    def _mean(self) -> Any:
        return self.loc * array_ops.ones_like(self.scale)

    def _mode(self) -> Any:
        return self._mean()

    def _stddev(self) -> Any:
        scale = self.scale * array_ops.ones_like(self.loc)
        return scale * math.pi / math.sqrt(3)


@export("contrib.distributions.HalfNormal")
class HalfNormal(ScalarDistribution):
    """The absolute value of a normal variable of mean 0.

    Args:
      scale: that variable's standard deviation.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            (self._scale,) = read_after(positive(validate_args, scale), scale=scale)
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._scale],
            name=name,
        )

    _param_shapes = same_shapes("scale")

    def _own_parameters(self) -> list[Tensor]:
        return [self.scale]

    @property
    def scale(self) -> Tensor:
        """The normal variable's standard deviation."""
        return self._scale

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        drawn = random_ops.random_normal(
            self._shape_of(n), mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed
        )
        return math_ops.abs(drawn * self.scale)

    def _prob(self, x: Tensor) -> Any:
        peak = math.sqrt(2 / math.pi) / self.scale
        density = peak * math_ops.exp(-0.5 * (x / self.scale) ** 2)
        return density * math_ops.cast(x >= 0, self.dtype)

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.erf(nn_ops.relu(x) / self.scale / math.sqrt(2.0))

    def _quantile(self, p: Tensor) -> Any:
        return math.sqrt(2.0) * self.scale * special_math.erfinv(p)

    def _entropy(self) -> Any:
        return 0.5 * math_ops.log(math.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0) / math.sqrt(math.pi)

    def _variance(self) -> Any:
        return self.scale**2.0 * (1.0 - 2.0 / math.pi)

    def _mode(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor())


@export("contrib.distributions.InverseGamma")
class InverseGamma(ScalarDistribution):
    """One over a gamma variable.

    Args:
      concentration: the shape parameter.
      rate: the scale parameter.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            self._concentration, self._rate = read_after(
                positive(validate_args, concentration, rate),
                concentration=concentration,
                rate=rate,
            )
            check_type.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=name,
        )

    _param_shapes = same_shapes("concentration", "rate")

    def _own_parameters(self) -> list[Tensor]:
        return [self.concentration, self.rate]

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The scale parameter."""
        return self._rate

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        drawn = random_ops.random_gamma(
            [n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )
        return 1.0 / drawn

    def _value(self, x: Tensor) -> Any:
        check_type.assert_same_float_dtype([x], dtype=self.dtype)
        return checked(x, positive(self.validate_args, x))

    def _log_prob(self, x: Tensor) -> Any:
        x, a, b = self._value(x), self.concentration, self.rate
        norm = math_ops.lgamma(a) - a * math_ops.log(b)
        return -(1.0 + a) * math_ops.log(x) - b / x - norm

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.igammac(self.concentration, self.rate / self._value(x))

    def _entropy(self) -> Any:
        a, b = self.concentration, self.rate
        log_size = math_ops.log(b) + math_ops.lgamma(a)
        return a + log_size - (1.0 + a) * math_ops.digamma(a)

    def _where_defined(self, value: Tensor, above: float, what: str) -> Any:
        """The value where the concentration is above a number."""
        least = convert_to_tensor(above, dtype=self.dtype)
        if self.allow_nan_stats:
            is_defined = self.concentration > least
            return array_ops.where_v2(is_defined, value, self._filled(math.nan))
        message = f"{what} undefined when any concentration <= {above:g}"
        check = check_ops.assert_less(least, self.concentration, message=message)
        return checked(value, [check])

    def _mean(self) -> Any:
        return self._where_defined(self.rate / (self.concentration - 1.0), 1.0, "mean")

    def _variance(self) -> Any:
        a = self.concentration
        variance = math_ops.square(self.rate) / math_ops.squared_difference(a, 1.0)
        return self._where_defined(variance / (a - 2.0), 2.0, "variance")

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)


@export("contrib.distributions.InverseGammaWithSoftplusConcentrationRate")
class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """`InverseGamma` of softplus of the concentration and of the rate."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            super().__init__(
                nn_ops.softplus(concentration, name="softplus_concentration"),
                nn_ops.softplus(rate, name="softplus_rate"),
                validate_args,
                allow_nan_stats,
                name,
            )
        self._parameters = parameters


@export("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The sum of the squares of `df` standard normal variables.

    Args:
      df: the degrees of freedom.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            (self._df,) = read_after(positive(validate_args, df), df=df)
            half = convert_to_tensor(0.5, dtype=self._df.dtype)
            super().__init__(0.5 * self._df, half, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    _param_shapes = same_shapes("df")

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


@export("contrib.distributions.Chi2WithAbsDf")
class Chi2WithAbsDf(Chi2):
    """`Chi2` of whole positive degrees of freedom."""

    def __init__(
        self,
        df: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            whole = math_ops.floor(math_ops.abs(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, name)
        self._parameters = parameters
