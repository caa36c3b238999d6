"""Sparse tensors: order, shape, parts, and the way to dense tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_functions import (
    MATRIX,
    VECTOR,
    check_sparse,
    new_sparse,
    rank_of,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.sparse_tensor import SparseTensor


def apply_sparse(op: str, sparse: SparseTensor, name: Any = None, **args: Any) -> Any:
    """An op whose first inputs are the parts of a sparse tensor, by position."""
    from tensorloom.framework.registry import op_registry

    op_def = op_registry.find(op)
    assert op_def is not None
    parts = (sparse.indices, sparse.values, sparse.dense_shape)
    named = {arg.name: part for arg, part in zip(op_def.inputs, parts, strict=False)}
    return apply_op(op, name=name, **named, **args)


# --- SparseToDense -----------------------------------------------------------


def _to_dense_shape(c: InferenceContext) -> TensorShape:
    return c.input_value_as_shape(1)  # the kernel checks the rest, as in TensorFlow


def _to_dense_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    indices, shape = op.inputs[0], op.inputs[1]
    values_grad = array_ops.gather_nd(grad, indices)
    default_grad = math_ops.reduce_sum(grad) - math_ops.reduce_sum(values_grad)
    return [
        array_ops.zeros_like(indices),
        array_ops.zeros_like(shape),
        values_grad,
        default_grad,
    ]


register_op(
    "SparseToDense",
    inputs=[
        "sparse_indices: Tindices",
        "output_shape: Tindices",
        "sparse_values: T",
        "default_value: T",
    ],
    outputs=["dense: T"],
    attrs=["validate_indices: bool = true", "T: type", "Tindices: {int32, int64}"],
    shape_fn=_to_dense_shape,
    gradient=_to_dense_grad,
    doc="A dense tensor with the values at their places, the default elsewhere.",
)


# --- SparseTensorDenseMatMul -------------------------------------------------


def _mat_mul_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    a = c.with_rank(c.input_value_as_shape(2), 2).dims_tuple
    b = c.with_rank(3, 2).dims_tuple
    assert a is not None
    assert b is not None
    if c.attrs["adjoint_a"]:
        a = a[::-1]
    if c.attrs["adjoint_b"]:
        b = b[::-1]
    c.merge_dim(a[1], b[0])
    return TensorShape.of((a[0], b[1]))


def _mat_mul_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    indices, values, shape, b = op.inputs
    adjoint_a, adjoint_b = op.get_attr("adjoint_a"), op.get_attr("adjoint_b")
    if values.dtype.is_complex:
        raise NotImplementedError(
            "SparseTensorDenseMatMul op does not support complex gradients."
        )
    b_grad = apply_op(
        "SparseTensorDenseMatMul",
        a_indices=indices,
        a_values=values,
        a_shape=shape,
        b=grad,
        adjoint_a=not adjoint_a,
    )
    if adjoint_b:
        b_grad = array_ops.transpose(b_grad)
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    from_grad = array_ops.gather(grad, rows)
    from_b = array_ops.gather(array_ops.transpose(b) if adjoint_b else b, columns)
    values_grad = math_ops.reduce_sum(from_grad * from_b, axis=1)
    return [None, values_grad, None, b_grad]


register_op(
    "SparseTensorDenseMatMul",
    inputs=["a_indices: Tindices", "a_values: T", "a_shape: int64", "b: T"],
    outputs=["product: T"],
    attrs=[
        "T: type",
        "Tindices: {int32, int64} = DT_INT64",
        "adjoint_a: bool = false",
        "adjoint_b: bool = false",
    ],
    shape_fn=_mat_mul_shape,
    gradient=_mat_mul_grad,
    doc="The product of a sparse and a dense matrix.",
)


# --- SparseReorder, SparseReshape --------------------------------------------


def _reorder_shape(c: InferenceContext) -> list[TensorShape]:
    check_sparse(c, 0)
    return [c.with_rank(0, 2), c.with_rank(1, 1)]


register_op(
    "SparseReorder",
    inputs=["input_indices: int64", "input_values: T", "input_shape: int64"],
    outputs=["output_indices: int64", "output_values: T"],
    attrs=["T: type"],
    shape_fn=_reorder_shape,
    doc="The same elements in row-major order of their indices.",
)


def _reshape_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 2).dims_tuple
    c.with_rank(1, 1)
    new_shape = c.with_rank(2, 1)
    assert dims is not None
    return [TensorShape.of((dims[0], rank_of(c, 2))), new_shape]


register_op(
    "SparseReshape",
    inputs=["input_indices: int64", "input_shape: int64", "new_shape: int64"],
    outputs=["output_indices: int64", "output_shape: int64"],
    shape_fn=_reshape_shape,
    doc="The indices of the same elements in another shape; -1 is inferred.",
)


# --- SparseFillEmptyRows -----------------------------------------------------


def _fill_shape(c: InferenceContext) -> list[TensorShape]:
    indices = c.with_rank(0, 2).dims_tuple
    values = c.with_rank(1, 1).dims_tuple
    c.with_rank(3, 0)
    assert indices is not None
    assert values is not None
    count = c.merge_dim(indices[0], values[0])
    rank = rank_of(c, 2)
    c.merge_dim(indices[1], rank)
    rows = c.input_value_as_shape(2).dims_tuple
    empty = VECTOR if not rows else TensorShape.of((rows[0],))
    return [TensorShape.of((None, rank)), VECTOR, empty, TensorShape.of((count,))]


def fill_empty_rows_grad(grad_op: str) -> Callable[..., list[Tensor | None]]:
    """The gradient of an op that fills empty rows, sparse or ragged."""

    def gradient(op: Operation, *grads: Tensor) -> list[Tensor | None]:
        values_grad, default_grad = apply_op(
            grad_op, reverse_index_map=op.outputs[3], grad_values=grads[1]
        )
        return [None, values_grad, None, default_grad]

    return gradient


def fill_empty_rows_grad_shape(c: InferenceContext) -> list[TensorShape]:
    """The shapes of the gradients of the values and of the default value."""
    c.with_rank(1, 1)
    return [c.with_rank(0, 1), TensorShape.of(())]


register_op(
    "SparseFillEmptyRows",
    inputs=["indices: int64", "values: T", "dense_shape: int64", "default_value: T"],
    outputs=[
        "output_indices: int64",
        "output_values: T",
        "empty_row_indicator: bool",
        "reverse_index_map: int64",
    ],
    attrs=["T: type"],
    shape_fn=_fill_shape,
    gradient=fill_empty_rows_grad("SparseFillEmptyRowsGrad"),
    doc="The same elements, and the default value at column 0 of each empty row.",
)

register_op(
    "SparseFillEmptyRowsGrad",
    inputs=["reverse_index_map: int64", "grad_values: T"],
    outputs=["d_values: T", "d_default_value: T"],
    attrs=["T: type"],
    shape_fn=fill_empty_rows_grad_shape,
    doc="Gradients of the values and of the default value of SparseFillEmptyRows.",
)


# --- SparseConcat, SparseSplit, SparseSlice ----------------------------------


def _concat_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["N"]
    rank: int | None = None
    rows: int | None = 0
    for i in range(count):
        dims = c.with_rank(i, 2).dims_tuple
        values = c.with_rank(count + i, 1).dims_tuple
        assert dims is not None
        assert values is not None
        rank = c.merge_dim(rank, dims[1])
        rank = c.merge_dim(rank, rank_of(c, 2 * count + i))
        stored = c.merge_dim(dims[0], values[0])
        rows = None if rows is None or stored is None else rows + stored
    return [
        TensorShape.of((rows, rank)),
        TensorShape.of((rows,)),
        TensorShape.of((rank,)),
    ]


register_op(
    "SparseConcat",
    inputs=["indices: N * int64", "values: N * T", "shapes: N * int64"],
    outputs=["output_indices: int64", "output_values: T", "output_shape: int64"],
    attrs=["concat_dim: int", "N: int >= 2", "T: type"],
    shape_fn=_concat_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Sparse tensors joined along one dimension.",
)


def _split_shape(c: InferenceContext) -> list[TensorShape]:
    count = c.attrs["num_split"]
    indices, values, shape = MATRIX, VECTOR, c.input_shape(3)
    if shape.rank == 1:
        indices = TensorShape.of((None, rank_of(c, 3)))
    return [indices] * count + [values] * count + [shape] * count


register_op(
    "SparseSplit",
    inputs=["split_dim: int64", "indices: int64", "values: T", "shape: int64"],
    outputs=[
        "output_indices: num_split * int64",
        "output_values: num_split * T",
        "output_shape: num_split * int64",
    ],
    attrs=["num_split: int >= 1", "T: type"],
    shape_fn=_split_shape,
    doc="The tensor cut along a dimension; the first parts may be one longer.",
)


def _slice_shape(c: InferenceContext) -> list[TensorShape]:
    # TensorFlow checks ranks when the op runs.
    shape = c.input_shape(2)
    return [*new_sparse(shape.num_elements())[:2], shape]


def _slice_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    values_grad = apply_op(
        "SparseSliceGrad",
        backprop_val_grad=grads[1],
        input_indices=op.inputs[0],
        input_start=op.inputs[3],
        output_indices=op.outputs[0],
    )
    values_grad.set_shape(op.inputs[1].shape)
    return [None, values_grad, None, None, None]


def _slice_grad_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 1)
    dims = c.with_rank(1, 2).dims_tuple
    assert dims is not None
    return TensorShape.of((dims[0],))


register_op(
    "SparseSlice",
    inputs=[
        "indices: int64",
        "values: T",
        "shape: int64",
        "start: int64",
        "size: int64",
    ],
    outputs=["output_indices: int64", "output_values: T", "output_shape: int64"],
    attrs=["T: type"],
    shape_fn=_slice_shape,
    gradient=_slice_grad,
    doc="The elements in a box, with indices that count from its corner.",
)

register_op(
    "SparseSliceGrad",
    inputs=[
        "backprop_val_grad: T",
        "input_indices: int64",
        "input_start: int64",
        "output_indices: int64",
    ],
    outputs=["val_grad: T"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, "
        "quint8, qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, "
        "quint16}"
    ],
    shape_fn=_slice_grad_shape,
    doc="The gradient of the values of SparseSlice, zero outside the box.",
)
