"""The best tag sequence of a linear-chain CRF, in a graph and in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.contrib.crf.cells import (
    CrfDecodeBackwardRnnCell,
    CrfDecodeForwardRnnCell,
)
from tensorloom.contrib.crf.scores import by_length, steps_after_first
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.nn.dynamic_rnn import dynamic_rnn
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.permute import reverse_sequence
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.indexing.slice import slice as part
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.reductions import argmax, reduce_max


@export("contrib.crf.viterbi_decode")
def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """The best tag sequence, outside of graphs.

    Args:
      score: an array [time, num_tags]: the score of each tag at each step.
      transition_params: an array [num_tags, num_tags]: the score of each step from a
        tag (row) to a tag (column).

    Returns:
      (a list of the tags, the score of the sequence).
    """
    best = np.zeros_like(score)
    earlier = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for step in range(1, score.shape[0]):
        paths = best[step - 1][:, None] + transition_params
        best[step] = score[step] + paths.max(0)
        earlier[step] = paths.argmax(0)
    tags: list[Any] = [np.argmax(best[-1])]
    for before in earlier[:0:-1]:
        tags.append(before[tags[-1]])
    return tags[::-1], np.max(best[-1])


@export("contrib.crf.crf_decode")
def crf_decode(
    potentials: Any, transition_params: Any, sequence_length: Any
) -> tuple[Any, Any]:
    """The best tag sequences.

    Args:
      potentials: float32 [batch, time, num_tags]: the score of each tag at each step.
      transition_params: float32 [num_tags, num_tags]: the scores of steps.
      sequence_length: integers [batch].

    Returns:
      (tags, int32 [batch, time], 0 past the end of a sequence; scores, [batch]).
    """

    def of_one_step() -> Any:
        scores = squeeze(potentials, [1])
        tags = expand_dims(argmax(scores, axis=1), 1)
        best = reduce_max(scores, axis=1)
        return cast(tags, dtypes.int32), best

    def of_many_steps() -> Any:
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = squeeze(part(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = part(potentials, [0, 1, 0], [-1, -1, -1])
        steps = steps_after_first(sequence_length)
        earlier, scores = dynamic_rnn(
            forward,
            rest,
            sequence_length=steps,
            initial_state=first,
            dtype=dtypes.int32,
        )
        # From the last tag back; then the other way round again.
        earlier = reverse_sequence(earlier, steps, seq_axis=1)
        last = expand_dims(cast(argmax(scores, axis=1), dtypes.int32), axis=-1)
        tags, _ = dynamic_rnn(
            CrfDecodeBackwardRnnCell(dimension_value(potentials.shape[2])),
            earlier,
            sequence_length=steps,
            initial_state=last,
            dtype=dtypes.int32,
        )
        tags = concat([last, squeeze(tags, axis=[2])], axis=1)
        tags = reverse_sequence(tags, sequence_length, seq_axis=1)
        return tags, reduce_max(scores, axis=1)

    return by_length(potentials, of_one_step, of_many_steps)  # type: ignore[no-any-return]
