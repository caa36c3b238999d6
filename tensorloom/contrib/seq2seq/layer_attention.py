"""`LuongAttentionV2`, `BahdanauAttentionV2` and the monotonic ones: Keras layers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from tensorloom.contrib.seq2seq.layer_mechanisms import (
    BahdanauScore,
    LayerMechanism,
    LuongScore,
)
from tensorloom.contrib.seq2seq.monotonic import monotonic_probability_fn
from tensorloom.contrib.seq2seq.scores import hardmax
from tensorloom.framework.types import dtypes
from tensorloom.keras import initializers
from tensorloom.keras.layers.dense import Dense
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn.softmax import softmax

_PROBABILITIES: Final[dict[str, Callable[..., Any]]] = {
    "softmax": softmax,
    "hardmax": hardmax,
}


def _of_score(name: str) -> Callable[[Any, Any], Any]:
    """(scores, last state) -> alignments, by its name. Raises ValueError: unknown."""
    if name not in _PROBABILITIES:
        raise ValueError(
            f"Invalid probability function: {name}, options are {list(_PROBABILITIES)}"
        )
    function = _PROBABILITIES[name]
    return lambda score, _: function(score)


def _layers(
    given: dict[str, Any], names: tuple[str, ...], units: int, dtype: Any
) -> dict[str, Any]:
    """What was given, with a new layer for each name that has none, and the dtype."""
    dtype = dtypes.float32 if dtype is None else dtype
    made = {
        name: given.get(name) or Dense(units, name=name, use_bias=False, dtype=dtype)
        for name in names
    }
    return {**given, **made, "dtype": dtype}


class _Configured(LayerMechanism):
    """A mechanism whose configuration has its own arguments."""

    _own_arguments: dict[str, Any]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a mechanism, without a memory."""
        return {**super().get_config(), **self._own_arguments}


class LuongAttentionV2(_Configured):
    """`LuongAttention` as a Keras layer.

    Args:
      units: depth of keys; queries must have it too.
      memory, memory_sequence_length: see `LayerMechanism`.
      scale: whether a variable scales the scores.
      probability_fn: "softmax" or "hardmax".
      dtype: float32 by default.
      name: of the layer.
      **kwargs: `memory_layer`, or of the layer.

    Raises:
      ValueError: another function.
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: str = "softmax",
        dtype: Any = None,
        name: str = "LuongAttention",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            LuongScore(scale),
            memory,
            _of_score(probability_fn),
            memory_sequence_length=memory_sequence_length,
            name=name,
            **_layers(kwargs, ("memory_layer",), units, dtype),
        )
        self.units = units
        self._own_arguments = {
            "units": units,
            "scale": scale,
            "probability_fn": probability_fn,
        }


class BahdanauAttentionV2(_Configured):
    """`BahdanauAttention` as a Keras layer.

    Args:
      units: depth of keys and processed queries.
      memory, memory_sequence_length: see `LayerMechanism`.
      normalize: whether weights are normalized.
      probability_fn: "softmax" or "hardmax".
      kernel_initializer: of the score's weights.
      dtype: float32 by default.
      name: of the layer.
      **kwargs: `query_layer` and `memory_layer`, or of the layer.

    Raises:
      ValueError: another function.
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauAttention",
        **kwargs: Any,
    ) -> None:
        initializer = initializers.get(kernel_initializer)
        super().__init__(
            BahdanauScore(units, normalize, initializer),
            memory,
            _of_score(probability_fn),
            memory_sequence_length=memory_sequence_length,
            name=name,
            **_layers(kwargs, ("query_layer", "memory_layer"), units, dtype),
        )
        self.units = units
        self._own_arguments = {
            "units": units,
            "normalize": normalize,
            "probability_fn": probability_fn,
            "kernel_initializer": initializers.serialize(initializer),
        }


class MonotonicMechanism(_Configured):
    """A mechanism that starts at the first place of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """The alignments before the first step: [1, 0, 0, ...] for each sequence."""
        first = array_ops.zeros((batch_size,), dtype=dtypes.int32)
        return array_ops.one_hot(first, self._alignments_size, dtype=dtype)


class BahdanauMonotonicAttentionV2(MonotonicMechanism):
    """`BahdanauMonotonicAttention` as a Keras layer.

    Args:
      units, memory, memory_sequence_length, normalize, kernel_initializer, dtype, name,
        **kwargs: see `BahdanauAttentionV2`.
      sigmoid_noise: standard deviation of noise that is added to scores.
      sigmoid_noise_seed: of the noise.
      score_bias_init: where the variable that is added to scores starts.
      mode: "recursive", "parallel" or "hard"; see `monotonic_attention`.
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        kernel_initializer: Any = "glorot_uniform",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        initializer = initializers.get(kernel_initializer)
        noise, seed = sigmoid_noise, sigmoid_noise_seed
        super().__init__(
            BahdanauScore(units, normalize, initializer, score_bias_init),
            memory,
            _monotonic(noise, mode, seed),
            memory_sequence_length=memory_sequence_length,
            name=name,
            **_layers(kwargs, ("query_layer", "memory_layer"), units, dtype),
        )
        self.units = units
        self._own_arguments = {
            "units": units,
            "normalize": normalize,
            "sigmoid_noise": noise,
            "sigmoid_noise_seed": seed,
            "score_bias_init": score_bias_init,
            "mode": mode,
            "kernel_initializer": initializers.serialize(initializer),
        }


class LuongMonotonicAttentionV2(MonotonicMechanism):
    """`LuongMonotonicAttention` as a Keras layer.

    Args:
      units, memory, memory_sequence_length, scale, dtype, name, **kwargs: see
        `LuongAttentionV2`.
      sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode: see
        `BahdanauMonotonicAttentionV2`.
    """

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        noise, seed = sigmoid_noise, sigmoid_noise_seed
        super().__init__(
            LuongScore(scale, score_bias_init),
            memory,
            _monotonic(noise, mode, seed),
            memory_sequence_length=memory_sequence_length,
            name=name,
            **_layers(kwargs, ("memory_layer",), units, dtype),
        )
        self.units = units
        self._own_arguments = {
            "units": units,
            "scale": scale,
            "sigmoid_noise": noise,
            "sigmoid_noise_seed": seed,
            "score_bias_init": score_bias_init,
            "mode": mode,
        }


def _monotonic(
    sigmoid_noise: float, mode: str, seed: int | None
) -> Callable[[Any, Any], Any]:
    return functools.partial(
        monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=seed
    )
