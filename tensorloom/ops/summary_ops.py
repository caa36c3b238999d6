"""Summaries: tensors as serialized `Summary` messages for event files."""

from __future__ import annotations

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.shape_inference import scalar_shape

_REAL_NUMBERS = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
    "uint64}"
)

register_op(
    "ScalarSummary",
    inputs=["tags: string", "values: T"],
    outputs=["summary: string"],
    attrs=[f"T: {_REAL_NUMBERS}"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with one simple value for each tag.",
)
register_op(
    "HistogramSummary",
    inputs=["tag: string", "values: T"],
    outputs=["summary: string"],
    attrs=[f"T: {_REAL_NUMBERS} = DT_FLOAT"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with a histogram of the values.",
)
register_op(
    "MergeSummary",
    inputs=["inputs: N * string"],
    outputs=["summary: string"],
    attrs=["N: int >= 1"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="One Summary with the values of all inputs.",
)
