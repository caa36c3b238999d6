"""Scores of hypotheses: log probabilities, with penalties for length and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.seq2seq.attention_cell import AttentionWrapperState
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def attention_probs(cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """The mean of all attention in a state, [batch, beam, time of the memory].

    None where there is no penalty for coverage.

    Raises:
      ValueError: there is one, but no attention.
    """
    if coverage_penalty_weight == 0.0:
        return None
    states: Sequence[Any] = ()
    if isinstance(cell_state, AttentionWrapperState):
        states = (cell_state,)
    elif isinstance(cell_state, tuple):
        states = [s for s in cell_state if isinstance(s, AttentionWrapperState)]
    if not states:
        raise ValueError(
            "coverage_penalty_weight must be 0.0 if no cell is attentional."
        )
    return _mean([_mean(state.alignments) for state in states])


def _mean(parts: Any) -> Any:
    """The mean of a tuple or list of tensors; a tensor as it is."""
    if not isinstance(parts, list | tuple):
        return parts
    if len(parts) == 1:
        return parts[0]
    joined = array_ops.concat([array_ops.expand_dims(part, -1) for part in parts], -1)
    return math_ops.reduce_mean(joined, -1)


def beam_scores(
    log_probs: Tensor,
    sequence_lengths: Tensor,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Tensor,
    accumulated_attention_probs: Any,
) -> Any:
    """Scores of hypotheses (arXiv:1609.08144, section 7).

    Args:
      log_probs: [batch, beam, tokens].
      sequence_lengths: of the hypotheses, of the same shape.
      length_penalty_weight, coverage_penalty_weight: 0 for none.
      finished: bool [batch, beam].
      accumulated_attention_probs: sums of attention, [batch, beam, time of the memory];
        needed for coverage.

    Returns:
      [batch, beam, tokens].

    Raises:
      ValueError: the weight of coverage is no scalar, or attention is missing.
    """
    penalty = length_penalty(sequence_lengths, length_penalty_weight)
    scores = log_probs / math_ops.cast(penalty, dtype=log_probs.dtype)
    weight = convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.rank != 0:
        raise ValueError(
            f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
        )
    if constant_value(weight) == 0.0:
        return scores
    if accumulated_attention_probs is None:
        raise ValueError(
            "accumulated_attention_probs can be None only if coverage penalty is "
            "disabled."
        )
    # Places past the end of the memory never get attention: they do not count.
    attention = array_ops.where(
        math_ops.equal(accumulated_attention_probs, 0.0),
        array_ops.ones_like(accumulated_attention_probs),
        accumulated_attention_probs,
    )
    coverage = math_ops.reduce_sum(math_ops.log(math_ops.minimum(attention, 1.0)), 2)
    coverage *= math_ops.cast(finished, dtypes.float32)
    return scores + array_ops.expand_dims(coverage * weight, 2)


def length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """((5 + length) / 6) ** factor, or 1.0 where the factor is known to be zero."""
    factor = convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    if constant_value(factor) == 0:
        return 1.0
    lengths = math_ops.cast(sequence_lengths, dtypes.float32)
    return math_ops.div((5.0 + lengths) ** factor, 6.0**factor)


def mask_probs(probs: Tensor, eos_token: Any, finished: Tensor) -> Tensor:
    """Log probabilities where finished beams have nothing but their end again.

    Args:
      probs: [batch, beam, tokens].
      eos_token: the end, an int32 scalar.
      finished: bool [batch, beam].
    """
    tokens = array_ops.shape(probs)[2]
    row = array_ops.one_hot(
        eos_token,
        tokens,
        dtype=probs.dtype,
        on_value=convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )
    ended = array_ops.tile(
        array_ops.reshape(row, [1, 1, -1]),
        array_ops.concat([array_ops.shape(finished), [1]], 0),
    )
    mask = array_ops.tile(array_ops.expand_dims(finished, 2), [1, 1, tokens])
    return array_ops.where(mask, ended, probs)
