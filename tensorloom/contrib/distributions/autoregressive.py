"""Distributions made from others: autoregressive ones, and of whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import checked, derived_seed
from tensorloom.distributions.reparameterization import NOT_REPARAMETERIZED
from tensorloom.distributions.value_checks import assert_integer_form
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_type
from tensorloom.ops.math import math_ops


@export("contrib.distributions.Autoregressive")
class Autoregressive(Distribution):
    """Vectors in which each number depends on those before it.

    Args:
      distribution_fn: a function of a vector that gives the distribution of a vector;
        of no argument, that of the first.
      sample0: the vector to begin with; None: `distribution_fn()` has no argument.
      num_steps: how often to draw; as often as there are numbers if None.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      ValueError: the count of steps is below 1, or not known.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Any],
        sample0: Any = None,
        num_steps: int | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._distribution_fn = distribution_fn
            self._sample0 = sample0
            first = distribution_fn() if sample0 is None else distribution_fn(sample0)
            self._distribution0 = first
            if num_steps is None:
                num_steps = first.event_shape.num_elements()
                if num_steps is None:
                    raise ValueError(
                        "distribution_fn must generate a distribution with fully known "
                        "`event_shape`."
                    )
            if num_steps < 1:
                raise ValueError(f"num_steps ({num_steps}) must be at least 1.")
            self._num_steps = num_steps
        super().__init__(
            dtype=first.dtype,
            reparameterization_type=first.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=first._graph_parents,
            name=name,
        )

    @property
    def distribution_fn(self) -> Callable[..., Any]:
        """The function of a vector that gives a distribution."""
        return self._distribution_fn

    @property
    def sample0(self) -> Any:
        """The vector to begin with, or None."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often to draw."""
        return self._num_steps

    @property
    def distribution0(self) -> Any:
        """The distribution of the first draw."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self.distribution0.batch_shape

    def _batch_shape_tensor(self) -> Any:
        return self.distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution0.event_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution0.event_shape_tensor()

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        if seed is None:
            # All draws have one seed, so that what is drawn once stays.
            seed = np.random.randint(2**31 - 1)
            seed = derived_seed(seed, "autoregressive")
        drawn = self.distribution0.sample(n, seed=seed)
        for _ in range(self._num_steps):
            drawn = self.distribution_fn(drawn).sample(seed=seed)
        return drawn

    def _log_prob(self, value: Tensor) -> Any:
        return self.distribution_fn(value).log_prob(value)

    def _prob(self, value: Tensor) -> Any:
        return self.distribution_fn(value).prob(value)


def _log_of_difference(large: Tensor, small: Tensor) -> Tensor:
    """log(exp(large) - exp(small))."""
    return math_ops.log(1.0 - math_ops.exp(small - large)) + large


@export("contrib.distributions.QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """Numbers of another distribution, rounded up to whole ones.

    Args:
      distribution: of numbers, with a `cdf`.
      low: smaller numbers become this; a whole number, or None.
      high: larger numbers become this.
      validate_args: whether steps check arguments.
      name: of the scope.

    Raises:
      TypeError: arguments of different dtypes.
    """

    def __init__(
        self,
        distribution: Any,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        parameters = dict(locals())
        self._validate_args = validate_args
        values = [*distribution.parameters.values(), low, high]
        with name_scope(name, values=values) as name:
            low, high = (
                None if value is None else convert_to_tensor(value, name=text)
                for text, value in (("low", low), ("high", high))
            )
            given = [one for one in (low, high) if one is not None]
            check_type.assert_same_float_dtype([distribution, *given])
            checks = []
            if validate_args and len(given) == 2:
                message = "low must be strictly less than high."
                checks.append(check_ops.assert_less(low, high, message=message))
            with control_dependencies(checks):
                self._low = None if low is None else self._whole(low)
                self._high = None if high is None else self._whole(high)
        self._distribution = distribution
        bounds = [one for one in (self._low, self._high) if one is not None]
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[*distribution._graph_parents, *bounds],
            name=name,
        )

    @property
    def distribution(self) -> Any:
        """The distribution of the numbers before."""
        return self._distribution

    @property
    def low(self) -> Any:
        """The least number, or None."""
        return self._low

    @property
    def high(self) -> Any:
        """The largest number, or None."""
        return self._high

    def _batch_shape_tensor(self) -> Any:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> Any:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Any:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> Any:
        return self.distribution.event_shape

    def _whole(self, value: Any) -> Any:
        with name_scope("check_integer", values=[value]):
            value = convert_to_tensor(value, name="value")
            if not self.validate_args:
                return value
            message = "value has non-integer components."
            return checked(value, [assert_integer_form(value, message=message)])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        with name_scope("transform"):
            drawn = self.distribution.sample(convert_to_tensor(n, name="n"), seed=seed)
            ones = array_ops.ones_like(drawn)
            whole = math_ops.ceil(drawn)
            if self.low is not None:
                whole = array_ops.where(whole < self.low, self.low * ones, whole)
            if self.high is not None:
                whole = array_ops.where(whole > self.high, self.high * ones, whole)
            return whole

    def _within(self, values: Tensor, at: Tensor, below: float, above: float) -> Any:
        """The values; `below` under the least number, `above` from the largest on."""
        at += array_ops.zeros_like(values)
        ones = array_ops.ones_like(values)
        if self.low is not None:
            values = array_ops.where(at < self.low, below * ones, values)
        if self.high is not None:
            values = array_ops.where(at >= self.high, above * ones, values)
        return values

    def _cdf(self, y: Tensor) -> Any:
        at = math_ops.floor(y)
        return self._within(self.distribution.cdf(at), at, 0.0, 1.0)

    def _log_cdf(self, y: Tensor) -> Any:
        at = math_ops.floor(y)
        return self._within(self.distribution.log_cdf(at), at, -np.inf, 0.0)

    def _survival_function(self, y: Tensor) -> Any:
        at = math_ops.ceil(y)
        return self._within(self.distribution.survival_function(at), at, 1.0, 0.0)

    def _log_survival_function(self, y: Tensor) -> Any:
        at = math_ops.ceil(y)
        values = self.distribution.log_survival_function(at)
        return self._within(values, at, 0.0, -np.inf)

    def _prob(self, y: Tensor) -> Any:
        if not hasattr(self.distribution, "_cdf"):
            raise NotImplementedError(
                "'prob' not implemented unless the base distribution implements 'cdf'"
            )
        y = self._whole(y)
        here, before = self.cdf(y), self.cdf(y - 1)
        try:
            beyond, beyond_before = (
                self.survival_function(y),
                self.survival_function(y - 1),
            )
        except NotImplementedError:
            return here - before
        # The difference of the smaller numbers is the more precise one.
        return array_ops.where(beyond < here, beyond_before - beyond, here - before)

    def _log_prob(self, y: Tensor) -> Any:
        if not hasattr(self.distribution, "_log_cdf"):
            raise NotImplementedError(
                "'log_prob' not implemented unless the base distribution implements "
                "'log_cdf'"
            )
        y = self._whole(y)
        here, before = self.log_cdf(y), self.log_cdf(y - 1)
        try:
            beyond = self.log_survival_function(y)
            beyond_before = self.log_survival_function(y - 1)
        except NotImplementedError:
            return _log_of_difference(here, before)
        is_beyond = beyond < here
        large = array_ops.where(is_beyond, beyond_before, here)
        small = array_ops.where(is_beyond, beyond, before)
        return _log_of_difference(large, small)
