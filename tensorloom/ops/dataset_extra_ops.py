"""Ops of `tf.data.experimental`, and their twins of earlier names."""

from __future__ import annotations

from tensorloom.framework.op_registry import register_op
from tensorloom.framework.shape_inference import scalar_shape
from tensorloom.ops.dataset_shapes import dataset_of_scalars

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
    shape_fn=scalar_shape,
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
    shape_fn=scalar_shape,
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
    shape_fn=scalar_shape,
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
    shape_fn=scalar_shape,
    doc="The same dataset; its latencies have a name.",
)
register_op(
    "BytesProducedStatsDataset",
    inputs=["input_dataset: variant", "tag: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset; its bytes have a name.",
)

# Until 1.14 the ops of `tf.data.experimental` had another name; graphs still have it.
register_op(
    "ExperimentalAssertNextDataset",
    inputs=["input_dataset: variant", "transformations: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset; says which transformations come before.",
)
register_op(
    "ExperimentalAutoShardDataset",
    inputs=["input_dataset: variant", "num_workers: int64", "index: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The shard of one worker.",
)
register_op(
    "ExperimentalBytesProducedStatsDataset",
    inputs=["input_dataset: variant", "tag: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset; its bytes have a name.",
)
register_op(
    "ExperimentalCSVDataset",
    inputs=[
        "filenames: string",
        "compression_type: string",
        "buffer_size: int64",
        "header: bool",
        "field_delim: string",
        "use_quote_delim: bool",
        "na_value: string",
        "select_cols: int64",
        "record_defaults: output_types",
    ],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list({float, double, int32, int64, string}) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The records of CSV files.",
)
register_op(
    "ExperimentalDatasetCardinality",
    inputs=["input_dataset: variant"],
    outputs=["cardinality: int64"],
    shape_fn=scalar_shape,
    doc="Number of elements; -1 for endless, -2 for not known.",
)
register_op(
    "ExperimentalDenseToSparseBatchDataset",
    inputs=["input_dataset: variant", "batch_size: int64", "row_shape: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="Batches of dense elements as sparse tensors.",
)
register_op(
    "ExperimentalDirectedInterleaveDataset",
    inputs=["selector_input_dataset: variant", "data_input_datasets: N * variant"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "N: int >= 1",
    ],
    shape_fn=scalar_shape,
    doc="A choice among datasets, element by element.",
)
register_op(
    "ExperimentalGroupByReducerDataset",
    inputs=[
        "input_dataset: variant",
        "key_func_other_arguments: Tkey_func_other_arguments",
        "init_func_other_arguments: Tinit_func_other_arguments",
        "reduce_func_other_arguments: Treduce_func_other_arguments",
        "finalize_func_other_arguments: Tfinalize_func_other_arguments",
    ],
    outputs=["handle: variant"],
    attrs=[
        "key_func: func",
        "init_func: func",
        "reduce_func: func",
        "finalize_func: func",
        "Tkey_func_other_arguments: list(type) >= 0",
        "Tinit_func_other_arguments: list(type) >= 0",
        "Treduce_func_other_arguments: list(type) >= 0",
        "Tfinalize_func_other_arguments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A reduction of the elements of each key.",
)
register_op(
    "ExperimentalGroupByWindowDataset",
    inputs=[
        "input_dataset: variant",
        "key_func_other_arguments: Tkey_func_other_arguments",
        "reduce_func_other_arguments: Treduce_func_other_arguments",
        "window_size_func_other_arguments: Twindow_size_func_other_arguments",
    ],
    outputs=["handle: variant"],
    attrs=[
        "key_func: func",
        "reduce_func: func",
        "window_size_func: func",
        "Tkey_func_other_arguments: list(type) >= 0",
        "Treduce_func_other_arguments: list(type) >= 0",
        "Twindow_size_func_other_arguments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="Windows of elements with one key, each reduced to a dataset.",
)
register_op(
    "ExperimentalIgnoreErrorsDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The elements that do not fail.",
)
register_op(
    "ExperimentalIteratorGetDevice",
    inputs=["resource: resource"],
    outputs=["device: string"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The device of an iterator.",
)
register_op(
    "ExperimentalLatencyStatsDataset",
    inputs=["input_dataset: variant", "tag: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset; its latencies have a name.",
)
register_op(
    "ExperimentalMapAndBatchDataset",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "batch_size: int64",
        "num_parallel_calls: int64",
        "drop_remainder: bool",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "preserve_cardinality: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="Batches of a function of the elements.",
)
register_op(
    "ExperimentalMatchingFilesDataset",
    inputs=["patterns: string"],
    outputs=["handle: variant"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The names of the files that match patterns.",
)
register_op(
    "ExperimentalMaxIntraOpParallelismDataset",
    inputs=["input_dataset: variant", "max_intra_op_parallelism: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset with a limit of threads.",
)
register_op(
    "ExperimentalNonSerializableDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset, which may not be saved.",
)
register_op(
    "ExperimentalParallelInterleaveDataset",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
        "sloppy: bool",
        "buffer_output_elements: int64",
        "prefetch_input_elements: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn, made ahead.",
)
register_op(
    "ExperimentalPrivateThreadPoolDataset",
    inputs=["input_dataset: variant", "num_threads: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The same dataset with a thread pool of its own.",
)
register_op(
    "ExperimentalRandomDataset",
    inputs=["seed: int64", "seed2: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=dataset_of_scalars(0, 1),
    stateful=True,
    doc="Endless random numbers.",
)
register_op(
    "ExperimentalRebatchDataset",
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
    "ExperimentalScanDataset",
    inputs=[
        "input_dataset: variant",
        "initial_state: Tstate",
        "other_arguments: Targuments",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Tstate: list(type) >= 1",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "preserve_cardinality: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="A function of a state and each element.",
)
register_op(
    "ExperimentalSleepDataset",
    inputs=["input_dataset: variant", "sleep_microseconds: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The elements, slowly.",
)
register_op(
    "ExperimentalSlidingWindowDataset",
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
    "ExperimentalTakeWhileDataset",
    inputs=["input_dataset: variant", "other_arguments: Targuments"],
    outputs=["handle: variant"],
    attrs=[
        "predicate: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The elements before a function becomes false.",
)
register_op(
    "ExperimentalUnbatchDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The slices of the elements along dimension 0.",
)
register_op(
    "ExperimentalUniqueDataset",
    inputs=["input_dataset: variant"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="Each element once.",
)
register_op(
    "ExperimentalMapDataset",
    inputs=["input_dataset: variant", "other_arguments: Targuments"],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "use_inter_op_parallelism: bool = true",
        "preserve_cardinality: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="A function of each element.",
)
