"""Monotonic attention: from one step to the next it only moves on."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tensorloom.client.control_flow.fold import scan
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.seq2seq.mechanisms import (
    BaseAttentionMechanism,
    additive_score,
    luong_scale,
    projection,
)
from tensorloom.contrib.seq2seq.scores import luong_score, size_of
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.clip import clip_by_value
from tensorloom.ops.random.random_ops import random_normal


@export("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """`tf.cumprod` of numbers in (0, 1], as exp of the sum of logarithms.

    Small numbers neither underflow nor spoil gradients.

    Args:
      x: a float tensor; it is clipped to [smallest positive number, 1].
      *args, **kwargs: as of `tf.cumsum`.
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = math_ops.log(clip_by_value(x, tiny, 1))
        return math_ops.exp(math_ops.cumsum(logs, *args, **kwargs))


@export("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """Where monotonic attention is at a step (arXiv:1704.00784).

    Args:
      p_choose_i: [batch, time], the probability to stop at each place.
      previous_attention: [batch, time], what the last step returned; at first
        [1, 0, 0, ...].
      mode: "recursive" (exact, slow), "parallel" (in closed form; less exact for long
        memories and for probabilities near 0 or 1) or "hard" (all are 0 or 1).

    Returns:
      The distribution over the places, [batch, time].

    Raises:
      ValueError: another mode.
    """
    p_choose_i = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous_attention = convert_to_tensor(
        previous_attention, name="previous_attention"
    )
    if mode == "recursive":
        return _recursive(p_choose_i, previous_attention)
    if mode == "parallel":
        passed = safe_cumprod(1 - p_choose_i, axis=1, exclusive=True)
        # The divisor is kept away from zero.
        arrived = math_ops.cumsum(
            previous_attention / clip_by_value(passed, 1e-10, 1.0), axis=1
        )
        return p_choose_i * passed * arrived
    if mode == "hard":
        # Places before the last step's are out; of the others the first one counts.
        p_choose_i *= math_ops.cumsum(previous_attention, axis=1)
        return p_choose_i * math_ops.cumprod(1 - p_choose_i, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(p_choose_i: Tensor, previous_attention: Tensor) -> Any:
    """p[i] * q[i], where q[i] = (1 - p[i-1]) * q[i-1] + previous[i]."""
    batch = size_of(p_choose_i, 0)
    passed = array_ops.concat([array_ops.ones((batch, 1)), 1 - p_choose_i[:, :-1]], 1)

    def step(q: Any, place: Any) -> Any:
        passed_here, before = place
        return array_ops.reshape(passed_here * q + before, (batch,))

    arrived = scan(
        step,
        [array_ops.transpose(passed), array_ops.transpose(previous_attention)],
        array_ops.zeros((batch,)),
    )
    return p_choose_i * array_ops.transpose(arrived)


def monotonic_probability_fn(
    score: Any,
    previous_alignments: Any,
    sigmoid_noise: float,
    mode: str,
    seed: int | None = None,
) -> Any:
    """Monotonic alignments of scores.

    Args:
      score, previous_alignments: [batch, time].
      sigmoid_noise: standard deviation of noise on the scores, which makes a model
        learn clear decisions.
      mode: as of `monotonic_attention`.
      seed: of the noise.
    """
    if sigmoid_noise > 0:
        noise = random_normal(array_ops.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    if mode == "hard":
        p_choose_i = math_ops.cast(score > 0, score.dtype)
    else:
        p_choose_i = math_ops.sigmoid(score)
    return monotonic_attention(p_choose_i, previous_alignments, mode)


class BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism whose attention starts at the first place of the memory."""

    _score_bias_init: float

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """[1, 0, 0, ...] for each row, [batch, time]."""
        zeros = array_ops.zeros((batch_size,), dtype=dtypes.int32)
        return array_ops.one_hot(zeros, self._alignments_size, dtype=dtype)

    def _bias(self, dtype: Any) -> Any:
        return get_variable(
            "attention_score_bias", dtype=dtype, initializer=self._score_bias_init
        )


@export("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Bahdanau's scores, plus a bias.

    Args:
      num_units: depth of keys and processed queries.
      memory: [batch, time, depth].
      memory_sequence_length: int [batch]; places past it get no attention.
      normalize: whether weights are normalized.
      score_mask_value: of scores past the lengths, -inf by default.
      sigmoid_noise: standard deviation of noise on the scores.
      sigmoid_noise_seed: of the noise.
      score_bias_init: what the bias starts with; negative for long memories.
      mode: as of `monotonic_attention`.
      dtype: of the layers, float32 by default.
      name: of the operations.
    """

    _scope_name = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=projection(num_units, "query_layer", dtype),
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                monotonic_probability_fn,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def _score(self, query: Tensor) -> Tensor:
        processed = self.query_layer(query) if self.query_layer else query
        score = additive_score(
            processed, self._keys, self._num_units, self._normalize, query.dtype
        )
        return score + self._bias(processed.dtype)  # type: ignore[no-any-return]


@export("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Luong's scores, plus a bias.

    Args:
      num_units: depth of keys; queries must have it too.
      memory: [batch, time, depth].
      memory_sequence_length: int [batch]; places past it get no attention.
      scale: whether a variable scales the scores.
      score_mask_value, sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode,
        dtype, name: as of `BahdanauMonotonicAttention`.
    """

    _scope_name = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                monotonic_probability_fn,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name
        self._score_bias_init = score_bias_init

    def _score(self, query: Tensor) -> Tensor:
        scale = luong_scale(self._scale, query.dtype)
        score = luong_score(query, self._keys, scale)
        return score + self._bias(query.dtype)  # type: ignore[no-any-return]
