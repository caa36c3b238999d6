"""Summaries: tensors as serialized `Summary` messages for event files."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import scalar_shape

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
register_op(
    "TensorSummary",
    inputs=["tensor: T"],
    outputs=["summary: string"],
    attrs=[
        "T: type",
        "description: string = ''",
        "labels: list(string) = []",
        "display_name: string = ''",
    ],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with a tensor, under the name of the node.",
)
register_op(
    "TensorSummaryV2",
    inputs=["tag: string", "tensor: T", "serialized_summary_metadata: string"],
    outputs=["summary: string"],
    attrs=["T: type"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with a tensor and metadata for the plugin that shows it.",
)
register_op(
    "ImageSummary",
    inputs=["tag: string", "tensor: T"],
    outputs=["summary: string"],
    attrs=[
        "max_images: int >= 1 = 3",
        "T: {uint8, float, half, double} = DT_FLOAT",
        "bad_color: tensor = uint8[255, 0, 0, 255]",
    ],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with the first images of a batch; floats are scaled to 0 ... 255.",
)
register_op(
    "AudioSummary",
    inputs=["tag: string", "tensor: float"],
    outputs=["summary: string"],
    attrs=["sample_rate: float", "max_outputs: int >= 1 = 3"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    deprecated=(15, "Use AudioSummaryV2."),
    doc="A Summary with the first clips of a batch; samples are in [-1, 1].",
)
register_op(
    "AudioSummaryV2",
    inputs=["tag: string", "tensor: float", "sample_rate: float"],
    outputs=["summary: string"],
    attrs=["max_outputs: int >= 1 = 3"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A Summary with the first clips of a batch; samples are in [-1, 1].",
)
