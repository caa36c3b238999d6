"""Rows added, subtracted or replaced; once in place, here on a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext
    from tensorloom.framework.tensor_shape import TensorShape


def _inplace_shape(c: InferenceContext) -> TensorShape:
    c.with_rank_at_most(1, 1)
    return c.input_shape(0)


for _op, _doc in (
    ("InplaceAdd", "x with v added to the rows i."),
    ("InplaceSub", "x with v subtracted from the rows i."),
    ("InplaceUpdate", "x with v as the rows i."),
):
    register_op(
        _op,
        inputs=["x: T", "i: int32", "v: T"],
        outputs=["y: T"],
        attrs=["T: type"],
        shape_fn=_inplace_shape,
        gradient=NOT_DIFFERENTIABLE,
        doc=_doc,
    )
