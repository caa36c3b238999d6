"""Distributions of counts: Poisson, binomial, geometric, negative binomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.distributions.scalar_distribution import ScalarDistribution
from tensorloom.distributions.class_probabilities import get_logits_and_probs
from tensorloom.distributions.parameters import (
    checked,
    derived_seed,
    positive,
)
from tensorloom.distributions.reparameterization import NOT_REPARAMETERIZED
from tensorloom.distributions.value_checks import (
    assert_integer_form,
    embed_check_nonnegative_integer_form,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops


class _Counts(ScalarDistribution):
    def _count(self, x: Tensor) -> Any:
        """The count, after a check if one is wanted."""
        if self.validate_args:
            return embed_check_nonnegative_integer_form(x)
        return x


def _rate(value: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({tensor.dtype.name}) is a not a float-type.")
    return tensor


@export("contrib.distributions.Poisson")
class Poisson(_Counts):
    """How many events there are in an interval, at a constant rate.

    Args:
      rate: the mean; this or its logarithm.
      log_rate: the logarithm of the mean.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: both of `rate` and `log_rate` are given, or none.
      TypeError: the rate is no float.
    """

    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                rate = _rate(rate, "rate")
                with control_dependencies(positive(validate_args, rate)):
                    self._rate = array_ops.identity(rate, name="rate")
                    self._log_rate = math_ops.log(rate, name="log_rate")
            else:
                self._log_rate = _rate(log_rate, "log_rate")
                self._rate = math_ops.exp(self._log_rate, name="rate")
        super().__init__(
            dtype=self._rate.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._rate],
            name=name,
        )

    def _own_parameters(self) -> list[Tensor]:
        return [self.rate]

    @property
    def rate(self) -> Tensor:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithm of the mean."""
        return self._log_rate

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        return random_ops.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Any:
        x = self._count(x)
        return x * self.log_rate - math_ops.lgamma(1.0 + x) - self.rate

    def _cdf(self, x: Tensor) -> Any:
        return math_ops.igammac(1.0 + self._count(x), self.rate)

    def _mean(self) -> Any:
        return array_ops.identity(self.rate)

    def _variance(self) -> Any:
        return array_ops.identity(self.rate)

    def _mode(self) -> Any:
        return math_ops.floor(self.rate)


@export("contrib.distributions.Binomial")
class Binomial(_Counts):
    """How many of `total_count` trials succeed. Draws are not to be had, as in 1.15.

    Args:
      total_count: the number of trials.
      logits: the log-odds of a success; these or `probs`.
      probs: the probability of a success.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            total = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                below = "total_count must be non-negative."
                parts = "total_count cannot contain fractional components."
                total = checked(
                    total,
                    [
                        check_ops.assert_non_negative(total, message=below),
                        assert_integer_form(total, message=parts),
                    ],
                )
            self._total_count = total
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, False, validate_args, name
            )
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    def _own_parameters(self) -> list[Tensor]:
        return [self.total_count, self.probs]

    @property
    def total_count(self) -> Tensor:
        """The number of trials."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of a success."""
        return self._probs

    def _count(self, x: Tensor) -> Any:
        x = super()._count(x)
        if not self.validate_args:
            return x
        message = "counts are not less than or equal to n."
        at_most = check_ops.assert_less_equal(x, self.total_count, message=message)
        return checked(x, [at_most])

    def _log_prob(self, x: Tensor) -> Any:
        x = self._count(x)
        n, p = self.total_count, self.probs
        orders = math_ops.lgamma(1.0 + n) - math_ops.lgamma(1.0 + x)
        orders -= math_ops.lgamma(1.0 + n - x)
        return x * math_ops.log(p) + (n - x) * math_ops.log1p(-p) + orders

    def _prob(self, x: Tensor) -> Any:
        return math_ops.exp(self._log_prob(x))

    def _cdf(self, x: Tensor) -> Any:
        x, p = self._count(x), self.probs
        p += array_ops.zeros_like(x)
        x += array_ops.zeros_like(self.probs)
        left = self.total_count - x
        is_all = math_ops.equal(x, self.total_count)
        one = array_ops.ones_like(left)
        # The incomplete beta function has no value for no trials left.
        trials = array_ops.where_v2(is_all, one, left)
        below = math_ops.betainc(a=trials, b=x + 1, x=1 - p)
        return array_ops.where_v2(is_all, one, below)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return math_ops.floor((1.0 + self.total_count) * self.probs)


