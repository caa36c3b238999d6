"""Diagonals of matrices, with a choice of where short ones are aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_diag_shape as shape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor

_ALIGN = (
    "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'"
)


def _part(matrices: Any, k: Any, align: Any) -> Tensor:
    padding = array_ops.zeros([], dtype=matrices.dtype)
    return apply_op(  # type: ignore[no-any-return]
        "MatrixDiagPartV3", input=matrices, k=k, padding_value=padding, align=align
    )


def _diag_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    part = _part(grad, op.inputs[1], op.get_attr("align"))
    return [part, None, None, None, None]


def _part_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    zeros = array_ops.zeros_like(op.inputs[0])
    matrices = apply_op(
        "MatrixSetDiagV3",
        input=zeros,
        diagonal=grad,
        k=op.inputs[1],
        align=op.get_attr("align"),
    )
    return [matrices, None, None]


def _set_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, diagonal, k = op.inputs
    align = op.get_attr("align")
    kept = apply_op(
        "MatrixSetDiagV3",
        input=grad,
        diagonal=array_ops.zeros_like(diagonal),
        k=k,
        align=align,
    )
    return [kept, _part(grad, k, align), None]


register_op(
    "MatrixDiagV3",
    inputs=[
        "diagonal: T",
        "k: int32",
        "num_rows: int32",
        "num_cols: int32",
        "padding_value: T",
    ],
    outputs=["output: T"],
    attrs=["T: type", _ALIGN],
    shape_fn=shape.matrix_diag_v2,
    gradient=_diag_grad,
    doc="Matrices with the input on their diagonals k[0] to k[1].",
)

register_op(
    "MatrixDiagPartV3",
    inputs=["input: T", "k: int32", "padding_value: T"],
    outputs=["diagonal: T"],
    attrs=["T: type", _ALIGN],
    shape_fn=shape.matrix_diag_part_v2,
    gradient=_part_grad,
    doc="The diagonals k[0] to k[1] of matrices, padded to one length.",
)

register_op(
    "MatrixSetDiagV3",
    inputs=["input: T", "diagonal: T", "k: int32"],
    outputs=["output: T"],
    attrs=["T: type", _ALIGN],
    shape_fn=shape.matrix_set_diag_v2,
    gradient=_set_grad,
    doc="Matrices with other diagonals k[0] to k[1].",
)
