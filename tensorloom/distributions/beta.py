"""The beta distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    checked,
    derived_seed,
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


@export("distributions.Beta")
class Beta(Distribution):
    """Draws between zero and one, of two weights."""

    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration1, concentration0]) as name:
            self._concentration1 = _weight(
                concentration1, "concentration1", validate_args
            )
            self._concentration0 = _weight(
                concentration0, "concentration0", validate_args
            )
            check_type_ops.assert_same_float_dtype(
                [self._concentration1, self._concentration0]
            )
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                self._concentration1,
                self._concentration0,
                self._total_concentration,
            ],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("concentration1", "concentration0"), shape)

    @property
    def concentration1(self) -> Any:
        """The weight of one."""
        return self._concentration1

    @property
    def concentration0(self) -> Any:
        """The weight of zero."""
        return self._concentration0

    @property
    def total_concentration(self) -> Any:
        """The sum of the weights."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Tensor:
        return array_ops.shape(self.total_concentration)

    def _batch_shape(self) -> Any:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        total = self.total_concentration
        alpha1, alpha0 = (
            array_ops.ones_like(total, dtype=self.dtype) * weight
            for weight in (self.concentration1, self.concentration0)
        )
        drawn1 = random_ops.random_gamma(
            shape=[n], alpha=alpha1, dtype=self.dtype, seed=seed
        )
        drawn0 = random_ops.random_gamma(
            shape=[n], alpha=alpha0, dtype=self.dtype, seed=derived_seed(seed, "beta")
        )
        return drawn1 / (drawn1 + drawn0)

    def _log_prob(self, x: Tensor) -> Any:
        x = self._checked_sample(x)
        power1 = math_ops.xlogy(self.concentration1 - 1.0, x)
        power0 = (self.concentration0 - 1.0) * math_ops.log1p(-x)
        return power1 + power0 - self._log_normalization()

    def _log_normalization(self) -> Tensor:
        parts = math_ops.lgamma(self.concentration1) + math_ops.lgamma(
            self.concentration0
        )
        return parts - math_ops.lgamma(self.total_concentration)

    def _cdf(self, x: Tensor) -> Tensor:
        return special_ops.betainc(self.concentration1, self.concentration0, x)

    def _entropy(self) -> Any:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * math_ops.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * math_ops.digamma(self.concentration0)
            + (self.total_concentration - 2.0)
            * math_ops.digamma(self.total_concentration)
        )

    def _mean(self) -> Any:
        return self.concentration1 / self.total_concentration

    def _variance(self) -> Any:
        spread = self._mean() * (1.0 - self._mean())
        return spread / (1.0 + self.total_concentration)

    def _mode(self) -> Any:
        value = (self.concentration1 - 1.0) / (self.total_concentration - 2.0)
        if self.allow_nan_stats:
            undefined = array_ops.fill(
                self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan), name="nan"
            )
            defined = math_ops.logical_and(
                self.concentration1 > 1.0, self.concentration0 > 1.0
            )
            return array_ops.where_v2(defined, value, undefined)
        return checked(
            value,
            [
                check_ops.assert_less(
                    array_ops.ones([], self.dtype),
                    weight,
                    message="Mode undefined for concentration <= 1.",
                )
                for weight in (self.concentration1, self.concentration0)
            ],
        )

    def _checked_sample(self, x: Tensor) -> Any:
        if not self.validate_args:
            return x
        above = check_ops.assert_positive(x, message="sample must be positive")
        one = array_ops.ones([], self.dtype)
        below = check_ops.assert_less(x, one, message="sample must be less than `1`.")
        return checked(x, [above, below])


def _weight(value: Any, name: str, validate_args: bool) -> Any:
    weight = convert_to_tensor(value, name=name)
    if not validate_args:
        return weight
    message = "Concentration parameter must be positive."
    return checked(weight, [check_ops.assert_positive(weight, message=message)])


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    with name_scope(
        name,
        "kl_beta_beta",
        [a.concentration1, b.concentration1, a.concentration0, b.concentration0],
    ):

        def part(field: str) -> Any:
            mine, other = getattr(a, field), getattr(b, field)
            return math_ops.digamma(mine) * (other - mine)

        found: Tensor = b._log_normalization() - a._log_normalization()
        found = found - part("concentration1") - part("concentration0")
        found = found + part("total_concentration")
        return found
