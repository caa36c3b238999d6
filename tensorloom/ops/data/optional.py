"""Optionals: a variant that holds some tensors, or nothing.

TensorFlow's gradients of `If` pass intermediates of the branch that ran in them; their
own gradients are in `optional_gradients.py`.
"""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.ops.data.shapes import output_shapes_attr

register_op(
    "OptionalFromValue",
    inputs=["components: Toutput_types"],
    outputs=["optional: variant"],
    attrs=["Toutput_types: list(type) >= 1"],
    shape_fn=scalar_shape,
    doc="An optional that holds the tensors.",
)
register_op(
    "OptionalNone",
    outputs=["optional: variant"],
    shape_fn=scalar_shape,
    doc="An optional that holds nothing.",
)
register_op(
    "OptionalHasValue",
    inputs=["optional: variant"],
    outputs=["has_value: bool"],
    shape_fn=scalar_shape,
    doc="Whether the optional holds something.",
)
register_op(
    "OptionalGetValue",
    inputs=["optional: variant"],
    outputs=["components: output_types"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=output_shapes_attr,
    doc="What the optional holds; an error if that is nothing.",
)
