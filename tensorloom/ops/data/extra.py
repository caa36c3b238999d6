"""Ops of `tf.data.experimental`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.data.shapes import dataset_of_scalars

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _to_sparse_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 0)
    c.with_rank(2, 1)
    return SCALAR


def _assert_next_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 1)
    return SCALAR


register_op(
    "UnbatchDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The slices of the elements along dimension 0.",
)
register_op(
    "RebatchDataset",
    inputs=["input_dataset: variant", "num_replicas: int64"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "use_fallback: bool = true",
    ],
    shape_fn=scalar_shape,
    doc="Batches divided for several replicas.",
)
register_op(
    "SlidingWindowDataset",
    inputs=[
        "input_dataset: variant",
        "window_size: int64",
        "window_shift: int64",
        "window_stride: int64",
    ],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1, 2, 3),
    doc="Batches of overlapping windows.",
)
register_op(
    "DenseToSparseBatchDataset",
    inputs=["input_dataset: variant", "batch_size: int64", "row_shape: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=_to_sparse_shape,
    doc="Batches of dense elements as sparse tensors.",
)
register_op(
    "DirectedInterleaveDataset",
    inputs=["selector_input_dataset: variant", "data_input_datasets: N * variant"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "N: int >= 1",
        # Of TensorFlow 2; see `newer_attrs.ADDED`.
        "stop_on_empty_dataset: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="A choice among datasets, element by element.",
)
register_op(
    "UniqueDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="Each element once.",
)
register_op(
    "IgnoreErrorsDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The elements that do not fail.",
)
register_op(
    "AutoShardDataset",
    inputs=["input_dataset: variant", "num_workers: int64", "index: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The shard of one worker.",
)
register_op(
    "AssertNextDataset",
    inputs=["input_dataset: variant", "transformations: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=_assert_next_shape,
    doc="The same dataset; says which transformations come before.",
)
register_op(
    "NonSerializableDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset, which may not be saved.",
)
register_op(
    "SleepDataset",
    inputs=["input_dataset: variant", "sleep_microseconds: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The elements, slowly.",
)
register_op(
    "PrivateThreadPoolDataset",
    inputs=["input_dataset: variant", "num_threads: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset with a thread pool of its own.",
)
register_op(
    "MaxIntraOpParallelismDataset",
    inputs=["input_dataset: variant", "max_intra_op_parallelism: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset with a limit of threads.",
)
register_op(
    "LatencyStatsDataset",
    inputs=["input_dataset: variant", "tag: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The same dataset; its latencies have a name.",
)
register_op(
    "BytesProducedStatsDataset",
    inputs=["input_dataset: variant", "tag: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(1),
    doc="The same dataset; its bytes have a name.",
)
