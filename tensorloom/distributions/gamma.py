"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    checked,
    common_shape,
    common_shape_tensor,
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
from tensorloom.ops.random import random_ops


@export("distributions.Gamma")
class Gamma(Distribution):
    """Positive draws; `rate` is the inverse of their scale."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            checks = positive(validate_args, concentration, rate)
            self._concentration, self._rate = read_after(
                checks, concentration=concentration, rate=rate
            )
            check_type_ops.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("concentration", "rate"), shape)

    @property
    def concentration(self) -> Tensor:
        """The shape of the density."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse of the scale."""
        return self._rate

    def _batch_shape_tensor(self) -> Tensor:
        return common_shape_tensor(self.concentration, self.rate)

    def _batch_shape(self) -> TensorShape:
        return common_shape(self.concentration, self.rate)

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        return random_ops.random_gamma(
            shape=[n],
            alpha=self.concentration,
            beta=self.rate,
            dtype=self.dtype,
            seed=seed,
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked_sample(x)
        power = math_ops.xlogy(self.concentration - 1.0, x)
        return power - self.rate * x - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        # Nodes are made from left to right, as in TensorFlow.
        a, b = self.concentration, self.rate
        return math_ops.lgamma(a) - a * math_ops.log(b)

    def _cdf(self, x: Tensor) -> Tensor:
        return math_ops.igamma(self.concentration, self.rate * self._checked_sample(x))

    def _entropy(self) -> Tensor:
        a = self.concentration
        scale = a - math_ops.log(self.rate)
        return scale + math_ops.lgamma(a) + (1.0 - a) * math_ops.digamma(a)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / math_ops.square(self.rate)

    def _stddev(self) -> Tensor:
        return math_ops.sqrt(self.concentration) / self.rate

    def _mode(self) -> Any:
        value = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            undefined = array_ops.fill(
                self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan), name="nan"
            )
            return array_ops.where_v2(self.concentration > 1.0, value, undefined)
        return checked(
            value,
            [
                check_ops.assert_less(
                    array_ops.ones([], self.dtype),
                    self.concentration,
                    message="mode not defined when any concentration <= 1",
                )
            ],
        )

    def _checked_sample(self, x: Tensor) -> Any:
        check_type_ops.assert_same_float_dtype([x], self.dtype)
        return checked(x, [check_ops.assert_positive(x)] if self.validate_args else [])


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    with name_scope(
        name, "kl_gamma_gamma", [a.concentration, a.rate, b.concentration, b.rate]
    ):
        bend = (a.concentration - b.concentration) * math_ops.digamma(a.concentration)
        found = bend + math_ops.lgamma(b.concentration)
        found = found - math_ops.lgamma(a.concentration)
        found = found + b.concentration * math_ops.log(a.rate)
        found = found - b.concentration * math_ops.log(b.rate)
        return found + a.concentration * (b.rate / a.rate - 1.0)
