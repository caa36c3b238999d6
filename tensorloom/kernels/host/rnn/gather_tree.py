"""GatherTree in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("GatherTree", large=True)
def gather_tree(c: OpKernelConstruction) -> Compute:
    """Each beam, one step back after the other."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.rnn.gather_tree import follow

    def compute(step_ids: Any, parent_ids: Any, lengths: Any, end_token: Any) -> Any:
        if step_ids.shape != parent_ids.shape or len(lengths) != step_ids.shape[1]:
            raise errors.InvalidArgumentError(
                None,
                None,
                "batch size dimensions step_ids.shape[1] and "
                "max_sequence_lengths.shape[0] must match.  but shapes are: "
                f"{list(step_ids.shape)} and {list(lengths.shape)}",
            )
        beams = np.full_like(step_ids, end_token)
        bad = follow(
            np.ascontiguousarray(step_ids),
            np.ascontiguousarray(parent_ids),
            np.minimum(lengths, len(step_ids)).astype(np.int64),
            int(end_token),
            beams,
        )
        if bad >= 0:
            length = min(int(lengths[bad]), len(step_ids))
            raise _bad_parent(parent_ids[:length, bad], bad)
        return beams

    return compute


def _bad_parent(parents: Any, batch: int) -> errors.InvalidArgumentError:
    """Names the first beam that leads to none, and where it does."""
    steps, width = parents.shape
    for beam in range(width):
        place = beam
        for step in range(steps - 1, 0, -1):
            place = int(parents[step, place])
            if not 0 <= place < width:
                return errors.InvalidArgumentError(
                    None,
                    None,
                    f"Saw invalid parent id {place} at (batch, time, beam) == "
                    f"({batch}, {step - 1}, {beam}): not in [0, {width})",
                )
    raise AssertionError("every parent is a beam")
