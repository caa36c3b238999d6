"""DecodeLibsvm: lines of the LIBSVM format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _decoded_shapes(c: InferenceContext) -> list[TensorShape]:
    vector = TensorShape.of((None,))
    return [c.input_shape(0), TensorShape.of((None, None)), vector, vector]


_TYPES = "{float, double, int32, int64}"
register_op(
    "DecodeLibsvm",
    inputs=["input: string"],
    outputs=[
        "label: label_dtype",
        "feature_indices: int64",
        "feature_values: dtype",
        "feature_shape: int64",
    ],
    attrs=[
        f"dtype: {_TYPES} = DT_FLOAT",
        f"label_dtype: {_TYPES} = DT_INT64",
        "num_features: int >= 1",
    ],
    shape_fn=_decoded_shapes,
    doc="Lines 'label index:value ...' as labels and a sparse tensor of features.",
)
