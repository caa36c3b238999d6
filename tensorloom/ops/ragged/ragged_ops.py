"""Ops of ragged tensors: signatures, shape functions, gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.sparse.sparse_ops import (
    fill_empty_rows_grad,
    fill_empty_rows_grad_shape,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_SPLITS = "Tsplits: {int32, int64} = DT_INT64"
_VECTOR = TensorShape.of((None,))
_KEYS = "{int32, int64}"
_NUMBERS = "{int32, int64, float, double}"


def _range_shape(c: InferenceContext) -> list[TensorShape]:
    rows: int | None = None
    for index in range(3):
        c.with_rank_at_most(index, 1)
        dims = c.input_shape(index).dims_tuple
        if dims:
            rows = c.merge_dim(rows, dims[0])
    known = [c.input_shape(i).dims_tuple for i in range(3)]
    if rows is None and all(dims == () for dims in known):
        rows = 1
    return [TensorShape.of((None if rows is None else rows + 1,)), _VECTOR]


register_op(
    "RaggedRange",
    inputs=["starts: T", "limits: T", "deltas: T"],
    outputs=["rt_nested_splits: Tsplits", "rt_dense_values: T"],
    attrs=["T: {bfloat16, float, double, int32, int64} = DT_INT32", _SPLITS],
    shape_fn=_range_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="A row of numbers from each start towards each limit.",
)


def _gather_shape(c: InferenceContext) -> list[TensorShape]:
    rank, out_rank = c.attrs["PARAMS_RAGGED_RANK"], c.attrs["OUTPUT_RAGGED_RANK"]
    for i in range(rank):
        c.with_rank(i, 1)
    values = c.with_rank_at_least(rank, 1).dims_tuple
    indices = c.input_shape(rank + 1)
    if indices.rank is not None and out_rank != rank + indices.rank - 1:
        c.fail(
            "OUTPUT_RAGGED_RANK must be equal to PARAMS_RAGGED_RANK + indices.ndims - 1"
        )
    inner = None if values is None else (None, *values[1:])
    return [_VECTOR] * out_rank + [TensorShape.of(inner)]


def _gather_grad(op: Operation, *grads: Tensor) -> list[Any]:
    *splits, values, indices = op.inputs
    combined = splits[0]
    for inner in splits[1:]:
        combined = array_ops.gather(inner, combined)
    flat = array_ops.reshape(indices, [-1])
    places = apply_op(
        "RaggedRange",
        starts=array_ops.gather(combined, flat),
        limits=array_ops.gather(combined[1:], flat),
        deltas=array_ops.ones((), combined.dtype),
    )[1]
    slices = IndexedSlices(
        values=grads[-1], indices=places, dense_shape=array_ops.shape(values)
    )
    return [*[None] * len(splits), slices, None]


register_op(
    "RaggedGather",
    inputs=[
        "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits",
        "params_dense_values: Tvalues",
        "indices: Tindices",
    ],
    outputs=[
        "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits",
        "output_dense_values: Tvalues",
    ],
    attrs=[
        "Tvalues: type",
        "Tindices: {int32, int64}",
        _SPLITS,
        "PARAMS_RAGGED_RANK: int >= 1",
        "OUTPUT_RAGGED_RANK: int >= 0",
    ],
    shape_fn=_gather_shape,
    gradient=_gather_grad,
    doc="Rows of a ragged tensor, by index.",
)


def _to_sparse_shape(c: InferenceContext) -> list[TensorShape]:
    rank = c.attrs["RAGGED_RANK"]
    for i in range(rank):
        c.with_rank(i, 1)
    values = c.with_rank_at_least(rank, 1)
    count = values.num_elements()
    dense = None if values.rank is None else rank + values.rank
    return [
        TensorShape.of((count, dense)),
        TensorShape.of((count,)),
        TensorShape.of((dense,)),
    ]


def _to_sparse_grad(op: Operation, *grads: Tensor) -> list[Any]:
    values = op.inputs[-1]
    grad = array_ops.reshape(grads[1], array_ops.shape(values))
    return [*[None] * (len(op.inputs) - 1), grad]


register_op(
    "RaggedTensorToSparse",
    inputs=["rt_nested_splits: RAGGED_RANK * Tsplits", "rt_dense_values: T"],
    outputs=[
        "sparse_indices: int64",
        "sparse_values: T",
        "sparse_dense_shape: int64",
    ],
    attrs=["RAGGED_RANK: int >= 1", "T: type", _SPLITS],
    shape_fn=_to_sparse_shape,
    gradient=_to_sparse_grad,
    doc="The values of a ragged tensor with their places.",
)


_PARTITIONS = ("FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS")
_OTHER_PARTITIONS = ("ROW_LENGTHS", "ROW_LIMITS", "ROW_STARTS")


def _partition_types(c: InferenceContext) -> list[str]:
    types = [k.decode(errors="replace") for k in c.attrs["row_partition_types"]]
    for kind in types:
        if kind in _OTHER_PARTITIONS:
            c.fail(f"Unsupported partition type: {kind}")
        if kind not in _PARTITIONS:
            c.fail(f"Unknown string for partition info type: {kind}")
    count = c.attrs["num_row_partition_tensors"]
    if count != len(types):
        c.fail(
            f"Number of row partition tensors ({count}) does not equal the number of "
            f"row partition types({len(types)})."
        )
    if types[0] == "VALUE_ROWIDS":
        c.fail("VALUE_ROWIDS cannot be first")
    for i, kind in enumerate(types):
        if kind != "FIRST_DIM_SIZE" and c.input_shape(3 + i).rank not in (1, None):
            c.fail("Row partition must be a vector.")
    return types


def _to_tensor_shape(c: InferenceContext) -> TensorShape:
    types = _partition_types(c)
    values = c.input_shape(1).dims_tuple
    ragged = len(types) - (types[:1] == ["FIRST_DIM_SIZE"])
    if values is None:
        return c.input_value_as_shape(0) if c.input_shape(0).rank == 1 else _unknown()
    rank = ragged + len(values)
    found: list[int | None] = [*[None] * (ragged + 1), *values[1:]]
    if c.input_shape(0).rank == 1:
        wanted = c.input_value_as_shape(0).dims_tuple
        if wanted is not None and len(wanted) == rank:
            found = [b if a is None else a for a, b in zip(wanted, found, strict=True)]
    return TensorShape.of(tuple(found))


def _unknown() -> TensorShape:
    return TensorShape.of(None)


def _to_tensor_grad(op: Operation, grad: Tensor) -> list[Any]:
    _shape, values, default, *partitions = op.inputs
    grads = apply_op(
        "_RaggedTensorToTensorGrad",
        grad=grad,
        values=values,
        default_value=default,
        row_partition_tensors=partitions,
        row_partition_types=op.get_attr("row_partition_types"),
    )
    return [None, *grads, *[None] * len(partitions)]


register_op(
    "RaggedTensorToTensor",
    inputs=[
        "shape: Tshape",
        "values: T",
        "default_value: T",
        "row_partition_tensors: num_row_partition_tensors * Tindex",
    ],
    outputs=["result: T"],
    attrs=[
        "T: type",
        "Tindex: {int64, int32}",
        "Tshape: {int64, int32}",
        "num_row_partition_tensors: int >= 1",
        "row_partition_types: list(string)",
    ],
    shape_fn=_to_tensor_shape,
    gradient=_to_tensor_grad,
    doc="A dense tensor of a ragged one, cut or padded to a shape.",
)


def _like_inputs(c: InferenceContext) -> list[TensorShape]:
    return [c.input_shape(1), c.input_shape(2)]


register_op(
    "_RaggedTensorToTensorGrad",
    inputs=[
        "grad: T",
        "values: T",
        "default_value: T",
        "row_partition_tensors: num_row_partition_tensors * Tindex",
    ],
    outputs=["values_grad: T", "default_grad: T"],
    attrs=[
        "T: type",
        "Tindex: {int64, int32}",
        "num_row_partition_tensors: int >= 1",
        "row_partition_types: list(string)",
    ],
    shape_fn=_like_inputs,
    doc="The gradients of RaggedTensorToTensor's values and default.",
)


# --- variants ----------------------------------------------------------------


def _from_variant_shape(c: InferenceContext) -> list[TensorShape]:
    rank, inner = c.attrs["output_ragged_rank"], c.attrs["input_ragged_rank"]
    if inner >= 0:
        c.with_rank(0, rank - inner)
    return [_VECTOR] * rank + [_unknown()]


def _to_variant_shape(c: InferenceContext) -> TensorShape:
    rank = c.attrs["RAGGED_RANK"]
    for i in range(rank):
        c.with_rank(i, 1)
    if rank:
        c.with_rank_at_least(rank, 1)
    if not c.attrs["batched_input"]:
        return TensorShape.of(())
    dims = c.with_rank(0, 1).dims_tuple
    assert dims is not None
    return TensorShape.of((None if dims[0] is None else dims[0] - 1,))


def _to_variant_grad(op: Operation, grad: Tensor) -> list[Any]:
    *splits, values = op.inputs
    rank = len(splits)
    batched = op.get_attr("batched_input")
    grads = apply_op(
        "RaggedTensorFromVariant",
        encoded_ragged=grad,
        input_ragged_rank=rank - 1 if batched else rank,
        output_ragged_rank=rank,
        Tvalues=values.dtype,
        Tsplits=splits[0].dtype,
    )
    return [*[None] * rank, grads[1]]


def _from_variant_grad(op: Operation, *grads: Tensor) -> list[Any]:
    rank = op.get_attr("output_ragged_rank")
    splits = [op.outputs[i] for i in range(rank)]
    return [
        apply_op(
            "RaggedTensorToVariant",
            rt_nested_splits=splits,
            rt_dense_values=grads[-1],
            batched_input=op.inputs[0].shape.rank not in (0, None),
        )
    ]


register_op(
    "RaggedTensorFromVariant",
    inputs=["encoded_ragged: variant"],
    outputs=[
        "output_nested_splits: output_ragged_rank * Tsplits",
        "output_dense_values: Tvalues",
    ],
    attrs=[
        "input_ragged_rank: int >= -1",
        # TensorFlow 2 made 0 possible: a tensor of a variant, without splits.
        "output_ragged_rank: int >= 0",
        "Tvalues: type",
        _SPLITS,
    ],
    shape_fn=_from_variant_shape,
    gradient=_from_variant_grad,
    doc="A ragged tensor from a variant, or from a batch of them.",
)
register_op(
    "RaggedTensorToVariant",
    inputs=["rt_nested_splits: RAGGED_RANK * Tsplits", "rt_dense_values: Tvalues"],
    outputs=["encoded_ragged: variant"],
    attrs=[
        "RAGGED_RANK: int >= 0",
        "Tvalues: type",
        _SPLITS,
        "batched_input: bool",
    ],
    shape_fn=_to_variant_shape,
    gradient=_to_variant_grad,
    doc="A ragged tensor as a variant, or as one for each row.",
)


def _shape_from_value(c: InferenceContext) -> TensorShape:
    return c.input_value_as_shape(2)


register_op(
    "RaggedTensorToVariantGradient",
    inputs=[
        "encoded_ragged_grad: variant",
        "row_splits: Tsplits",
        "dense_values_shape: int32",
    ],
    outputs=["dense_values_grad: Tvalues"],
    attrs=["Tvalues: type", _SPLITS],
    shape_fn=_shape_from_value,
    doc="The gradient of the values of RaggedTensorToVariant.",
)


# --- rows that are empty, counts ---------------------------------------------


def _fill_shape(c: InferenceContext) -> list[TensorShape]:
    rowids = c.with_rank(0, 1)
    values = c.with_rank(1, 1)
    c.with_rank(2, 0)
    c.with_rank(3, 0)
    count = c.merge(rowids, values)
    rows = c.input_value(2)
    empty = TensorShape.of((None if rows is None else int(rows),))
    return [_VECTOR, _VECTOR, empty, count]


register_op(
    "RaggedFillEmptyRows",
    inputs=["value_rowids: int64", "values: T", "nrows: int64", "default_value: T"],
    outputs=[
        "output_value_rowids: int64",
        "output_values: T",
        "empty_row_indicator: bool",
        "reverse_index_map: int64",
    ],
    attrs=["T: type"],
    shape_fn=_fill_shape,
    gradient=fill_empty_rows_grad("RaggedFillEmptyRowsGrad"),
    doc="The same rows, the default value in each empty one.",
)
register_op(
    "RaggedFillEmptyRowsGrad",
    inputs=["reverse_index_map: int64", "grad_values: T"],
    outputs=["d_values: T", "d_default_value: T"],
    attrs=["T: type"],
    shape_fn=fill_empty_rows_grad_shape,
    doc="Gradients of the values and of the default value of RaggedFillEmptyRows.",
)


def _cross_shape(c: InferenceContext) -> list[TensorShape]:
    ragged = len(c.attrs["ragged_values_types"])
    sparse, rows = c.attrs["Nsparse"], None
    for i in range(ragged, 2 * ragged):
        dims = c.with_rank(i, 1).dims_tuple
        if dims is not None and dims[0] is not None:
            rows = dims[0] - 1
    for i in range(2 * ragged + 3 * sparse, c.num_inputs):
        dims = c.with_rank(i, 2).dims_tuple
        if dims is not None and dims[0] is not None:
            rows = dims[0]
    return [_VECTOR, TensorShape.of((None if rows is None else rows + 1,))]


register_op(
    "RaggedCross",
    inputs=[
        "ragged_values: ragged_values_types",
        "ragged_row_splits: ragged_splits_types",
        "sparse_indices: Nsparse * int64",
        "sparse_values: sparse_values_types",
        "sparse_shape: Nsparse * int64",
        "dense_inputs: dense_types",
    ],
    outputs=[
        "output_values: out_values_type",
        "output_row_splits: out_row_splits_type",
    ],
    attrs=[
        "Nsparse: int >= 0",
        "input_order: string",
        "hashed_output: bool",
        "num_buckets: int >= 0",
        "hash_key: int",
        "ragged_values_types: list({int64, string}) >= 0",
        "ragged_splits_types: list({int32, int64}) >= 0",
        "sparse_values_types: list({int64, string}) >= 0",
        "dense_types: list({int64, string}) >= 0",
        "out_values_type: {int64, string}",
        "out_row_splits_type: {int32, int64}",
    ],
    shape_fn=_cross_shape,
    doc="Crosses of features, row by row.",
)


def _bincount_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(2, 0)
    size = c.input_value(2)
    if size is not None and size < 0:
        c.fail("size must be non-negative")
    c.with_rank(0, 1)
    return TensorShape.of(None)  # TensorFlow does not look at the size either


register_op(
    "RaggedBincount",
    inputs=["splits: int64", "values: Tidx", "size: Tidx", "weights: T"],
    outputs=["output: T"],
    attrs=[f"Tidx: {_KEYS}", f"T: {_NUMBERS}", "binary_output: bool = false"],
    shape_fn=_bincount_shape,
    doc="How often each number occurs in each row.",
)
