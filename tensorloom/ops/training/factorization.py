"""Factorization of sparse matrices: chosen products, and alternating least squares."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unknown_shapes

register_op(
    "MaskedMatmul",
    inputs=[
        "a: float",
        "b: float",
        "mask_indices: int64",
        "transpose_a: bool",
        "transpose_b: bool",
    ],
    outputs=["prod_values: float"],
    shape_fn=unknown_shapes,
    doc="The elements of a matrix product at the places [n, 2].",
)
register_op(
    "WALSComputePartialLhsAndRhs",
    inputs=[
        "factors: float",
        "factor_weights: float",
        "unobserved_weights: float",
        "input_weights: float",
        "input_indices: int64",
        "input_values: float",
        "entry_weights: float",
        "input_block_size: int64",
        "input_is_transpose: bool",
    ],
    outputs=["partial_lhs: float", "partial_rhs: float"],
    shape_fn=unknown_shapes,
    doc="Both sides of the normal equations of each row, from its observed entries.",
)
