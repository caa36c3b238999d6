"""Ops of the input service. Builders are in `data/service/`."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.ops.data.shapes import dataset_of_scalars

_OUTPUTS = ["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"]

register_op(
    "RegisterInputDataset",
    inputs=["dataset: variant", "address: string"],
    outputs=["dataset_id: string"],
    attrs=["requested_id: string = ''", "compression: string = ''"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Makes a dataset known to the dispatcher of an input service.",
)
register_op(
    "InputServiceDataset",
    inputs=[
        "dataset_id: string",
        "address: string",
        "job_name: string",
        "max_outstanding_requests: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "processing_mode: string",
        "delivery: string",
        "split_size: int = 0",
        "trainer_id: string = ''",
        *_OUTPUTS,
    ],
    shape_fn=dataset_of_scalars(0, 1, 2, 3),
    stateful=True,
    doc="The elements that the workers of an input service make of a dataset.",
)
register_op(
    "InputShareDataset",
    inputs=[
        "input_dataset: variant",
        "policy: string",
        "num_workers: int64",
        "index: int64",
    ],
    outputs=["handle: variant"],
    attrs=_OUTPUTS,
    shape_fn=dataset_of_scalars(1, 2, 3),
    doc="A worker's share of a dataset by a static sharding policy; '' is all of it.",
)
register_op(
    "InputSplitDataset",
    inputs=[
        "input_dataset: variant",
        "begin: int64",
        "end: int64",
        "seed: int64",
    ],
    outputs=["handle: variant"],
    attrs=_OUTPUTS,
    shape_fn=dataset_of_scalars(1, 2, 3),
    doc="What a pipeline makes of a part of its input: of some elements, or files.",
)
