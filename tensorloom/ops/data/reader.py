"""Ops that make datasets of files. Builders are in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _files(c: InferenceContext) -> TensorShape:
    c.with_rank_at_most(0, 1)
    # Not the compression of FixedLengthRecordDatasetV2, as in TensorFlow.
    for index in range(1, min(c.num_inputs, 5)):
        c.with_rank(index, 0)
    return SCALAR


def csv_files(c: InferenceContext) -> TensorShape:
    """The shape of a dataset of CSV files, a scalar: checks ranks and defaults."""
    c.with_rank_at_most(0, 1)
    for index in range(1, 7):
        c.with_rank(index, 0)
    columns = len(c.attrs["output_types"])
    c.with_rank(7, 1)
    for index in range(8, 8 + columns):
        dims = c.with_rank_at_most(index, 1).dims_tuple
        if dims and dims[0] is not None and dims[0] > 1:
            c.fail(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    for index in range(8 + columns, c.num_inputs):  # the columns to leave out
        c.with_rank(index, 1)
    return SCALAR


register_op(
    "TextLineDataset",
    inputs=["filenames: string", "compression_type: string", "buffer_size: int64"],
    outputs=["handle: variant"],
    shape_fn=_files,
    stateful=True,
    doc="The lines of text files.",
)
register_op(
    "TFRecordDataset",
    inputs=["filenames: string", "compression_type: string", "buffer_size: int64"],
    outputs=["handle: variant"],
    shape_fn=_files,
    stateful=True,
    doc="The records of TFRecord files.",
)
register_op(
    "FixedLengthRecordDataset",
    inputs=[
        "filenames: string",
        "header_bytes: int64",
        "record_bytes: int64",
        "footer_bytes: int64",
        "buffer_size: int64",
    ],
    outputs=["handle: variant"],
    shape_fn=_files,
    stateful=True,
    doc="The records of files of fixed-length records.",
)
register_op(
    "FixedLengthRecordDatasetV2",
    inputs=[
        "filenames: string",
        "header_bytes: int64",
        "record_bytes: int64",
        "footer_bytes: int64",
        "buffer_size: int64",
        "compression_type: string",
    ],
    outputs=["handle: variant"],
    shape_fn=_files,
    stateful=True,
    doc="The records of files of fixed-length records.",
)
register_op(
    "CSVDataset",
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
    shape_fn=csv_files,
    stateful=True,
    doc="The records of CSV files.",
)
register_op(
    "MatchingFilesDataset",
    inputs=["patterns: string"],
    outputs=["handle: variant"],
    shape_fn=_files,
    stateful=True,
    doc="The names of the files that match patterns.",
)
_EXAMPLES = [
    "input_dataset: variant",
    "num_parallel_calls: int64",
    "dense_defaults: Tdense",
]
_PARSED = [
    "sparse_keys: list(string) >= 0",
    "dense_keys: list(string) >= 0",
    "sparse_types: list({float, int64, string}) >= 0",
    "Tdense: list({float, int64, string}) >= 0",
    "dense_shapes: list(shape) >= 0",
    "output_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
]
register_op(
    "ParseExampleDataset",
    inputs=_EXAMPLES,
    outputs=["handle: variant"],
    attrs=[*_PARSED, "sloppy: bool = false"],
    shape_fn=scalar_shape,
    doc="Batches of serialized Examples, parsed.",
)
register_op(
    "ParseExampleDatasetV2",
    inputs=_EXAMPLES,
    outputs=["handle: variant"],
    attrs=[
        *_PARSED,
        "deterministic: string = 'default'",
        "ragged_keys: list(string) >= 0 = []",
        "ragged_value_types: list({float, int64, string}) >= 0 = []",
        "ragged_split_types: list({int32, int64}) >= 0 = []",
    ],
    shape_fn=scalar_shape,
    doc="Batches of serialized Examples, parsed; ragged features too.",
)
