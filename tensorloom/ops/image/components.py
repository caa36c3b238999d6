"""ImageConnectedComponents: areas of one value in images."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape

register_op(
    "ImageConnectedComponents",
    inputs=["image: dtype"],
    outputs=["components: int64"],
    attrs=[
        "dtype: {int64, int32, uint16, int16, uint8, int8, half, float, double, bool, "
        "string}"
    ],
    shape_fn=unchanged_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A number for each area of equal pixels in [batch, height, width]; 0 of zeros.",
)
