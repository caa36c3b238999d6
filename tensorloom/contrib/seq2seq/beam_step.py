"""A step of beam search: the best continuations of all beams of a sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.contrib.seq2seq.beam_layout import check_has_rank
from tensorloom.contrib.seq2seq.beam_scores import (
    attention_probs,
    beam_scores,
    mask_probs,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.softmax import log_softmax
from tensorloom.ops.nn.top_k import top_k


@export("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(NamedTuple):
    """State of a beam search; each part is [batch, beam, ...]."""

    cell_state: Any
    """State of the cell."""
    log_probs: Any
    """Log probabilities of the beams."""
    finished: Any
    """Which beams have ended."""
    lengths: Any
    """Their lengths, int64."""
    accumulated_attention_probs: Any
    """Sums of attention, or () without a penalty for coverage."""


@export("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(NamedTuple):
    """What a step of a beam search gives, each [batch, beam]."""

    scores: Any
    """Scores of the beams, best first."""
    predicted_ids: Any
    """The tokens that were added, int32."""
    parent_ids: Any
    """Which beams of the step before they continue, int32."""


def beam_search_step(
    time: Any,
    logits: Tensor,
    next_cell_state: Any,
    beam_state: BeamSearchDecoderState,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """The best continuations, and the state of the beams that they are of.

    Args:
      time: number of the step.
      logits: [batch, beam, tokens].
      next_cell_state: of the cell, [batch, beam, ...].
      beam_state: of the search before the step.
      batch_size, beam_width: how many sequences, and beams of each.
      end_token: an int32 scalar.
      length_penalty_weight, coverage_penalty_weight: 0 for none.
    """
    running = math_ops.logical_not(beam_state.finished)
    log_probs = mask_probs(log_softmax(logits), end_token, beam_state.finished)
    total_probs = array_ops.expand_dims(beam_state.log_probs, 2) + log_probs
    tokens = logits.shape.as_list()[-1] or array_ops.shape(logits)[-1]
    lengths = _continued_lengths(
        beam_state.lengths, running, batch_size, beam_width, end_token, tokens
    )
    attention = attention_probs(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        attention *= array_ops.expand_dims(math_ops.cast(running, dtypes.float32), 2)
        attention = beam_state.accumulated_attention_probs + attention
    scores = beam_scores(
        log_probs=total_probs,
        sequence_lengths=lengths,
        length_penalty_weight=length_penalty_weight,
        coverage_penalty_weight=coverage_penalty_weight,
        finished=beam_state.finished,
        accumulated_attention_probs=attention,
    )
    convert_to_tensor(time, name="time")
    best, chosen = _best(scores, batch_size, beam_width)
    next_probs = gather_beams(
        gather_indices=chosen,
        gather_from=total_probs,
        batch_size=batch_size,
        range_size=beam_width * tokens,
        gather_shape=[-1],
        name="next_beam_probs",
    )
    word_ids = math_ops.cast(
        math_ops.mod(chosen, tokens, name="next_beam_word_ids"), dtypes.int32
    )
    beam_ids = math_ops.cast(chosen / tokens, dtypes.int32, name="next_beam_parent_ids")
    output = BeamSearchDecoderOutput(
        scores=best, predicted_ids=word_ids, parent_ids=beam_ids
    )
    before = beam_state._replace(
        cell_state=next_cell_state, accumulated_attention_probs=attention
    )
    next_state = _of_parents(output, before, batch_size, beam_width, end_token)
    return output, next_state._replace(log_probs=next_probs)


def _of_parents(
    output: BeamSearchDecoderOutput,
    before: BeamSearchDecoderState,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
) -> BeamSearchDecoderState:
    """The state that each beam has from the one that it continues."""

    def taken(value: Any, shape: list[Any], name: str | None = None) -> Any:
        return maybe_gather_beams(
            output.parent_ids, value, batch_size, beam_width, shape, name=name
        )

    per_beam = [batch_size * beam_width, -1]
    was_finished = taken(before.finished, [-1])
    finished = math_ops.logical_or(
        was_finished,
        math_ops.equal(output.predicted_ids, end_token),
        name="next_beam_finished",
    )
    # A beam that ends in this step counts its end; one that had ended stays.
    added = math_ops.cast(math_ops.logical_not(was_finished), dtypes.int64)
    lengths = taken(before.lengths, [-1]) + added
    attention: Any = ()
    if before.accumulated_attention_probs is not None:
        attention = taken(
            before.accumulated_attention_probs,
            per_beam,
            name="next_accumulated_attention_probs",
        )
    cell_state = nest.map_structure(
        lambda value: taken(value, per_beam), before.cell_state
    )
    return before._replace(
        cell_state=cell_state,
        finished=finished,
        lengths=lengths,
        accumulated_attention_probs=attention,
    )


def _continued_lengths(
    lengths: Tensor,
    running: Tensor,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    tokens: Any,
) -> Any:
    """[batch, beam, tokens]: one more for running beams, but not for the end."""
    added = array_ops.one_hot(
        indices=array_ops.fill([batch_size, beam_width], end_token),
        depth=tokens,
        on_value=math_ops.to_int64(0),
        off_value=math_ops.to_int64(1),
        dtype=dtypes.int64,
    )
    added *= array_ops.expand_dims(math_ops.cast(running, dtypes.int64), 2)
    return added + array_ops.expand_dims(lengths, 2)


def _best(scores: Any, batch_size: Any, beam_width: int) -> tuple[Tensor, Tensor]:
    """(scores, indices in the beams' tokens) of the best, [batch, beam]."""
    flat = array_ops.reshape(scores, [batch_size, -1])
    width = convert_to_tensor(beam_width, dtype=dtypes.int32, name="beam_width")
    best, chosen = top_k(flat, k=width)
    shape = [_static(batch_size), beam_width]
    best.set_shape(shape)
    chosen.set_shape(shape)
    return best, chosen


def _static(batch_size: Any) -> int | None:
    known = constant_value(batch_size)
    return None if known is None else int(known)


def maybe_gather_beams(
    gather_indices: Tensor,
    gather_from: Any,
    batch_size: Any,
    range_size: Any,
    gather_shape: list[Any],
    name: str | None = None,
) -> Any:
    """`gather_beams`; TensorArrays and what has too few axes for it as they are."""
    if isinstance(gather_from, TensorArray):
        return gather_from
    check_has_rank(gather_from)
    if gather_from.shape.rank < len(gather_shape):
        return gather_from
    return gather_beams(
        gather_indices, gather_from, batch_size, range_size, gather_shape, name
    )


def gather_beams(
    gather_indices: Tensor,
    gather_from: Tensor,
    batch_size: Any,
    range_size: Any,
    gather_shape: list[Any],
    name: str | None = None,
) -> Tensor:
    """What each sequence takes of its own part.

    Args:
      gather_indices: [batch, beam], indices in a sequence's part.
      gather_from: [batch, ...].
      batch_size: the number of sequences.
      range_size: how many indices a sequence has.
      gather_shape: the shape in which the first axis has all sequences' indices:
        [-1] for [batch, beam], [batch * beam, -1] for [batch, beam, depth].
      name: of the operations.

    Returns:
      A tensor with as many axes of `gather_from` as `gather_shape` has, plus one.
    """
    with name_scope(name, "tensor_gather_helper"):
        starts = array_ops.expand_dims(math_ops.range(batch_size) * range_size, 1)
        indices = array_ops.reshape(gather_indices + starts, [-1])
        output = array_ops.gather(array_ops.reshape(gather_from, gather_shape), indices)
        axes = 1 + len(gather_shape)
        shape = array_ops.shape(gather_from)[:axes]
        static = TensorShape([_static(batch_size)])
        output = array_ops.reshape(output, shape, name="output")
        output.set_shape(static.concatenate(gather_from.shape[1:axes]))
        return output
