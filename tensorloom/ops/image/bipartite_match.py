"""BipartiteMatch: rows and columns paired, the nearest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _match_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 2).dims_tuple
    assert dims is not None
    return [TensorShape.of((size,)) for size in dims]


register_op(
    "BipartiteMatch",
    inputs=["distance_mat: float", "num_valid_rows: float"],
    outputs=["row_to_col_match_indices: int32", "col_to_row_match_indices: int32"],
    attrs=["top_k: int = -1"],
    shape_fn=_match_shape,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="Greedily pairs rows and columns of a distance matrix; -1 has no partner.",
)