@export("contrib.distributions.Geometric")
class Geometric(_Counts):
    """How many trials fail before the first success.

    Args:
      logits: the log-odds of a success; these or `probs`.
      probs: the probability of a success.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, probs = get_logits_and_probs(
                logits, probs, False, validate_args, name
            )
            with control_dependencies(positive(validate_args, probs)):
                self._probs = array_ops.identity(probs, name="probs")
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._probs, self._logits],
            name=name,
        )

    def _own_parameters(self) -> list[Tensor]:
        return [self._probs]

    @property
    def logits(self) -> Tensor:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of a success."""
        return self._probs

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        drawn = random_ops.random_uniform(
            array_ops.concat([[n], array_ops.shape(self.probs)], 0),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1.0,
            seed=seed,
            dtype=self.dtype,
        )
        return math_ops.floor(math_ops.log(drawn) / math_ops.log1p(-self.probs))

    def _count(self, x: Tensor) -> Any:
        x = super()._count(x) if self.validate_args else math_ops.floor(x)
        return x * array_ops.ones_like(self.probs)

    def _cdf(self, x: Tensor) -> Any:
        x = self._count(x)
        above = (1.0 + x) * math_ops.log1p(-self.probs)
        nothing = array_ops.zeros_like(x)
        return array_ops.where(x < 0.0, nothing, -math_ops.expm1(above))

    def _log_prob(self, x: Tensor) -> Any:
        x = self._count(x)
        probs = self.probs * array_ops.ones_like(x)
        # No failure is certain to be none, however sure a success is.
        failing = array_ops.where(
            math_ops.equal(x, 0.0), array_ops.zeros_like(probs), probs
        )
        return x * math_ops.log1p(-failing) + math_ops.log(probs)

    def _entropy(self) -> Any:
        probs = self.probs
        if self.validate_args:
            one = convert_to_tensor(1.0, dtype=probs.dtype)
            message = "Entropy is undefined when logits = inf or probs = 1."
            probs = checked(probs, [check_ops.assert_less(probs, one, message=message)])
        return nn_ops.softplus(self.logits) / probs - self.logits

    def _mean(self) -> Any:
        return math_ops.exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self.dtype)


@export("contrib.distributions.NegativeBinomial")
class NegativeBinomial(_Counts):
    """How many trials succeed before `total_count` have failed.

    Args:
      total_count: the number of failures; it need not be whole.
      logits: the log-odds of a success; these or `probs`.
      probs: the probability of a success.
      validate_args: whether steps check parameters and values.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.
    """

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, False, validate_args, name
            )
            with control_dependencies(positive(validate_args, total_count)):
                self._total_count = array_ops.identity(total_count)
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._probs, self._logits],
            name=name,
        )

    def _own_parameters(self) -> list[Tensor]:
        return [self.total_count, self.probs]

    @property
    def total_count(self) -> Tensor:
        """The number of failures."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """The log-odds of a success."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of a success."""
        return self._probs

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        rate = random_ops.random_gamma(
            shape=[n],
            alpha=self.total_count,
            beta=math_ops.exp(-self.logits),
            dtype=self.dtype,
            seed=seed,
        )
        seed = derived_seed(seed, "negative_binom")
        return random_ops.random_poisson(rate, shape=[], dtype=self.dtype, seed=seed)

    def _cdf(self, x: Tensor) -> Any:
        failure = math_ops.sigmoid(-self.logits)
        return math_ops.betainc(self.total_count, 1.0 + self._count(x), failure)

    def _log_prob(self, x: Tensor) -> Any:
        x, r = self._count(x), self.total_count
        orders = math_ops.lgamma(r + x) - math_ops.lgamma(1.0 + x) - math_ops.lgamma(r)
        failed = r * math_ops.log_sigmoid(-self.logits)
        return failed + x * math_ops.log_sigmoid(self.logits) + orders

    def _mean(self) -> Any:
        return self.total_count * math_ops.exp(self.logits)

    def _variance(self) -> Any:
        return self._mean() / math_ops.sigmoid(-self.logits)

    def _mode(self) -> Any:
        r = self.total_count
        less = array_ops.where_v2(r > 1.0, r - 1.0, array_ops.zeros_like(r))
        return math_ops.floor(less * math_ops.exp(self.logits))
