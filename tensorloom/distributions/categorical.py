"""The categorical distribution."""

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
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, True, validate_args, name
            )
            self._read_shape()
        super().__init__(
            dtype=dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    def _read_shape(self) -> None:
        """The rank and the shape of the batch and the number of classes."""
        static = self._logits.shape.with_rank_at_least(1)
        self._batch_rank: Any
        self._event_size: Any
        if static.ndims is not None:
            self._batch_rank = _integers(static.ndims - 1, "batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = array_ops.rank(self._logits) - 1
        shape = array_ops.shape(self._logits, name="logits_shape")
        classes = None if static.ndims is None else static.as_list()[-1]
        if classes is not None:
            self._event_size = _integers(classes, "event_size")
        else:
            with name_scope("event_size"):
                self._event_size = shape[self._batch_rank]
        if static.ndims is not None and static[:-1].is_fully_defined():
            self._batch_sizes = _integers(static[:-1].as_list(), "batch_shape")
        else:
            with name_scope("batch_shape"):
                self._batch_sizes = shape[:-1]

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
        return array_ops.identity(self._batch_sizes)

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
        drawn = array_ops.transpose(drawn)
        shape = array_ops.concat([[n], self.batch_shape_tensor()], 0)
        drawn = array_ops.reshape(drawn, shape)
        return math_ops.cast(drawn, self.dtype)

    def _log_prob(self, k: Tensor) -> Tensor:
        k, logits = self._broadcast(self._checked_classes(k))
        return -nn_ops.sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _checked_classes(self, k: Tensor) -> Any:
        if not self.validate_args:
            return k
        return embed_check_integer_casting_closed(k, target_dtype=dtypes.int32)

    def _cdf(self, k: Tensor) -> Tensor:
        k, probs = self._broadcast(self._checked_classes(k), self.probs)
        rows = array_ops.reshape(probs, [-1, self._event_size])
        below = array_ops.sequence_mask(array_ops.reshape(k, [-1]), self._event_size)
        kept = array_ops.where(below, rows, array_ops.zeros_like(rows))
        sums = math_ops.reduce_sum(kept, axis=-1)
        return array_ops.reshape(sums, array_ops.shape(k))

    def _broadcast(
        self, k: Tensor, table: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Classes and parameters of the same batch shape."""
        table = self.logits if table is None else table
        if not k.dtype.is_integer:
            k = math_ops.cast(k, dtypes.int32)
        batch = TensorShape(None) if table.shape.ndims is None else table.shape[:-1]
        if k.shape.is_fully_defined() and batch.is_fully_defined() and k.shape == batch:
            return k, table
        table *= array_ops.ones_like(k[..., None], dtype=table.dtype)
        k *= array_ops.ones(array_ops.shape(table)[:-1], dtype=k.dtype)
        if table.shape.ndims is not None:
            k.set_shape(table.shape[:-1])
        return k, table

    def _entropy(self) -> Tensor:
        logs = nn_ops.log_softmax(self.logits)
        return -math_ops.reduce_sum(logs * self.probs, -1)

    def _mode(self) -> Any:
        best = math_ops.argmax(self.logits, axis=self._batch_rank)
        return math_ops.cast(best, self.dtype)


def _integers(value: Any, name: str) -> Tensor:
    return convert_to_tensor(value, dtype=dtypes.int32, name=name)


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(
    a: Categorical, b: Categorical, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", [a.logits, b.logits]):
        apart = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
        return math_ops.reduce_sum(nn_ops.softmax(a.logits) * apart, axis=-1)
