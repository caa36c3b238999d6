"""Ops of datasets that graphs of TensorFlow 2 use. Nothing here makes them."""

from __future__ import annotations

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.ops.data.shapes import dataset_of_scalars

_OUTPUTS = ["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"]
_METADATA = "metadata: string = ''"

register_op(
    "RewriteDataset",
    inputs=["input_dataset: variant", "rewrite_name: string"],
    outputs=["handle: variant"],
    attrs=_OUTPUTS,
    shape_fn=scalar_shape,
    doc="The same dataset, rewritten.",
)
register_op(
    "AssertPrevDataset",
    inputs=["input_dataset: variant", "transformations: string"],
    outputs=["handle: variant"],
    attrs=_OUTPUTS,
    shape_fn=scalar_shape,
    doc="The same dataset; says which transformations come before.",
)
register_op(
    "AssertCardinalityDataset",
    inputs=["input_dataset: variant", "cardinality: int64"],
    outputs=["handle: variant"],
    attrs=_OUTPUTS,
    shape_fn=dataset_of_scalars(1),
    doc="The same dataset; an error at its end if it has another number of elements.",
)
register_op(
    "ShuffleAndRepeatDatasetV2",
    inputs=[
        "input_dataset: variant",
        "buffer_size: int64",
        "seed: int64",
        "seed2: int64",
        "count: int64",
        "seed_generator: resource",
    ],
    outputs=["handle: variant"],
    attrs=["reshuffle_each_iteration: bool = true", *_OUTPUTS, _METADATA],
    shape_fn=dataset_of_scalars(1, 2, 3, 4),
    stateful=True,
    doc="Several shuffled rounds without a break between them.",
)
register_op(
    "RandomDatasetV2",
    inputs=["seed: int64", "seed2: int64", "seed_generator: resource"],
    outputs=["handle: variant"],
    attrs=["rerandomize_each_iteration: bool = false", *_OUTPUTS, _METADATA],
    shape_fn=dataset_of_scalars(0, 1),
    stateful=True,
    doc="Endless random numbers.",
)
register_op(
    "TFRecordDatasetV2",
    inputs=[
        "filenames: string",
        "compression_type: string",
        "buffer_size: int64",
        "byte_offsets: int64",
    ],
    outputs=["handle: variant"],
    attrs=[_METADATA],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The records of TFRecord files.",
)
register_op(
    "ParallelBatchDataset",
    inputs=[
        "input_dataset: variant",
        "batch_size: int64",
        "num_parallel_calls: int64",
        "drop_remainder: bool",
    ],
    outputs=["handle: variant"],
    attrs=[
        "parallel_copy: bool = false",
        *_OUTPUTS,
        "deterministic: string = 'default'",
        _METADATA,
    ],
    shape_fn=dataset_of_scalars(1, 2, 3),
    doc="Batches of elements of equal shapes.",
)
register_op(
    "DatasetToTFRecord",
    inputs=["input_dataset: variant", "filename: string", "compression_type: string"],
    shape_fn=lambda c: [],
    stateful=True,
    doc="Writes the strings of a dataset as records of a file.",
)
register_op(
    "ComputeBatchSize",
    inputs=["input_dataset: variant"],
    outputs=["batch_size: int64"],
    shape_fn=scalar_shape,
    doc="The size of the batches that the elements are; -1 where they are none.",
)
