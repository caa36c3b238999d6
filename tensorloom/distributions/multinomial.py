"""The multinomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.map_fn import map_fn
from tensorloom.distributions.class_probabilities import get_logits_and_probs
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.parameters import (
    checked,
    log_combinations,
)
from tensorloom.distributions.reparameterization import (
    NOT_REPARAMETERIZED,
)
from tensorloom.distributions.value_checks import embed_check_nonnegative_integer_form
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.linalg import matrix_diag as diag_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("distributions.Multinomial")
class Multinomial(Distribution):
    """Counts of each class among `total_count` draws."""

    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                self._total_count = embed_check_nonnegative_integer_form(
                    self._total_count
                )
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, True, validate_args, name
            )
            self._mean_value = self._total_count[..., None] * self._probs
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return array_ops.shape(self._mean_value)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self._mean_value.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return array_ops.shape(self._mean_value)[-1:]

    def _event_shape(self) -> TensorShape:
        return self._mean_value.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: Tensor, seed: Any = None) -> Tensor:
        draws = math_ops.cast(self.total_count, dtypes.int32)
        classes = self.event_shape_tensor()[0]
        draws = array_ops.ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        ones = array_ops.ones_like(draws[..., None], dtype=self.logits.dtype)
        rows = array_ops.reshape(ones * self.logits, [-1, classes])
        counts = n * array_ops.reshape(draws, [-1])

        def one_member(member: Any) -> Tensor:
            logits, count = member
            drawn = random_ops.multinomial(logits[None, ...], count, seed)
            drawn = array_ops.reshape(drawn, [n, -1])
            return math_ops.reduce_sum(one_hot(drawn, depth=classes), axis=-2)

        drawn = map_fn(one_member, [rows, counts], dtype=self.dtype)
        drawn = array_ops.transpose(drawn, [1, 0, 2])
        shape = array_ops.concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return array_ops.reshape(drawn, shape)

    def _log_prob(self, counts: Tensor) -> Tensor:
        checked_counts = self._checked_counts(counts)
        logs = nn_ops.log_softmax(self.logits)
        weighted = math_ops.reduce_sum(checked_counts * logs, -1)
        # Checked a second time: the nodes are TensorFlow's.
        orders = log_combinations(self.total_count, self._checked_counts(counts))
        return weighted - (-orders)

    def _mean(self) -> Tensor:
        return array_ops.identity(self._mean_value)

    def _covariance(self) -> Tensor:
        probs = self.probs * array_ops.ones_like(self.total_count)[..., None]
        products = -math_ops.matmul(self._mean_value[..., None], probs[..., None, :])
        return diag_ops.matrix_set_diag(products, self._variance())

    def _variance(self) -> Tensor:
        probs = self.probs * array_ops.ones_like(self.total_count)[..., None]
        return self._mean_value - self._mean_value * probs

    def _checked_counts(self, counts: Tensor) -> Any:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        same = check_ops.assert_equal(
            self.total_count,
            math_ops.reduce_sum(counts, -1),
            message="counts must sum to `self.total_count`",
        )
        return checked(counts, [same])
