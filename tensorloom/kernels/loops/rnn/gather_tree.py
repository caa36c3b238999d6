"""GatherTree: the beams of a search, followed from their last tokens to their first."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def follow(ids: Any, parents: Any, lengths: Any, end: int, beams: Any) -> int:
    """The tokens of each beam; behind its first end are ends.

    Args:
      ids: int32 [time, batch, beam], the token that each beam has in each step.
      parents: int32 [time, batch, beam], the beam of the step before that it continues.
      lengths: int64 [batch], at most `time`: how many steps were made.
      end: the token that ends a beam.
      beams: int32 [time, batch, beam], full of ends; written.

    Returns:
      -1, or the first of the batch of which a parent is no beam.
    """
    width = ids.shape[2]
    for batch in range(len(lengths)):
        for beam in range(width):
            place = beam
            for step in range(lengths[batch] - 1, -1, -1):
                if place < 0 or place >= width:
                    return batch
                beams[step, batch, beam] = ids[step, batch, place]
                place = parents[step, batch, place]
            has_ended = False
            for step in range(lengths[batch]):
                if has_ended:
                    beams[step, batch, beam] = end
                elif beams[step, batch, beam] == end:
                    has_ended = True
    return -1
