"""The QR decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.op_registry import register_op
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext


def _qr_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank_at_least(0, 2).dims_tuple
    if dims is None:
        return [TensorShape.of(None), TensorShape.of(None)]
    batch, rows, columns = dims[:-2], dims[-2], dims[-1]
    if c.attrs["full_matrices"]:
        inner = rows
    else:
        inner = None if rows is None or columns is None else min(rows, columns)
    return [
        TensorShape.of((*batch, rows, inner)),
        TensorShape.of((*batch, inner, columns)),
    ]


register_op(
    "Qr",
    inputs=["input: T"],
    outputs=["q: T", "r: T"],
    attrs=[
        "full_matrices: bool = false",
        "T: {double, float, half, complex64, complex128}",
    ],
    shape_fn=_qr_shape,
    doc="input = q @ r with orthonormal columns of q and upper triangular r.",
)


@export("qr", "linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r) of the innermost matrices [..., rows, columns]."""
    return apply_op("Qr", input=input, full_matrices=full_matrices, name=name)
