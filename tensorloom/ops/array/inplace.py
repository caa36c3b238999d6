"""Rows added, subtracted or replaced; once in place, here on a copy."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape

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
        shape_fn=unchanged_shape,
        doc=_doc,
    )
