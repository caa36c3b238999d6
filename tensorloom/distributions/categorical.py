"""The categorical distribution."""

from __future__ import annotations

from typing import Any

from tensorloom.distributions.distribution import Distribution
from tensorloom.distributions.divergence import RegisterKL
from tensorloom.distributions.parameters import (
    checked,
    common_shape_tensor,
    last_size,
    logits_and_probs,
)
from tensorloom.distributions.reparameterization import (
    NOT_REPARAMETERIZED,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.random import random_ops


@export("distributions.Categorical")
class Categorical(Distribution):
    """Draws of a class; the last axis of the parameters is that of classes."""

    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        dtype: Any = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = logits_and_probs(
                logits, probs, True, validate_args, name
            )
            if validate_args:
                least = check_rank_ops.assert_rank_at_least(self._logits, 1)
                self._logits = checked(self._logits, [least])
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )
        self._event_size = last_size(self._logits)

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

    @property
    def event_size(self) -> Any:
        """The number of classes, an int32 scalar."""
        return self._event_size

    def _batch_shape_tensor(self) -> Tensor:
        return array_ops.shape(self.logits)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return convert_to_tensor([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: Tensor, seed: Any = None) -> Any:
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = array_ops.reshape(logits, [-1, self.event_size])
        wide = dtypes.as_dtype(self.dtype).size > 4
        drawn = random_ops.multinomial(
            logits,
            n,
            seed=seed,
            output_dtype=dtypes.int64 if wide else dtypes.int32,
        )
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        drawn = array_ops.reshape(array_ops.transpose(drawn), shape)
        return math_ops.cast(drawn, self.dtype)

    def _log_prob(self, k: Tensor) -> Tensor:
        if self.validate_args and k.dtype.is_floating:
            k = checked(k, [check_ops.assert_equal(k, math_ops.floor(k))])
        k, logits = self._broadcast(k)
        return -nn_ops.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k: Tensor) -> Tensor:
        k, probs = self._broadcast(k, self.probs)
        count = array_ops.shape(probs)[-1]
        below = math_ops.range(count) < array_ops.expand_dims(k, -1)
        kept = array_ops.where(below, probs, array_ops.zeros_like(probs))
        return math_ops.reduce_sum(kept, axis=-1)

    def _broadcast(
        self, k: Tensor, table: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        table = self.logits if table is None else table
        kind = k.dtype if k.dtype.is_integer else dtypes.int32
        shape = common_shape_tensor(k, table[..., 0])
        k = math_ops.cast(k, kind) + array_ops.zeros(shape, kind)
        zeros = array_ops.zeros_like(array_ops.expand_dims(k, -1))
        return k, table + math_ops.cast(zeros, table.dtype)

    def _entropy(self) -> Tensor:
        logs = nn_ops.log_softmax(self.logits)
        return -math_ops.reduce_sum(math_ops.multiply_no_nan(logs, self.probs), -1)

    def _mode(self) -> Any:
        best = math_ops.argmax(self.logits, axis=-1)
        return math_ops.cast(best, self.dtype)


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(
    a: Categorical, b: Categorical, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * apart, axis=-1)
