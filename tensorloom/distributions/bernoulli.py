"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.class_probabilities import get_logits_and_probs
from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.reparameterization import (
    NOT_REPARAMETERIZED,
)
from tensorloom.distributions.value_checks import embed_check_integer_casting_closed
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops


@export("distributions.Bernoulli")
class Bernoulli(Distribution):
    """Draws of one and of zero; `probs` is the probability of one."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, False, validate_args, name
            )
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    @staticmethod
    def _param_shapes(sample_shape: Any) -> dict[str, Tensor]:
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(("logits",), shape)

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs

    def _batch_shape_tensor(self) -> Tensor:
        return array_ops.shape(self.logits)

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        drawn = random_ops.random_uniform(shape, seed=seed, dtype=self.probs.dtype)
        return math_ops.cast(math_ops.less(drawn, self.probs), self.dtype)

    def _log_prob(self, event: Tensor) -> Tensor:
        if self.validate_args:
            event = embed_check_integer_casting_closed(event, dtypes.bool)
        event = math_ops.cast(event, self.logits.dtype)
        logits = self.logits
        shapes = event.shape, logits.shape
        if not (shapes[0].is_fully_defined() and shapes[0] == shapes[1]):
            logits, event = (
                array_ops.ones_like(event) * logits,
                array_ops.ones_like(logits) * event,
            )
        return -nn_ops.sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        logits = self.logits
        return -logits * (math_ops.sigmoid(logits) - 1) + nn_ops.softplus(-logits)

    def _mean(self) -> Tensor:
        return array_ops.identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return math_ops.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(
    a: Bernoulli, b: Bernoulli, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", [a.logits, b.logits]):
        ones = nn_ops.softplus(-b.logits) - nn_ops.softplus(-a.logits)
        zeros = nn_ops.softplus(b.logits) - nn_ops.softplus(a.logits)
        return math_ops.sigmoid(a.logits) * ones + math_ops.sigmoid(-a.logits) * zeros
