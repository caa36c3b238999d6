"""The Dirichlet distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    checked,
)
from tensorloom.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.linalg import matrix_diag as diag_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math import special as special_ops
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("distributions.Dirichlet")
class Dirichlet(Distribution):
    """Draws of probabilities: positive vectors whose sum is one."""

    def __init__(
        self,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration]) as name:
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                checks = [
                    check_ops.assert_positive(
                        self._concentration,
                        message="Concentration parameter must be positive.",
                    ),
                    check_rank_ops.assert_rank_at_least(
                        self._concentration,
                        1,
                        message="Concentration parameter must have >=1 dimensions.",
                    ),
                    check_ops.assert_less(
                        1,
                        array_ops.shape(self._concentration)[-1],
                        message="Concentration parameter must have event_size >= 2.",
                    ),
                ]
                self._concentration = checked(self._concentration, checks)
            self._total_concentration = math_ops.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._total_concentration],
            name=name,
        )

    @property
    def concentration(self) -> Tensor:
        """The weight of each class."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the weights."""
        return self._total_concentration

    def _batch_shape_tensor(self) -> Tensor:
        return array_ops.shape(self.total_concentration)

    def _batch_shape(self) -> TensorShape:
        return self.total_concentration.shape

    def _event_shape_tensor(self) -> Tensor:
        return array_ops.shape(self.concentration)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        drawn = random_ops.random_gamma(
            shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed
        )
        return drawn / math_ops.reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            x = _checked_simplex(x)
        powers = math_ops.xlogy(self.concentration - 1.0, x)
        return math_ops.reduce_sum(powers, -1) - special_ops.lbeta(self.concentration)

    def _entropy(self) -> Any:
        classes = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        total = self.total_concentration
        found = special_ops.lbeta(self.concentration)
        found += (total - classes) * math_ops.digamma(total)
        parts = (self.concentration - 1.0) * math_ops.digamma(self.concentration)
        return found - math_ops.reduce_sum(parts, -1)

    def _mean(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _scale(self) -> Tensor:
        return math_ops.rsqrt(1.0 + self.total_concentration[..., None])

    def _covariance(self) -> Tensor:
        scaled = self._scale() * self._mean()
        products = -math_ops.matmul(scaled[..., None], scaled[..., None, :])
        return diag_ops.matrix_set_diag(products, self._variance())

    def _variance(self) -> Tensor:
        scale = self._scale()
        scaled = scale * self._mean()
        return scaled * (scale - scaled)

    def _mode(self) -> Any:
        classes = math_ops.cast(self.event_shape_tensor()[0], self.dtype)
        value = self.concentration - 1.0
        value = value / (self.total_concentration[..., None] - classes)
        if self.allow_nan_stats:
            nan = self.dtype.as_numpy_dtype(np.nan)
            undefined = array_ops.fill(array_ops.shape(value), nan, name="nan")
            many = self.batch_shape.ndims != 0
            defined = math_ops.reduce_all(self.concentration > 1.0, -1, keepdims=many)
            return array_ops.where_v2(defined, value, undefined)
        return checked(
            value,
            [
                check_ops.assert_less(
                    array_ops.ones([], self.dtype),
                    self.concentration,
                    message="Mode undefined when any concentration <= 1",
                )
            ],
        )


def _checked_simplex(x: Tensor) -> Any:
    return checked(
        x,
        [
            check_ops.assert_positive(x, message="samples must be positive"),
            check_ops.assert_near(
                array_ops.ones([], x.dtype),
                math_ops.reduce_sum(x, -1),
                message="sample last-dimension must sum to `1`",
            ),
        ],
    )


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(
    a: Dirichlet, b: Dirichlet, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", [a.concentration, b.concentration]):
        total = math_ops.digamma(
            math_ops.reduce_sum(a.concentration, axis=-1, keepdims=True)
        )
        logs = math_ops.digamma(a.concentration) - total
        parts = (a.concentration - b.concentration) * logs
        return (
            math_ops.reduce_sum(parts, axis=-1)
            - special_ops.lbeta(a.concentration)
            + special_ops.lbeta(b.concentration)
        )
