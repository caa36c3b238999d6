"""The base of attention mechanisms that are Keras layers, and their scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.contrib.seq2seq.mechanisms import AttentionMechanism
from tensorloom.contrib.seq2seq.scores import (
    bahdanau_score,
    luong_score,
    maybe_mask_score,
    prepare_memory,
    size_of,
)
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.layers.dense import Dense
from tensorloom.keras.named_objects import deserialize_keras_object
from tensorloom.nn.rnn_cell import zero_states
from tensorloom.ops.state.initializers import Constant, Ones, Zeros


class LuongScore:
    """Inner products of queries and keys.

    Args:
      scale: whether a variable scales them.
      bias: where a variable that is added starts; None: there is none.
    """

    def __init__(self, scale: bool, bias: float | None = None) -> None:
        self._scale, self._bias_start = scale, bias
        self._g: Any = None
        self._bias: Any = None

    def build(self, weight: Callable[..., Any]) -> None:
        """Makes the variables by a function of name, shape and initializer, once."""
        if self._scale and self._g is None:
            self._g = weight("attention_g", (), Ones())
        if self._bias_start is not None and self._bias is None:
            self._bias = weight("attention_score_bias", (), Constant(self._bias_start))

    def __call__(self, query: Any, keys: Any) -> Any:
        """Scores [batch, time]."""
        return _with_bias(luong_score(query, keys, self._g), self._bias)


class BahdanauScore:
    """Sums under tanh.

    Args:
      units: depth of keys and processed queries.
      normalize: whether weights are normalized.
      initializer: of the weights.
      bias: where a variable that is added starts; None: there is none.
    """

    def __init__(
        self, units: int, normalize: bool, initializer: Any, bias: float | None = None
    ) -> None:
        self._units, self._normalize = units, normalize
        self._initializer, self._bias_start = initializer, bias
        self._v: Any = None
        self._g: Any = None
        self._b: Any = None
        self._bias: Any = None

    def build(self, weight: Callable[..., Any]) -> None:
        """Makes the variables by a function of name, shape and initializer, once."""
        if self._v is not None:
            return
        self._v = weight("attention_v", [self._units], self._initializer)
        if self._bias_start is not None:
            self._bias = weight("attention_score_bias", (), Constant(self._bias_start))
        if self._normalize:
            start = Constant(math.sqrt(1.0 / self._units))
            self._g = weight("attention_g", (), start)
            self._b = weight("attention_b", [self._units], Zeros())

    def __call__(self, query: Any, keys: Any) -> Any:
        """Scores [batch, time]."""
        score = bahdanau_score(query, keys, self._v, self._g, self._b)
        return _with_bias(score, self._bias)


def _with_bias(score: Any, bias: Any) -> Any:
    return score if bias is None else score + bias


class LayerMechanism(AttentionMechanism, Layer):
    """A mechanism whose calls take a list: `[query, state]`.

    Args:
      score: a `LuongScore` or `BahdanauScore`.
      memory: [batch, time, depth]; None: it is set by a call with `setup_memory=True`.
      probability_fn: (scores, last state) -> alignments.
      query_layer: a layer for queries, or None for queries as they are.
      memory_layer: a layer that makes keys of the memory, or None.
      memory_sequence_length: int [batch]; the memory past it is zero. As in TensorFlow,
        only a mask of the memory keeps attention from it.
      **kwargs: of the layer.

    Raises:
      TypeError: not a layer, or not a function.
    """

    def __init__(
        self,
        score: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        query_layer: Any = None,
        memory_layer: Any = None,
        memory_sequence_length: Any = None,
        **kwargs: Any,
    ) -> None:
        for name, layer in (
            ("query_layer", query_layer),
            ("memory_layer", memory_layer),
        ):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{name} is not a Layer: {type(layer).__name__}")
        if memory_layer is not None:
            kwargs.setdefault("dtype", memory_layer.dtype)
        super().__init__(**kwargs)
        if not callable(probability_fn):
            raise TypeError(
                "probability_fn must be callable, saw type: "
                f"{type(probability_fn).__name__}"
            )
        self._score = score
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        self.probability_fn = probability_fn
        self.keys: Any = None
        self.values: Any = None
        self.batch_size: Any = None
        self._alignments_size: Any = None
        self._memory_initialized = False
        self.supports_masking = True
        self.score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            inputs: Any = memory
            if memory_sequence_length is not None:
                inputs = [memory, memory_sequence_length]
            self.values = super().__call__(inputs, setup_memory=True)

    def build(self, input_shape: Any) -> None:
        """Makes the variables of the layers, and those of the score."""
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        layer = self.query_layer if self._memory_initialized else self.memory_layer
        if layer is not None and not layer.built:
            layer.build(first)
        self._score.build(self._weight)
        self.built = True

    def _weight(self, name: str, shape: Any, initializer: Any) -> Any:
        return self.add_weight(
            name, shape=shape, dtype=self.dtype, initializer=initializer
        )

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """(alignments [batch, time], next state) of `[query, state]`.

        With `setup_memory=True`: the memory, of `memory` or `[memory, lengths]`.

        Raises:
          ValueError: another number of inputs, or no memory.
        """
        if self._memory_initialized:
            _check_count(len(inputs))
            if len(inputs) == 2:
                inputs = [*inputs, self.values]
        return super().__call__(inputs, *args, **kwargs)

    def call(
        self, inputs: Any, mask: Any = None, setup_memory: bool = False, **kwargs: Any
    ) -> Any:
        """See `__call__`."""
        if setup_memory:
            parts = inputs if isinstance(inputs, list) else [inputs]
            if len(parts) not in (1, 2):
                raise ValueError(
                    f"Expect inputs to have 1 or 2 tensors, got {len(parts)}"
                )
            lengths = parts[1] if len(parts) == 2 else None
            self._setup_memory(parts[0], lengths, mask)
            # The next call builds what queries need.
            self.built = False
            return self.values
        if not self._memory_initialized:
            raise ValueError("Cannot query the attention before the setup of memory")
        _check_count(len(inputs))
        query = inputs[0] if self.query_layer is None else self.query_layer(inputs[0])
        alignments = self.probability_fn(self._score(query, self.keys), inputs[1])
        return alignments, alignments

    def _setup_memory(self, memory: Any, lengths: Any, mask: Any) -> None:
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        if nest.is_nested(mask):
            mask = nest.flatten(mask)[0]
        if lengths is not None and mask is not None:
            raise ValueError(
                "memory_sequence_length and memory_mask cannot be used at same time "
                "for attention."
            )
        with name_scope(self.name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self.values = prepare_memory(memory, lengths, mask)
            layer = self.memory_layer
            self.keys = self.values if layer is None else layer(self.values)
            self.batch_size = size_of(self.keys, 0)
            self._alignments_size = size_of(self.keys, 1)
            if mask is not None:
                self._mask_probabilities(mask)
        self._memory_initialized = True

    def _mask_probabilities(self, mask: Any) -> None:
        unmasked, value = self.probability_fn, self.score_mask_value

        def masked(score: Any, state: Any) -> Any:
            score = maybe_mask_score(score, memory_mask=mask, score_mask_value=value)
            return unmasked(score, state)

        self.probability_fn = masked

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Alignments and state have no masks."""
        return None, None

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

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a mechanism, without a memory."""
        layers = {"query_layer": self.query_layer, "memory_layer": self.memory_layer}
        configs = {
            name: {"class_name": type(layer).__name__, "config": layer.get_config()}
            for name, layer in layers.items()
            if layer is not None
        }
        return {**super().get_config(), **configs, "memory": None}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """A mechanism of what `get_config` gave."""
        made = dict(config)
        for name in ("query_layer", "memory_layer"):
            if made.get(name):
                made[name] = deserialize_keras_object(
                    made[name], {"Dense": Dense}, custom_objects, "layer"
                )
        return cls(**made)


def _check_count(count: int) -> None:
    if count not in (2, 3):
        raise ValueError(
            "Expect the inputs to have query, state, and optional processed memory, "
            f"got {count} items"
        )
