"""Ops that make datasets: sources, selections, batches. Builders are in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.data.shapes import dataset_of_scalars

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _padded_batches(c: InferenceContext) -> TensorShape:
    for index in (1, c.num_inputs - 1):
        c.with_rank(index, 0)
    return SCALAR


register_op(
    "TensorDataset",
    inputs=["components: Toutput_types"],
    outputs=["handle: variant"],
    attrs=["Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A dataset of one element.",
)
register_op(
    "TensorSliceDataset",
    inputs=["components: Toutput_types"],
    outputs=["handle: variant"],
    attrs=["Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The slices of tensors along dimension 0.",
)
register_op(
    "SparseTensorSliceDataset",
    inputs=["indices: int64", "values: Tvalues", "dense_shape: int64"],
    outputs=["handle: variant"],
    attrs=["Tvalues: type"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The rows of a sparse tensor.",
)
register_op(
    "RangeDataset",
    inputs=["start: int64", "stop: int64", "step: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(0, 1, 2),
    stateful=True,
    doc="The numbers of a range.",
)
register_op(
    "RandomDataset",
    inputs=["seed: int64", "seed2: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(0, 1),
    stateful=True,
    doc="Endless random numbers.",
)
register_op(
    "ListDataset",
    inputs=["tensors: Tinput_types"],
    outputs=["handle: variant"],
    attrs=[
        "Tinput_types: list(type) >= 1",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Elements that are given one after the other.",
)
register_op(
    "TakeDataset",
    inputs=["input_dataset: variant", "count: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The first elements.",
)
register_op(
    "SkipDataset",
    inputs=["input_dataset: variant", "count: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="All but the first elements.",
)
register_op(
    "RepeatDataset",
    inputs=["input_dataset: variant", "count: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The elements several times.",
)
register_op(
    "ShardDataset",
    inputs=["input_dataset: variant", "num_shards: int64", "index: int64"],
    outputs=["handle: variant"],
    attrs=[
        "require_non_empty: bool = false",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=dataset_of_scalars(1, 2),
    doc="Every n-th element.",
)
register_op(
    "ConcatenateDataset",
    inputs=["input_dataset: variant", "another_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="Two datasets one after the other.",
)
register_op(
    "ZipDataset",
    inputs=["input_datasets: N * variant"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "N: int >= 1",
    ],
    shape_fn=scalar_shape,
    doc="Several datasets side by side.",
)
register_op(
    "ShuffleDataset",
    inputs=[
        "input_dataset: variant",
        "buffer_size: int64",
        "seed: int64",
        "seed2: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "reshuffle_each_iteration: bool = true",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=dataset_of_scalars(1, 2, 3),
    doc="The elements in random order, from a buffer.",
)
register_op(
    "ShuffleDatasetV2",
    inputs=["input_dataset: variant", "buffer_size: int64", "seed_generator: resource"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    stateful=True,
    doc="The elements in random order; seeds come from a generator.",
)
register_op(
    "ShuffleDatasetV3",
    inputs=[
        "input_dataset: variant",
        "buffer_size: int64",
        "seed: int64",
        "seed2: int64",
        "seed_generator: resource",
    ],
    outputs=["handle: variant"],
    attrs=[
        "reshuffle_each_iteration: bool = true",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=dataset_of_scalars(1, 2, 3),
    stateful=True,
    doc="The elements in random order; the generator is a resource.",
)
register_op(
    "ShuffleAndRepeatDataset",
    inputs=[
        "input_dataset: variant",
        "buffer_size: int64",
        "seed: int64",
        "seed2: int64",
        "count: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        # Of TensorFlow 2, whose graphs always say it; see `newer_attrs.ADDED`.
        "reshuffle_each_iteration: bool = false",
    ],
    shape_fn=dataset_of_scalars(1, 2, 3, 4),
    doc="Several shuffled rounds without a break between them.",
)
register_op(
    "CacheDataset",
    inputs=["input_dataset: variant", "filename: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The elements, kept in memory or in files.",
)
register_op(
    "CacheDatasetV2",
    inputs=["input_dataset: variant", "filename: string", "cache: resource"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    stateful=True,
    doc="The elements, kept in memory or in files.",
)
register_op(
    "PrefetchDataset",
    inputs=["input_dataset: variant", "buffer_size: int64"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "slack_period: int = 0",
        "legacy_autotune: bool = true",
    ],
    shape_fn=dataset_of_scalars(1),
    doc="The elements, made ahead.",
)
register_op(
    "BatchDataset",
    inputs=["input_dataset: variant", "batch_size: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="Batches of elements of equal shapes.",
)
register_op(
    "BatchDatasetV2",
    inputs=["input_dataset: variant", "batch_size: int64", "drop_remainder: bool"],
    outputs=["handle: variant"],
    attrs=[
        "parallel_copy: bool = false",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=dataset_of_scalars(1, 2),
    doc="Batches of elements of equal shapes.",
)
register_op(
    "PaddedBatchDataset",
    inputs=[
        "input_dataset: variant",
        "batch_size: int64",
        "padded_shapes: N * int64",
        "padding_values: Toutput_types",
    ],
    outputs=["handle: variant"],
    attrs=[
        "Toutput_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "N: int >= 1",
    ],
    shape_fn=dataset_of_scalars(1),
    doc="Batches of padded elements.",
)
register_op(
    "PaddedBatchDatasetV2",
    inputs=[
        "input_dataset: variant",
        "batch_size: int64",
        "padded_shapes: N * int64",
        "padding_values: Toutput_types",
        "drop_remainder: bool",
    ],
    outputs=["handle: variant"],
    attrs=[
        "parallel_copy: bool = false",
        "Toutput_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "N: int >= 1",
    ],
    shape_fn=_padded_batches,
    doc="Batches of padded elements.",
)
register_op(
    "WindowDataset",
    inputs=[
        "input_dataset: variant",
        "size: int64",
        "shift: int64",
        "stride: int64",
        "drop_remainder: bool",
    ],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1, 2, 3, 4),
    doc="Runs of elements, each as datasets.",
)
register_op(
    "ModelDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=[
        "algorithm: int = 0",
        "cpu_budget: int = 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The same dataset, tuned.",
)
register_op(
    "OptimizeDataset",
    inputs=["input_dataset: variant", "optimizations: string"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "optimization_configs: list(string) = []",
    ],
    shape_fn=scalar_shape,
    doc="The same dataset, optimized.",
)
register_op(
    "OptionsDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=[
        "serialized_options: string",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="The same dataset with options.",
)
register_op(
    "FinalizeDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=[
        "has_captured_ref: bool = false",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The same dataset, its options applied.",
)
register_op(
    "OptimizeDatasetV2",
    inputs=[
        "input_dataset: variant",
        "optimizations_enabled: string",
        "optimizations_disabled: string",
        "optimizations_default: string",
    ],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "optimization_configs: list(string) = []",
    ],
    shape_fn=scalar_shape,
    doc="The same dataset, optimized.",
)
register_op(
    "WrapDatasetVariant",
    inputs=["input_handle: variant"],
    outputs=["output_handle: variant"],
    shape_fn=scalar_shape,
    doc="A dataset that may be copied between devices.",
)
register_op(
    "UnwrapDatasetVariant",
    inputs=["input_handle: variant"],
    outputs=["output_handle: variant"],
    shape_fn=scalar_shape,
    doc="The dataset in a wrapped one.",
)
register_op(
    "DatasetCardinality",
    inputs=["input_dataset: variant"],
    outputs=["cardinality: int64"],
    shape_fn=scalar_shape,
    doc="Number of elements; -1 for endless, -2 for not known.",
)
