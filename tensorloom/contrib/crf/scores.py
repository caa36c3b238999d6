"""Scores and likelihoods of tag sequences in a linear-chain CRF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.contrib.crf.cells import CrfForwardRnnCell
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.keras.smart_cond import smart_cond
from tensorloom.nn.dynamic_rnn import dynamic_rnn
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import fill, zeros_like
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather, gather_nd
from tensorloom.ops.indexing.one_hot import sequence_mask
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.indexing.slice import slice as part
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, less_equal
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.reductions.reductions import reduce_logsumexp, reduce_sum


def by_length(
    inputs: Any, of_one_step: Callable[[], Any], of_many_steps: Callable[[], Any]
) -> Any:
    """One of two results, by whether inputs [batch, time, tags] have one step.

    Recurrences run over the steps after the first one, and need some.
    """
    steps = dimension_value(inputs.shape[1]) or shape(inputs)[1]
    return smart_cond(equal(steps, 1), of_one_step, of_many_steps)


def steps_after_first(sequence_lengths: Any) -> Any:
    """How many steps each sequence has after its first one."""
    zero = constant(0, dtype=sequence_lengths.dtype)
    return maximum(zero, sequence_lengths - 1)


def _zero_if_empty(scores: Any, sequence_lengths: Any) -> Any:
    return where(less_equal(sequence_lengths, 0), zeros_like(scores), scores)


def _mask(sequence_lengths: Any, tag_indices: Any) -> Any:
    steps = shape(tag_indices)[1]
    return sequence_mask(sequence_lengths, maxlen=steps, dtype=dtypes.float32)


@export("contrib.crf.crf_sequence_score")
def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The score of a tag sequence: of its tags, and of the steps between them.

    Args:
      inputs: float32 [batch, time, num_tags]: the score of each tag at each step.
      tag_indices: int32 or int64 [batch, time]: the tags.
      sequence_lengths: integers [batch].
      transition_params: float32 [num_tags, num_tags]: the score of each step from a tag
        (row) to a tag (column).

    Returns:
      float32 [batch].
    """

    def of_one_step() -> Any:
        batch = shape(inputs, out_type=tag_indices.dtype)[0]
        rows = reshape(sequence(batch, dtype=tag_indices.dtype), [-1, 1])
        places = concat([rows, tag_indices], axis=1)
        scores = gather_nd(squeeze(inputs, [1]), places)
        return _zero_if_empty(scores, sequence_lengths)

    def of_many_steps() -> Any:
        of_tags = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return of_tags + crf_binary_score(
            tag_indices, sequence_lengths, transition_params
        )

    return by_length(inputs, of_one_step, of_many_steps)


@export("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The logarithm of the sum over all sequences of the tags that are allowed.

    Args:
      inputs: float32 [batch, time, num_tags]: the score of each tag at each step.
      tag_bitmap: bool [batch, time, num_tags]: the tags allowed at each step.
      sequence_lengths: integers [batch].
      transition_params: float32 [num_tags, num_tags]: the scores of steps.

    Returns:
      float32 [batch].
    """

    def allowed() -> Any:
        return where(tag_bitmap, inputs, fill(shape(inputs), float("-inf")))

    def of_one_step() -> Any:
        return reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False)

    def of_many_steps() -> Any:
        return crf_log_norm(allowed(), sequence_lengths, transition_params)

    return by_length(inputs, of_one_step, of_many_steps)


@export("contrib.crf.crf_log_norm")
def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum over all tag sequences, by the forward algorithm.

    Args:
      inputs: float32 [batch, time, num_tags]: the score of each tag at each step.
      sequence_lengths: integers [batch].
      transition_params: float32 [num_tags, num_tags]: the scores of steps.

    Returns:
      float32 [batch]; 0 of empty sequences.
    """
    first = squeeze(part(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def of_one_step() -> Any:
        return _zero_if_empty(reduce_logsumexp(first, [1]), sequence_lengths)

    def of_many_steps() -> Any:
        rest = part(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        _, sums = dynamic_rnn(
            cell,
            rest,
            sequence_length=steps_after_first(sequence_lengths),
            initial_state=first,
            dtype=dtypes.float32,
        )
        return _zero_if_empty(reduce_logsumexp(sums, [1]), sequence_lengths)

    return by_length(inputs, of_one_step, of_many_steps)


@export("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The log-likelihood of tag sequences.

    Args:
      inputs: float32 [batch, time, num_tags]: the score of each tag at each step.
      tag_indices: int32 or int64 [batch, time]: the tags.
      sequence_lengths: integers [batch].
      transition_params: float32 [num_tags, num_tags]: the scores of steps; a variable
        "transitions" when None.

    Returns:
      (float32 [batch], the scores of steps).
    """
    tags = dimension_value(inputs.shape[2])
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    score = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return score - norm, transition_params


@export("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sums of the tags' own scores.

    Args:
      tag_indices: int32 or int64 [batch, time]: the tags.
      sequence_lengths: integers [batch].
      inputs: float32 [batch, time, num_tags]: the score of each tag at each step.

    Returns:
      float32 [batch].
    """
    batch, steps, tags = shape(inputs)[0], shape(inputs)[1], shape(inputs)[2]
    flat = reshape(inputs, [-1])
    starts = expand_dims(sequence(batch) * steps * tags, 1)
    starts += expand_dims(sequence(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        starts = cast(starts, dtypes.int64)
    scores = gather(flat, reshape(starts + tag_indices, [-1]))
    scores = reshape(scores, [batch, steps])
    return reduce_sum(scores * _mask(sequence_lengths, tag_indices), 1)


@export("contrib.crf.crf_binary_score")
def crf_binary_score(
    tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The sums of the scores of steps from tag to tag.

    Args:
      tag_indices: int32 or int64 [batch, time]: the tags.
      sequence_lengths: integers [batch].
      transition_params: float32 [num_tags, num_tags]: the scores of steps.

    Returns:
      float32 [batch].
    """
    tags = transition_params.get_shape()[0]
    count = shape(tag_indices)[1] - 1
    before = part(tag_indices, [0, 0], [-1, count])
    after = part(tag_indices, [0, 1], [-1, count])
    places = before * tags + after
    scores = gather(reshape(transition_params, [-1]), places)
    mask = part(_mask(sequence_lengths, tag_indices), [0, 1], [-1, -1])
    return reduce_sum(scores * mask, 1)
