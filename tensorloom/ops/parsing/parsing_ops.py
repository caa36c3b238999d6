"""Parsing: ops and shape functions. More builders are in `parsing_features.py`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import (
    format_shape,
    scalar_shape,
    unchanged_shape,
    unknown_shapes,
)
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

Shapes = Sequence[TensorShape]

_TYPES = "list({float, int64, string}) >= 0"
_VECTOR = TensorShape.of((None,))


def _sparse_shapes(count: int, rank: int | None) -> list[TensorShape]:
    indices, shape = TensorShape.of((None, rank)), TensorShape.of((rank,))
    return [indices] * count + [_VECTOR] * count + [shape] * count


def _dense_shapes(c: InferenceContext) -> Shapes:
    """The shapes of dense features; the first size of one may be unknown."""
    shapes: Shapes = c.attrs["dense_shapes"]
    if len(c.attrs["Tdense"]) != len(shapes):
        c.fail("len(dense_keys) != len(dense_shapes)")
    for i, shape in enumerate(shapes):
        dims = shape.dims_tuple
        if dims is None or None in dims[1:]:
            c.fail(
                f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: "
                f"{format_shape(shape)}"
            )
    return shapes


def _context_shapes(c: InferenceContext) -> Shapes:
    """The shapes of the dense features of a sequence's context."""
    return _sequence_shapes(c, "context", "Tcontext_dense")


def _list_shapes(c: InferenceContext) -> Shapes:
    """The shapes of the steps of dense feature lists."""
    return _sequence_shapes(c, "feature_list", "feature_list_dense_types")


def _check_keys(c: InferenceContext, keys: str, what: str, count: int) -> None:
    """An attr of keys, where an op has them in one, has a key for each feature."""
    given = c.attrs.get(keys)
    if given is not None and len(given) != count:
        c.fail(f"{what} ({count}) must match the size of {keys} ({len(given)})")


def _sequence_shapes(c: InferenceContext, part: str, types: str) -> Shapes:
    shapes: Shapes = c.attrs[f"{part}_dense_shapes"]
    for kind in ("sparse", "dense"):
        count: int = c.attrs.get(f"N{part}_{kind}", 0)
        _check_keys(c, f"{part}_{kind}_keys", f"num_{part}_{kind}", count)
    if len(c.attrs[types]) != len(shapes):
        c.fail(f"len({part}_dense_keys) != len({part}_dense_shapes)")
    for shape in shapes:
        if not shape.is_fully_defined():
            c.fail(f"Shape {format_shape(shape)} is not fully defined")
    return shapes


def _example_shape(c: InferenceContext) -> list[TensorShape]:
    batch = c.with_rank(0, 1)
    c.with_rank(1, 1)
    return _sparse_shapes(c.attrs["Nsparse"], 2) + [
        batch.concatenate(shape) for shape in _dense_shapes(c)
    ]


def _single_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    dense = _dense_shapes(c)
    _check_keys(c, "sparse_keys", "num_sparse", c.attrs["num_sparse"])
    _check_keys(c, "dense_keys", "len(dense_types)", len(c.attrs["Tdense"]))
    return [*_sparse_shapes(c.attrs["num_sparse"], 1), *dense]


def _sequence_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank(0, 0)
    c.with_rank(1, 1)
    steps = _VECTOR
    return (
        _sparse_shapes(c.attrs["Ncontext_sparse"], 1)
        + list(_context_shapes(c))
        + _sparse_shapes(c.attrs["Nfeature_list_sparse"], 2)
        + [steps.concatenate(s) for s in _list_shapes(c)]
    )


def _example_v2_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank_at_most(0, 1)
    c.with_rank_at_most(1, 1)
    batch, rank = c.input_shape(0), c.input_shape(0).rank
    sparse = None if rank is None else rank + 1
    if batch.dims_tuple is None:
        dense = [TensorShape.of(None)] * len(_dense_shapes(c))
    else:
        dense = [batch.concatenate(shape) for shape in _dense_shapes(c)]
    ragged = len(c.attrs["ragged_value_types"])
    return (
        _sparse_shapes(c.attrs["num_sparse"], sparse)
        + dense
        + [_VECTOR] * ragged
        + [_splits_shape(batch)] * ragged
    )


