"""Attention mechanisms: a memory, its keys, and how a query is scored on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.seq2seq.scores import (
    bahdanau_score,
    luong_score,
    maybe_mask_score,
    prepare_memory,
    size_of,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.layers.base import Layer
from tensorloom.layers.core import Dense
from tensorloom.nn.rnn_cell import zero_states
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.state.initializers import Constant, Ones, Zeros


@export("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """Base of what `AttentionWrapper` takes.

    A mechanism is called with a query and its last state, and returns alignments and
    its next state.
    """

    @property
    def alignments_size(self) -> Any:
        """How many places of the memory there are."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        raise NotImplementedError


class BaseAttentionMechanism(AttentionMechanism):
    """A mechanism that keeps its memory, the keys made of it, and its layers.

    Args:
      query_layer: a layer for queries, or None for queries as they are.
      memory: [batch, time, ...], most often outputs of an encoder.
      probability_fn: (scores, last state) -> alignments.
      memory_sequence_length: int [batch]; places past it get no attention.
      memory_layer: a layer that makes keys of the memory.
      check_inner_dims_defined: whether the memory's sizes past two must be known.
      score_mask_value: of scores past the lengths, -inf by default.
      custom_key_value_fn: (keys, values) -> (keys, values), in place of those made.
      name: of the operations.

    Raises:
      TypeError: not a layer, or not a function.
      ValueError: a size is not known.
    """

    # Variables of the score are in a variable scope of this name.
    _scope_name = ""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        _check_layer("query_layer", query_layer)
        _check_layer("memory_layer", memory_layer)
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(
                f"probability_fn must be callable, saw type: "
                f"{type(probability_fn).__name__}"
            )
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)

        def masked_probability(score: Any, state: Any) -> Any:
            masked = maybe_mask_score(
                score,
                memory_sequence_length=memory_sequence_length,
                score_mask_value=score_mask_value,
            )
            return probability_fn(masked, state)

        self._probability_fn = masked_probability
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = prepare_memory(
                memory,
                memory_sequence_length=memory_sequence_length,
                check_inner_dims_defined=check_inner_dims_defined,
            )
            self._keys = self._values
            if self.memory_layer:
                self._keys = self.memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        """The layer that made the keys."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer for queries, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory [batch, time, ...], with zeros past its lengths."""
        return self._values

    @property
    def keys(self) -> Any:
        """What queries are compared with, [batch, time, units]."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The memory's first size."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The memory's second size: a number where known, else a tensor."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """That of the alignments."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: zeros [batch, time]."""
        return zero_states(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Any:
        """The state before the first step: the alignments."""
        return self.initial_alignments(batch_size, dtype)

    def _score(self, query: Tensor) -> Tensor:
        """Scores [batch, time] of a query."""
        raise NotImplementedError

    def __call__(self, query: Tensor, state: Any) -> tuple[Any, Any]:
        """Alignments of a query [batch, depth] with the memory.

        Args:
          query: of the memory's dtype.
          state: what the last call returned, or `initial_state`.

        Returns:
          (alignments [batch, time], next state).
        """
        with variable_scope(None, self._scope_name, [query]):
            score = self._score(query)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def _check_layer(argument: str, layer: Any) -> None:
    if layer is not None and not isinstance(layer, Layer):
        raise TypeError(f"{argument} is not a Layer: {type(layer).__name__}")


def projection(num_units: int, name: str, dtype: Any) -> Dense:
    """The layer that makes keys or processed queries; float32 without a dtype."""
    dtype = dtypes.float32 if dtype is None else dtype
    return Dense(num_units, name=name, use_bias=False, dtype=dtype)


def luong_scale(wanted: bool, dtype: Any) -> Any:
    """The variable that scales inner products, or None."""
    if not wanted:
        return None
    return get_variable("attention_g", dtype=dtype, initializer=Ones, shape=())


def additive_score(
    processed_query: Tensor, keys: Any, num_units: int, normalize: bool, dtype: Any
) -> Tensor:
    """`bahdanau_score` with variables of the scope."""
    attention_v = get_variable("attention_v", [num_units], dtype=dtype)
    if not normalize:
        return bahdanau_score(processed_query, keys, attention_v)
    attention_g = get_variable(
        "attention_g",
        dtype=dtype,
        initializer=Constant(math.sqrt(1.0 / num_units)),
        shape=(),
    )
    attention_b = get_variable(
        "attention_b", [num_units], dtype=dtype, initializer=Zeros()
    )
    return bahdanau_score(processed_query, keys, attention_v, attention_g, attention_b)


def _of_score(probability_fn: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    """A function of scores and state that looks at scores only."""
    function = softmax if probability_fn is None else probability_fn
    return lambda score, _: function(score)


@export("contrib.seq2seq.LuongAttention")
class LuongAttention(BaseAttentionMechanism):
    """Attention by inner products (arXiv:1508.04025).

    Args:
      num_units: depth of keys; queries must have it too.
      memory: [batch, time, depth].
      memory_sequence_length: int [batch]; places past it get no attention.
      scale: whether a variable scales the scores.
      probability_fn: scores -> alignments, `tf.nn.softmax` by default.
      score_mask_value: of scores past the lengths, -inf by default.
      dtype: of the memory's layer, float32 by default.
      custom_key_value_fn: (keys, values) -> (keys, values), in place of those made.
      name: of the operations.
    """

    _scope_name = "luong_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_of_score(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def _score(self, query: Tensor) -> Tensor:
        scale = luong_scale(self._scale, query.dtype)
        return luong_score(query, self._keys, scale)  # type: ignore[no-any-return]

    def __call__(self, query: Tensor, state: Any) -> tuple[Any, Any]:
        """As of every mechanism. Raises ValueError for a query of another depth."""
        return super().__call__(query, state)


@export("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(BaseAttentionMechanism):
    """Attention by sums under tanh (arXiv:1409.0473).

    Args:
      num_units: depth of keys and processed queries.
      memory: [batch, time, depth].
      memory_sequence_length: int [batch]; places past it get no attention.
      normalize: whether weights are normalized (arXiv:1602.07868).
      probability_fn: scores -> alignments, `tf.nn.softmax` by default.
      score_mask_value: of scores past the lengths, -inf by default.
      dtype: of the layers, float32 by default.
      custom_key_value_fn: (keys, values) -> (keys, values), in place of those made.
      name: of the operations.
    """

    _scope_name = "bahdanau_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=_of_score(probability_fn),
            custom_key_value_fn=custom_key_value_fn,
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def _score(self, query: Tensor) -> Tensor:
        processed = self.query_layer(query) if self.query_layer else query
        return additive_score(
            processed, self._keys, self._num_units, self._normalize, query.dtype
        )
