"""ObtainNext: the elements of a list one after the other, round and round."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _element_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    c.with_rank(1, 0)
    return TensorShape.of(())


register_op(
    "ObtainNext",
    inputs=["list: string", "counter: Ref(int64)"],
    outputs=["out_element: string"],
    shape_fn=_element_shape,
    doc="Adds one to the counter, or goes on from zero, and gives that element.",
)
