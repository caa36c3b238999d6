"""Counts whose probabilities are drawn from a Dirichlet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    checked,
    derived_seed,
    log_combinations,
)
from tensorloom.distributions.reparameterization import (
    NOT_REPARAMETERIZED,
)
from tensorloom.distributions.value_checks import (
    embed_check_categorical_event_shape,
    embed_check_nonnegative_integer_form,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.linalg import matrix_diag as diag_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math import special as special_ops
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("distributions.DirichletMultinomial")
class DirichletMultinomial(Distribution):
    """Counts of each class; its probability is a Dirichlet draw."""

    def __init__(
        self,
        total_count: Any,
        concentration: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = embed_check_nonnegative_integer_form(
                    self._total_count
                )
            self._concentration = convert_to_tensor(concentration, name="concentration")
            if validate_args:
                weights = embed_check_categorical_event_shape(self._concentration)
                message = "Concentration parameter must be positive."
                positive = check_ops.assert_positive(weights, message=message)
                self._concentration = checked(weights, [positive])
            self._total_concentration = math_ops.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._concentration],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

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

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        draws = math_ops.cast(self.total_count, dtypes.int32)
        classes = self.event_shape_tensor()[0]
        weights = random_ops.random_gamma(
            shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed
        )
        drawn = random_ops.multinomial(
            array_ops.reshape(math_ops.log(weights), [-1, classes]),
            draws,
            seed=derived_seed(seed, "dirichlet_multinomial"),
        )
        counts = math_ops.reduce_sum(one_hot(drawn, depth=classes), -2)
        shape = array_ops.concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return math_ops.cast(array_ops.reshape(counts, shape), self.dtype)

    def _log_prob(self, counts: Tensor) -> Tensor:
        counts = self._checked_counts(counts)
        ordered = special_ops.lbeta(self.concentration + counts)
        ordered -= special_ops.lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _probabilities(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _mean(self) -> Tensor:
        return self.total_count * self._probabilities()

    def _scale(self) -> Any:
        total = self.total_concentration[..., None]
        return math_ops.sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _covariance(self) -> Tensor:
        scaled = self._scale() * self._mean()
        products = -math_ops.matmul(scaled[..., None], scaled[..., None, :])
        return diag_ops.matrix_set_diag(products, self._variance())

    def _variance(self) -> Any:
        scale = self._scale()
        scaled = scale * self._mean()
        return scaled * (self.total_count * scale - scaled)

    def _checked_counts(self, counts: Tensor) -> Any:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        same = check_ops.assert_equal(
            self.total_count,
            math_ops.reduce_sum(counts, -1),
            message="counts last-dimension must sum to `self.total_count`",
        )
        return checked(counts, [same])
