"""Positions in a flat array as index vectors: UnravelIndex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _unravel_index_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(1, 1).dims_tuple
    rank = None if dims is None else dims[0]
    indices = c.input_shape(0).dims_tuple
    if indices is None or len(indices) > 1:
        return UNKNOWN
    return TensorShape.of((rank, *indices))


register_op(
    "UnravelIndex",
    inputs=["indices: Tidx", "dims: Tidx"],
    outputs=["output: Tidx"],
    attrs=["Tidx: {int32, int64} = DT_INT32"],
    shape_fn=_unravel_index_shape,
    doc="The coordinates, in an array of shape `dims`, of flat positions.",
)


@export("unravel_index")
def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates of flat positions: [rank], or [rank, count] for a vector.

    Args:
      indices: int32 or int64, a scalar or a vector.
      dims: [rank], the shape that the positions count through, row by row.
      name: of the op.

    Raises (at run time):
      errors.InvalidArgumentError: `indices` has more axes, or a size is zero.
    """
    return apply_op(  # type: ignore[no-any-return]
        "UnravelIndex", indices=indices, dims=dims, name=name
    )
