"""Maps from tensors to tensors as values (TensorFlow 2.x).

A map is a variant value. Inserting and erasing make new maps; the old ones stay as they
were. Keys are equal if they have the same dtype, shape and bytes.
"""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape, unknown_shapes

register_op(
    "EmptyTensorMap",
    inputs=[],
    outputs=["handle: variant"],
    attrs=[],
    shape_fn=scalar_shape,
    doc="A map without keys.",
)

register_op(
    "TensorMapSize",
    inputs=["input_handle: variant"],
    outputs=["size: int32"],
    attrs=[],
    shape_fn=scalar_shape,
    doc="The number of keys.",
)

register_op(
    "TensorMapInsert",
    inputs=["input_handle: variant", "key: key_dtype", "value: value_dtype"],
    outputs=["output_handle: variant"],
    attrs=["key_dtype: type", "value_dtype: type"],
    shape_fn=scalar_shape,
    doc="The map with a value for a key, in place of the one it may have had.",
)

register_op(
    "TensorMapErase",
    inputs=["input_handle: variant", "key: key_dtype"],
    outputs=["output_handle: variant"],
    attrs=["key_dtype: type", "value_dtype: type"],
    shape_fn=scalar_shape,
    doc="The map without a key; an error if it does not have it.",
)

register_op(
    "TensorMapHasKey",
    inputs=["input_handle: variant", "key: key_dtype"],
    outputs=["has_key: bool"],
    attrs=["key_dtype: type"],
    shape_fn=scalar_shape,
    doc="Whether the map has a key.",
)

register_op(
    "TensorMapLookup",
    inputs=["input_handle: variant", "key: key_dtype"],
    outputs=["value: value_dtype"],
    attrs=["key_dtype: type", "value_dtype: type"],
    shape_fn=unknown_shapes,
    doc="The value of a key; an error if the map does not have it.",
)

register_op(
    "TensorMapStackKeys",
    inputs=["input_handle: variant"],
    outputs=["keys: key_dtype"],
    attrs=["key_dtype: type"],
    shape_fn=unknown_shapes,
    doc="All keys along a new dimension 0, here in the order in which they came.",
)
