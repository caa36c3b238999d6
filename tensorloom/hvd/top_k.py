"""The largest values of a gradient travel, and the others are kept for later steps.

    gradient + kept  ->  its k largest values, by magnitude  ->  all processes
                     ->  the others                          ->  kept

What is kept is added to the next gradient (error feedback), so that nothing is lost: a
small value travels when it has grown. Each process keeps its own.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import control_dependencies, name_scope
from tensorloom.ops.array.fill import ones_like, zeros, zeros_like
from tensorloom.ops.array.identity import identity
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.elementwise import abs, is_nan
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.reductions.segment import unsorted_segment_sum


class Chosen(NamedTuple):
    """The values of a tensor that travel, and where they stand in it."""

    values: Any
    places: Any  # int32, of the tensor as a vector


class TopK:
    """A compressor that sends a part of each gradient: `hvd.Compression.topk(0.01)`.

    What is kept is in local variables, which `tf.local_variables_initializer` and the
    hooked sessions initialize, and checkpoints do not have.

    Args:
      ratio: the part of a gradient's values that travels in a step: above 0, to 1. A
        gradient that would not become smaller (each value takes its place along)
        travels whole.
      feedback: whether the others are kept; if not, they are lost.

    Raises:
      ValueError: the ratio is not such a number.
    """

    def __init__(self, ratio: float = 0.01, feedback: bool = True) -> None:
        if not 0.0 < ratio <= 1.0:
            raise ValueError(f"ratio must be above 0, and at most 1, is {ratio!r}")
        self._ratio, self._feedback = ratio, feedback

    def count(self, tensor: Any) -> int | None:
        """How many values of a tensor travel; None: it travels whole.

        Raises:
          ValueError: its shape is not known.
        """
        if not tensor.dtype.is_floating:
            return None
        size = tensor.shape.num_elements()
        if size is None:
            raise ValueError(
                "hvd.Compression.topk keeps values in variables, for which shapes must "
                f"be known, but {tensor.name} has the shape {tensor.shape}"
            )
        count = max(1, math.ceil(self._ratio * size))
        place_bytes = 4
        is_smaller = (
            count * (tensor.dtype.size + place_bytes) < size * tensor.dtype.size
        )
        return count if is_smaller else None

    def choose(self, tensor: Any, count: int) -> Chosen:
        """The values that travel; the others are kept before these leave."""
        size = tensor.shape.num_elements()
        with name_scope(None, "TopK", [tensor]):
            values = reshape(tensor, [size])
            if not self._feedback:
                return _largest(values, count)
            kept = Variable(
                zeros([size], tensor.dtype),
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                use_resource=True,
                name="kept",
            )
            values = values + kept.read_value()
            chosen = _largest(values, count)
            marks = Chosen(ones_like(chosen.values), chosen.places)
            # Not a difference: of what is infinite nothing is kept.
            others = where(scattered(marks, size) > 0, zeros_like(values), values)
            with control_dependencies([kept.assign(others, read_value=False)]):
                return Chosen(identity(chosen.values), chosen.places)


def _largest(values: Any, count: int) -> Chosen:
    # What is not a number must be seen in all processes, not kept here.
    endless = zeros_like(values) + math.inf
    sizes = where(is_nan(values), endless, abs(values))
    _, places = top_k(sizes, count, sorted=False)
    return Chosen(gather(values, places), places)


def scattered(chosen: Chosen, size: int) -> Any:
    """A vector of the values at their places; those of one place are added."""
    return unsorted_segment_sum(chosen.values, chosen.places, size)