def _splits_shape(batch: TensorShape) -> TensorShape:
    dims = batch.dims_tuple
    if dims is None:
        return _VECTOR
    if not dims:
        return _VECTOR
    return TensorShape.of((None if dims[0] is None else dims[0] + 1,))


def _sequences_shape(c: InferenceContext) -> list[TensorShape]:
    """Batches of SequenceExamples; V2 takes single ones too and has ragged outputs."""
    has_ragged = "context_ragged_value_types" in c.attrs
    if has_ragged:
        c.with_rank_at_most(0, 1)
        c.with_rank_at_most(1, 1)
        batch = c.input_shape(0)
    else:
        batch = c.with_rank(0, 1)
        c.with_rank(1, 1)
    dims = batch.dims_tuple
    context_ragged = len(c.attrs.get("context_ragged_value_types", ()))
    list_ragged = len(c.attrs.get("feature_list_ragged_value_types", ()))
    rank = None if dims is None else len(dims)
    steps = TensorShape.of(None if dims is None else (*dims, None))
    return [
        *_sparse_shapes(c.attrs["Ncontext_sparse"], _plus(rank, 1)),
        *(batch.concatenate(shape) for shape in _context_shapes(c)),
        *[_VECTOR] * context_ragged,
        *[_splits_shape(batch)] * context_ragged,
        *_sparse_shapes(c.attrs["Nfeature_list_sparse"], _plus(rank, 2)),
        *(steps.concatenate(shape) for shape in _list_shapes(c)),
        *[batch] * c.attrs["Nfeature_list_dense"],
        *[_VECTOR] * list_ragged,
        *[_splits_shape(batch)] * list_ragged,
        *[_VECTOR] * list_ragged,
    ]


def _plus(rank: int | None, more: int) -> int | None:
    return None if rank is None else rank + more


def _csv_shape(c: InferenceContext) -> list[TensorShape]:
    for index in range(1, c.num_inputs):
        rank = c.input_shape(index).rank
        if rank is not None and rank > 1:
            c.fail(f"Shape must be at most rank 1 but is rank {rank}")
        if rank == 1 and c.input_shape(index).as_list()[0] not in (None, 0, 1):
            c.fail("Shape of a default must be a length-0 or length-1 vector")
    return [c.input_shape(0)] * c.num_outputs


