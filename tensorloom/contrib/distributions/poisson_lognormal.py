"""`PoissonLogNormalQuadratureCompound`: counts whose rate is log-normal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.contrib.distributions.counts import Poisson
from tensorloom.contrib.distributions.quadratures import (
    concat_vectors,
    quadrature_scheme_lognormal_quantiles,
)
from tensorloom.distributions.categorical import Categorical
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import derived_seed
from tensorloom.distributions.reparameterization import NOT_REPARAMETERIZED
from tensorloom.distributions.static_values import pick_vector
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops

_NONE: Final = np.zeros(0, np.int32)
_ANY_SIZE: Final = np.array([-1], np.int32)


@export("contrib.distributions.PoissonLogNormalQuadratureCompound")
class PoissonLogNormalQuadratureCompound(Distribution):
    """A mixture of Poisson distributions in place of an integral over their rates.

    Args:
      loc, scale: of the logarithm of the rate.
      quadrature_size: how many rates there are.
      quadrature_fn: from loc, scale, quadrature_size and validate_args to logarithms of
        rates and their weights.
      validate_args: whether steps check arguments.
      allow_nan_stats: whether an undefined statistic is NaN, and not an error.
      name: of the scope.

    Raises:
      TypeError: rates and weights are of different dtypes.
    """

    def __init__(
        self,
        loc: Any,
        scale: Any,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            if loc is not None:
                loc = convert_to_tensor(loc, name="loc")
            if scale is not None:
                dtype = None if loc is None else loc.dtype
                scale = convert_to_tensor(scale, dtype=dtype, name="scale")
            grid, probs = quadrature_fn(loc, scale, quadrature_size, validate_args)
            if grid.dtype.base_dtype != probs.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match "
                    f"quadrature probs dtype ({probs.dtype.name})."
                )
            self._distribution = Poisson(
                log_rate=grid,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            self._mixture_distribution = Categorical(
                logits=math_ops.log(probs),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
            )
            self._loc = loc
            self._scale = scale
            self._quadrature_size = quadrature_size
            super().__init__(
                dtype=grid.dtype,
                reparameterization_type=NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                graph_parents=[loc, scale],
                name=name,
            )

    @property
    def mixture_distribution(self) -> Categorical:
        """Chooses a rate."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Poisson:
        """The Poisson distributions, along a last axis."""
        return self._distribution

    @property
    def loc(self) -> Any:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """How many rates there are."""
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Any:
        logits = array_ops.shape(self.mixture_distribution.logits)
        own = self.distribution.batch_shape_tensor()
        return array_ops.broadcast_dynamic_shape(own, logits)[:-1]

    def _batch_shape(self) -> Any:
        logits = self.mixture_distribution.logits.shape
        own = self.distribution.batch_shape
        return array_ops.broadcast_static_shape(own, logits)[:-1]

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        size: Any = self.batch_shape.num_elements()
        if size is None:
            size = math_ops.reduce_prod(self.batch_shape_tensor())
        # One choice for each part of the batch, where all have the same weights.
        more = pick_vector(self.mixture_distribution.is_scalar_batch(), [size], _NONE)
        chosen = self.mixture_distribution.sample(
            sample_shape=concat_vectors([n], more),
            seed=derived_seed(seed, "poisson_lognormal_quadrature_compound"),
        )
        flat = pick_vector(self.is_scalar_batch(), _NONE, _ANY_SIZE)
        chosen = array_ops.reshape(chosen, shape=concat_vectors([n], flat))
        # The rates of all parts, one after the other.
        chosen += math_ops.range(
            start=0,
            limit=size * self._quadrature_size,
            delta=self._quadrature_size,
            dtype=chosen.dtype,
        )
        rates = array_ops.gather(
            array_ops.reshape(self.distribution.rate, shape=[-1]), chosen
        )
        rates = array_ops.reshape(
            rates, shape=concat_vectors([n], self.batch_shape_tensor())
        )
        return random_ops.random_poisson(
            lam=rates, shape=[], dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Any) -> Any:
        each = self.distribution.log_prob(x[..., None])
        return math_ops.reduce_logsumexp(self.mixture_distribution.logits + each, -1)

    def _mean(self) -> Any:
        logits = self.mixture_distribution.logits + self.distribution.log_rate
        return math_ops.exp(math_ops.reduce_logsumexp(logits, axis=-1))

    def _variance(self) -> Any:
        return math_ops.exp(self._log_variance())

    def _stddev(self) -> Any:
        return math_ops.exp(0.5 * self._log_variance())

    def _log_variance(self) -> Any:
        """Of the mean variance (the rates) and the variance of the means, summed."""
        distance = self.distribution.mean() - self._mean()[..., None]
        logs = array_ops.stack(
            [
                self.distribution.log_rate,
                2.0 * math_ops.log(math_ops.abs(distance)),
            ],
            axis=-1,
        )
        logits = self.mixture_distribution.logits[..., None]
        return math_ops.reduce_logsumexp(logits + logs, axis=[-2, -1])
