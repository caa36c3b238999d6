"""Ops that make datasets with functions. Builders are in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape
from tensorloom.ops.data.shapes import output_shapes_attr

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _map_and_batch(c: InferenceContext) -> TensorShape:
    for index in range(c.num_inputs - 3, c.num_inputs):
        c.with_rank(index, 0)
    return SCALAR


register_op(
    "MapDataset",
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
register_op(
    "ParallelMapDataset",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "num_parallel_calls: int32",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "use_inter_op_parallelism: bool = true",
        "sloppy: bool = false",
        "preserve_cardinality: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="A function of each element, of several at a time.",
)
register_op(
    "ParallelMapDatasetV2",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "num_parallel_calls: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "use_inter_op_parallelism: bool = true",
        "deterministic: string = 'default'",
        "preserve_cardinality: bool = false",
        "use_unbounded_threadpool: bool = false",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="A function of each element, of several at a time.",
)
register_op(
    "MapAndBatchDataset",
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
    shape_fn=_map_and_batch,
    doc="Batches of a function of the elements.",
)
register_op(
    "FilterDataset",
    inputs=["input_dataset: variant", "other_arguments: Targuments"],
    outputs=["handle: variant"],
    attrs=[
        "predicate: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The elements for which a function is true.",
)
register_op(
    "FilterByLastComponentDataset",
    inputs=["input_dataset: variant"],
    outputs=["output: variant"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=scalar_shape,
    doc="The elements whose last component is true.",
)
register_op(
    "FlatMapDataset",
    inputs=["input_dataset: variant", "other_arguments: Targuments"],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="The elements of the datasets that a function gives.",
)
register_op(
    "InterleaveDataset",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn.",
)
register_op(
    "ParallelInterleaveDataset",
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
    "ParallelInterleaveDatasetV2",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
        "num_parallel_calls: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "sloppy: bool = false",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn, made ahead.",
)
register_op(
    "ParallelInterleaveDatasetV3",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
        "num_parallel_calls: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "deterministic: string = 'default'",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn, made ahead.",
)
register_op(
    "ParallelInterleaveDatasetV4",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
        "buffer_output_elements: int64",
        "prefetch_input_elements: int64",
        "num_parallel_calls: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "deterministic: string = 'default'",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn, made ahead.",
)
register_op(
    "LegacyParallelInterleaveDatasetV2",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "cycle_length: int64",
        "block_length: int64",
        "buffer_output_elements: int64",
        "prefetch_input_elements: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "f: func",
        "deterministic: string = 'default'",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="Elements of several datasets in turn.",
)
register_op(
    "ParallelFilterDataset",
    inputs=[
        "input_dataset: variant",
        "other_arguments: Targuments",
        "num_parallel_calls: int64",
    ],
    outputs=["handle: variant"],
    attrs=[
        "predicate: func",
        "deterministic: string = 'default'",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "metadata: string = ''",
    ],
    shape_fn=scalar_shape,
    doc="The elements for which a function is true.",
)
register_op(
    "ScanDataset",
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
    "TakeWhileDataset",
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
    "GroupByWindowDataset",
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
    "GroupByReducerDataset",
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
    "GeneratorDataset",
    inputs=[
        "init_func_other_args: Tinit_func_args",
        "next_func_other_args: Tnext_func_args",
        "finalize_func_other_args: Tfinalize_func_args",
    ],
    outputs=["handle: variant"],
    attrs=[
        "init_func: func",
        "next_func: func",
        "finalize_func: func",
        "Tinit_func_args: list(type) >= 0",
        "Tnext_func_args: list(type) >= 0",
        "Tfinalize_func_args: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Elements that a function generates.",
)
register_op(
    "ReduceDataset",
    inputs=[
        "input_dataset: variant",
        "initial_state: Tstate",
        "other_arguments: Targuments",
    ],
    outputs=["components: output_types"],
    attrs=[
        "f: func",
        "Tstate: list(type) >= 1",
        "Targuments: list(type) >= 0",
        "output_types: list(type) >= 1",
        "output_shapes: list(shape) >= 1",
        "use_inter_op_parallelism: bool = true",
    ],
    shape_fn=output_shapes_attr,
    gradient=NOT_DIFFERENTIABLE,
    stateful=True,
    doc="The last state of a function over all elements.",
)
register_op(
    "DatasetToSingleElement",
    inputs=["dataset: variant"],
    outputs=["components: output_types"],
    attrs=["output_types: list(type) >= 1", "output_shapes: list(shape) >= 1"],
    shape_fn=output_shapes_attr,
    stateful=True,
    doc="The only element of a dataset.",
)
