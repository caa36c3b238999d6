"""BatchMatMulV3: matrix products whose factors and product differ in dtype."""

from __future__ import annotations

from typing import Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.ops.linalg.matmul import batch_mat_mul_v2_shape

_REST: Final = "int16, int32, int64, complex64, complex128"
_FACTOR: Final = f"{{bfloat16, half, float, double, uint8, int8, {_REST}}}"

register_op(
    "BatchMatMulV3",
    inputs=["x: Ta", "y: Tb"],
    outputs=["output: Tout"],
    attrs=[
        f"Ta: {_FACTOR}",
        f"Tb: {_FACTOR}",
        f"Tout: {{bfloat16, half, float, double, {_REST}}}",
        "adj_x: bool = false",
        "adj_y: bool = false",
        "grad_x: bool = false",
        "grad_y: bool = false",
    ],
    shape_fn=batch_mat_mul_v2_shape,
    doc="Products of matrices in batches that broadcast, in the dtype `Tout`.",
)
