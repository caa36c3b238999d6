"""The shape of a reduction that keeps its dimensions, computed in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.math import sequence as sequence_ops
from tensorloom.ops.math.cast import cast

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def reduced_shape(input_shape: Any, axes: Any) -> Tensor:
    """The shape of a reduction with kept dimensions: 1 at each of the axes.

    Args:
      input_shape: integer vector.
      axes: integer scalar or vector, may be negative.
    """
    input_shape = cast(input_shape, dtypes.int32)
    axes = cast(axes, dtypes.int32)
    rank = shape_ops.size(input_shape)
    axes = (axes + rank) % rank
    axes_shape = shape_ops.shape(axes)
    return apply_op(  # type: ignore[no-any-return]
        "DynamicStitch",
        indices=[sequence_ops.range(rank), axes],
        data=[input_shape, fill_ops.fill(axes_shape, 1)],
    )
