"""Datasets that are stored, chosen among, sampled, or come from databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape
from tensorloom.ops.data.reader import csv_files
from tensorloom.ops.data.shapes import dataset_of_scalars

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape

_sql_shape = dataset_of_scalars(0, 1, 2)
_path_shape = dataset_of_scalars(1)
_sampling_shape = dataset_of_scalars(1, 2, 3)


def _table_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    return []


register_op(
    "CSVDatasetV2",
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
        "exclude_cols: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list({float, double, int32, int64, string}) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=csv_files,
    stateful=True,
    doc="The records of CSV files; columns may be left out.",
)

register_op(
    "ChooseFastestBranchDataset",
    inputs=[
        "input_dataset: variant",
        "ratio_numerator: int64",
        "ratio_denominator: int64",
        "other_arguments: Targuments",
    ],
    outputs=["handle: variant"],
    attrs=[
        "Targuments: list(type) >= 0",
        "num_elements_per_branch: int >= 1",
        "branches: list(func) >= 1",
        "other_arguments_lengths: list(int) >= 1",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The elements by the first of several ways to make them.",
)

register_op(
    "ChooseFastestDataset",
    inputs=["input_datasets: N * variant"],
    outputs=["handle: variant"],
    attrs=[
        "N: int >= 2",
        "num_experiments: int",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The elements of the first of several equal datasets.",
)

register_op(
    "DatasetFromGraph",
    inputs=["graph_def: string"],
    outputs=["handle: variant"],
    shape_fn=scalar_shape,
    doc="The dataset of a serialized graph.",
)

register_op(
    "DatasetToGraph",
    inputs=["input_dataset: variant"],
    outputs=["graph: string"],
    attrs=["stateful_whitelist: list(string) >= 0 = []"],
    shape_fn=scalar_shape,
    doc="The serialized graph of a dataset.",
)

register_op(
    "DatasetToGraphV2",
    inputs=["input_dataset: variant"],
    outputs=["graph: string"],
    attrs=["external_state_policy: int = 0", "strip_device_assignment: bool = false"],
    shape_fn=scalar_shape,
    doc="The serialized graph of a dataset.",
)

register_op(
    "LMDBDataset",
    inputs=["filenames: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The keys and values of LMDB databases.",
)

register_op(
    "KafkaDataset",
    inputs=[
        "topics: string",
        "servers: string",
        "group: string",
        "eof: bool",
        "timeout: int64",
    ],
    outputs=["handle: variant"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The messages of Kafka topics, which are [topic:partition:offset:last].",
)

register_op(
    "SqlDataset",
    inputs=["driver_name: string", "data_source_name: string", "query: string"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=_sql_shape,
    stateful=True,
    doc="The rows of the result of an SQL query.",
)

register_op(
    "GetOptions",
    inputs=["input_dataset: variant"],
    outputs=["serialized_options: string"],
    shape_fn=scalar_shape,
    doc="The options of a dataset, serialized.",
)

register_op(
    "InitializeTableFromDataset",
    inputs=["table_handle: resource", "dataset: variant"],
    shape_fn=_table_shape,
    stateful=True,
    doc="Fills a table with the (key, value) elements of a dataset.",
)

register_op(
    "LoadDataset",
    inputs=["path: string", "reader_func_other_args: Treader_func_args"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "compression: string = ''",
        "reader_func: func",
        "Treader_func_args: list(type) >= 0",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A dataset that was saved to a directory.",
)

register_op(
    "SaveDataset",
    inputs=[
        "input_dataset: variant",
        "path: string",
        "shard_func_other_args: Tshard_func_args",
    ],
    attrs=[
        "compression: string = ''",
        "shard_func: func",
        "use_shard_func: bool = true",
        "Tshard_func_args: list(type) >= 0",
    ],
    shape_fn=no_outputs,
    stateful=True,
    doc="Saves the elements of a dataset to a directory.",
)

register_op(
    "SaveDatasetV2",
    inputs=[
        "input_dataset: variant",
        "path: string",
        "shard_func_other_args: Tshard_func_args",
    ],
    outputs=["handle: variant"],
    attrs=[
        "compression: string = ''",
        "shard_func: func",
        "use_shard_func: bool = true",
        "Tshard_func_args: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="The elements of a dataset, saved to a directory as they come.",
)

register_op(
    "SnapshotDataset",
    inputs=["input_dataset: variant", "path: string"],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "compression: string = ''",
        "reader_path_prefix: string = ''",
        "writer_path_prefix: string = ''",
        "shard_size_bytes: int = 10737418240",
        "pending_snapshot_expiry_seconds: int = 86400",
        "num_reader_threads: int = 1",
        "reader_buffer_size: int = 1",
        "num_writer_threads: int = 1",
        "writer_buffer_size: int = 1",
    ],
    shape_fn=_path_shape,
    doc="The elements, from files once they were written there.",
)

register_op(
    "SnapshotDatasetV2",
    inputs=[
        "input_dataset: variant",
        "path: string",
        "reader_func_other_args: Treader_func_args",
        "shard_func_other_args: Tshard_func_args",
    ],
    outputs=["handle: variant"],
    attrs=[
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "compression: string = ''",
        "reader_prefix: string = ''",
        "writer_prefix: string = ''",
        "hash_valid: bool = false",
        "hash: int = 0",
        "reader_func: func",
        "shard_func: func",
        "Treader_func_args: list(type) >= 0",
        "Tshard_func_args: list(type) >= 0",
        "metadata: string = ''",
    ],
    shape_fn=_path_shape,
    doc="The elements, from files once they were written there.",
)

register_op(
    "RebatchDatasetV2",
    inputs=["input_dataset: variant", "batch_sizes: int64", "drop_remainder: bool"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="Batches of other sizes, which repeat in a cycle.",
)

register_op(
    "SamplingDataset",
    inputs=["input_dataset: variant", "rate: float", "seed: int64", "seed2: int64"],
    outputs=["handle: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=_sampling_shape,
    doc="Each element with the same chance.",
)