register_op(
    "ParseExample",
    inputs=[
        "serialized: string",
        "names: string",
        "sparse_keys: Nsparse * string",
        "dense_keys: Ndense * string",
        "dense_defaults: Tdense",
    ],
    outputs=[
        "sparse_indices: Nsparse * int64",
        "sparse_values: sparse_types",
        "sparse_shapes: Nsparse * int64",
        "dense_values: Tdense",
    ],
    attrs=[
        "Nsparse: int >= 0",
        "Ndense: int >= 0",
        f"sparse_types: {_TYPES}",
        f"Tdense: {_TYPES}",
        "dense_shapes: list(shape) >= 0",
    ],
    shape_fn=_example_shape,
    doc="Features of a batch of serialized Example messages.",
)
register_op(
    "ParseExampleV2",
    inputs=[
        "serialized: string",
        "names: string",
        "sparse_keys: string",
        "dense_keys: string",
        "ragged_keys: string",
        "dense_defaults: Tdense",
    ],
    outputs=[
        "sparse_indices: num_sparse * int64",
        "sparse_values: sparse_types",
        "sparse_shapes: num_sparse * int64",
        "dense_values: Tdense",
        "ragged_values: ragged_value_types",
        "ragged_row_splits: ragged_split_types",
    ],
    attrs=[
        f"Tdense: {_TYPES}",
        "num_sparse: int >= 0",
        f"sparse_types: {_TYPES}",
        f"ragged_value_types: {_TYPES}",
        "ragged_split_types: list({int32, int64}) >= 0",
        "dense_shapes: list(shape) >= 0",
    ],
    shape_fn=_example_v2_shape,
    doc="Features of serialized Example messages, ragged ones too.",
)
register_op(
    "ParseSingleExample",
    inputs=["serialized: string", "dense_defaults: Tdense"],
    outputs=[
        "sparse_indices: num_sparse * int64",
        "sparse_values: sparse_types",
        "sparse_shapes: num_sparse * int64",
        "dense_values: Tdense",
    ],
    attrs=[
        "num_sparse: int >= 0",
        "sparse_keys: list(string) >= 0",
        "dense_keys: list(string) >= 0",
        f"sparse_types: {_TYPES}",
        f"Tdense: {_TYPES}",
        "dense_shapes: list(shape) >= 0",
    ],
    shape_fn=_single_shape,
    doc="Features of one serialized Example message.",
)
register_op(
    "ParseSingleSequenceExample",
    inputs=[
        "serialized: string",
        "feature_list_dense_missing_assumed_empty: string",
        "context_sparse_keys: Ncontext_sparse * string",
        "context_dense_keys: Ncontext_dense * string",
        "feature_list_sparse_keys: Nfeature_list_sparse * string",
        "feature_list_dense_keys: Nfeature_list_dense * string",
        "context_dense_defaults: Tcontext_dense",
        "debug_name: string",
    ],
    outputs=[
        "context_sparse_indices: Ncontext_sparse * int64",
        "context_sparse_values: context_sparse_types",
        "context_sparse_shapes: Ncontext_sparse * int64",
        "context_dense_values: Tcontext_dense",
        "feature_list_sparse_indices: Nfeature_list_sparse * int64",
        "feature_list_sparse_values: feature_list_sparse_types",
        "feature_list_sparse_shapes: Nfeature_list_sparse * int64",
        "feature_list_dense_values: feature_list_dense_types",
    ],
    attrs=[
        "Ncontext_sparse: int >= 0 = 0",
        "Ncontext_dense: int >= 0 = 0",
        "Nfeature_list_sparse: int >= 0 = 0",
        "Nfeature_list_dense: int >= 0 = 0",
        f"context_sparse_types: {_TYPES} = []",
        f"Tcontext_dense: {_TYPES} = []",
        f"feature_list_dense_types: {_TYPES} = []",
        "context_dense_shapes: list(shape) >= 0 = []",
        f"feature_list_sparse_types: {_TYPES} = []",
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=_sequence_shape,
    doc="Features of one serialized SequenceExample message.",
)
_CONTEXT_OUTPUTS = [
    "context_sparse_indices: Ncontext_sparse * int64",
    "context_sparse_values: context_sparse_types",
    "context_sparse_shapes: Ncontext_sparse * int64",
    "context_dense_values: Tcontext_dense",
]
_LIST_OUTPUTS = [
    "feature_list_sparse_indices: Nfeature_list_sparse * int64",
    "feature_list_sparse_values: feature_list_sparse_types",
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64",
    "feature_list_dense_values: feature_list_dense_types",
    "feature_list_dense_lengths: Nfeature_list_dense * int64",
]
_SPLIT_TYPES = "list({int32, int64}) >= 0 = []"
register_op(
    "ParseSequenceExample",
    inputs=[
        "serialized: string",
        "debug_name: string",
        "context_dense_defaults: Tcontext_dense",
    ],
    outputs=[*_CONTEXT_OUTPUTS, *_LIST_OUTPUTS],
    attrs=[
        "feature_list_dense_missing_assumed_empty: list(string) >= 0",
        "context_sparse_keys: list(string) >= 0",
        "context_dense_keys: list(string) >= 0",
        "feature_list_sparse_keys: list(string) >= 0",
        "feature_list_dense_keys: list(string) >= 0",
        "Ncontext_sparse: int >= 0 = 0",
        "Ncontext_dense: int >= 0 = 0",
        "Nfeature_list_sparse: int >= 0 = 0",
        "Nfeature_list_dense: int >= 0 = 0",
        f"context_sparse_types: {_TYPES} = []",
        f"Tcontext_dense: {_TYPES} = []",
        f"feature_list_dense_types: {_TYPES} = []",
        "context_dense_shapes: list(shape) >= 0 = []",
        f"feature_list_sparse_types: {_TYPES} = []",
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=_sequences_shape,
    doc="Features of a batch of serialized SequenceExample messages.",
)
register_op(
    "ParseSequenceExampleV2",
    inputs=[
        "serialized: string",
        "debug_name: string",
        "context_sparse_keys: string",
        "context_dense_keys: string",
        "context_ragged_keys: string",
        "feature_list_sparse_keys: string",
        "feature_list_dense_keys: string",
        "feature_list_ragged_keys: string",
        "feature_list_dense_missing_assumed_empty: bool",
        "context_dense_defaults: Tcontext_dense",
    ],
    outputs=[
        *_CONTEXT_OUTPUTS,
        "context_ragged_values: context_ragged_value_types",
        "context_ragged_row_splits: context_ragged_split_types",
        *_LIST_OUTPUTS,
        "feature_list_ragged_values: feature_list_ragged_value_types",
        "feature_list_ragged_outer_splits: feature_list_ragged_split_types",
        "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
    ],
    attrs=[
        "Ncontext_sparse: int >= 0 = 0",
        f"Tcontext_dense: {_TYPES} = []",
        f"context_sparse_types: {_TYPES} = []",
        f"context_ragged_value_types: {_TYPES} = []",
        f"context_ragged_split_types: {_SPLIT_TYPES}",
        "context_dense_shapes: list(shape) >= 0 = []",
        "Nfeature_list_sparse: int >= 0 = 0",
        "Nfeature_list_dense: int >= 0 = 0",
        f"feature_list_dense_types: {_TYPES} = []",
        f"feature_list_sparse_types: {_TYPES} = []",
        f"feature_list_ragged_value_types: {_TYPES} = []",
        f"feature_list_ragged_split_types: {_SPLIT_TYPES}",
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    ],
    shape_fn=_sequences_shape,
    doc="Features of serialized SequenceExample messages, ragged ones too.",
)
register_op(
    "ParseTensor",
    inputs=["serialized: string"],
    outputs=["output: out_type"],
    attrs=["out_type: type"],
    shape_fn=unknown_shapes,
    gradient=NOT_DIFFERENTIABLE,
    doc="A tensor from a serialized TensorProto.",
)
register_op(
    "SerializeTensor",
    inputs=["tensor: T"],
    outputs=["serialized: string"],
    attrs=["T: type"],
    shape_fn=scalar_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A tensor as a serialized TensorProto.",
)
register_op(
    "DecodeCSV",
    inputs=["records: string", "record_defaults: OUT_TYPE"],
    outputs=["output: OUT_TYPE"],
    attrs=[
        "OUT_TYPE: list({float, double, int32, int64, string}) >= 1",
        "field_delim: string = ','",
        "use_quote_delim: bool = true",
        "na_value: string = ''",
        "select_cols: list(int) = []",
    ],
    shape_fn=_csv_shape,
    doc="The fields of CSV records, a tensor for each column.",
)
register_op(
    "DecodeJSONExample",
    inputs=["json_examples: string"],
    outputs=["binary_examples: string"],
    shape_fn=unchanged_shape,
    doc="Example messages in JSON, serialized.",
)
register_op(
    "DecodeCompressed",
    inputs=["bytes: string"],
    outputs=["output: string"],
    attrs=["compression_type: string = ''"],
    shape_fn=unchanged_shape,
    doc="Strings decompressed.",
)


@export("io.parse_tensor", "parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """A tensor from a serialized TensorProto of that dtype."""
    return apply_op("ParseTensor", serialized=serialized, out_type=out_type, name=name)  # type: ignore[no-any-return]


@export("io.serialize_tensor", "serialize_tensor")
def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as a serialized TensorProto, a scalar string."""
    return apply_op("SerializeTensor", tensor=tensor, name=name)  # type: ignore[no-any-return]


@export("io.decode_json_example", "decode_json_example")
def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Example messages in JSON, serialized."""
    return apply_op("DecodeJSONExample", json_examples=json_examples, name=name)  # type: ignore[no-any-return]


@export("io.decode_compressed", "decode_compressed")
def decode_compressed(
    bytes: Any, compression_type: str = "", name: str | None = None
) -> Tensor:
    """Strings decompressed; the type is "", "ZLIB" or "GZIP"."""
    return apply_op(  # type: ignore[no-any-return]
        "DecodeCompressed", bytes=bytes, compression_type=compression_type, name=name
    )


@export("io.decode_csv", "decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Any = None,
) -> list[Tensor]:
    """The columns of CSV records, each with the shape of `records`.

    Args:
      record_defaults: for each column, a list of its default, or an empty tensor when
        it must be given; it also tells the column's dtype.

    Raises:
      ValueError: columns that do not increase, or not one for each default.
    """
    if select_cols is not None:
        pairs = pairwise(select_cols)
        if any(a >= b for a, b in pairs):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols and select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    fields = apply_op(
        "DecodeCSV",
        records=records,
        record_defaults=record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=[] if select_cols is None else select_cols,
        name=name,
    )
    return list(fields)
