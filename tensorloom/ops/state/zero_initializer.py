"""Variables initialized with zeros that stand nowhere else in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import HandleData, unchanged_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _handle_shape(c: InferenceContext) -> TensorShape:
    c.set_output_handle_data(0, HandleData(c.attrs["dtype"], c.attrs["shape"]))
    return TensorShape.of(())


register_op(
    "ZeroInitializer",
    inputs=["ref: Ref(T)"],
    outputs=["output_ref: Ref(T)"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
        "uint32, uint64}"
    ],
    shape_fn=unchanged_shape,
    allows_uninitialized_input=True,
    doc="Sets a variable without a value to zeros. Gives the reference back.",
)
register_op(
    "ZeroVarInitializer",
    inputs=["var: resource"],
    outputs=["output_var: resource"],
    attrs=["dtype: type", "shape: shape"],
    shape_fn=_handle_shape,
    stateful=True,
    allows_uninitialized_input=True,
    doc="Sets a resource variable without a value to zeros. Gives the handle back.",
)
