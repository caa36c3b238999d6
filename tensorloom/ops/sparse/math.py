"""Arithmetic on sparse tensors: sums, extrema, reductions, softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.dense import sparse_dense_op
from tensorloom.ops.sparse.shape_functions import check_sparse, new_sparse, rank_of

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_NUMBERS: Final = (
    "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16}"
)
_REALS: Final = (
    "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)
_PAIR: Final = (
    *("a_indices: int64", "a_values: T", "a_shape: int64"),
    *("b_indices: int64", "b_values: T", "b_shape: int64"),
)


# --- SparseAdd ---------------------------------------------------------------


def _add_shape(c: InferenceContext) -> list[TensorShape]:
    return new_sparse(rank_of(c, 2))


def _add_grad(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    a_grad, b_grad = apply_op(
        "SparseAddGrad",
        backprop_val_grad=grads[1],
        a_indices=op.inputs[0],
        b_indices=op.inputs[3],
        sum_indices=op.outputs[0],
    )
    a_grad.set_shape(op.inputs[1].shape)
    b_grad.set_shape(op.inputs[4].shape)
    return [None, a_grad, None, None, b_grad, None, None]


def _add_grad_shape(c: InferenceContext) -> list[TensorShape]:
    a, b = c.with_rank(1, 2).dims_tuple, c.with_rank(2, 2).dims_tuple
    assert a is not None
    assert b is not None
    return [TensorShape.of((a[0],)), TensorShape.of((b[0],))]


register_op(
    "SparseAdd",
    inputs=[*_PAIR, "thresh: Treal"],
    outputs=["sum_indices: int64", "sum_values: T", "sum_shape: int64"],
    attrs=[f"T: {_NUMBERS}", f"Treal: {_REALS}"],
    shape_fn=_add_shape,
    gradient=_add_grad,
    doc="a + b; sums that are smaller than the threshold are left out.",
)

register_op(
    "SparseAddGrad",
    inputs=[
        "backprop_val_grad: T",
        "a_indices: int64",
        "b_indices: int64",
        "sum_indices: int64",
    ],
    outputs=["a_val_grad: T", "b_val_grad: T"],
    attrs=[f"T: {_NUMBERS}"],
    shape_fn=_add_grad_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Gradients of the values of both terms of SparseAdd.",
)


def _dense_add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, array_ops.gather_nd(grad, op.inputs[0]), None, grad]


register_op(
    "SparseTensorDenseAdd",
    inputs=["a_indices: Tindices", "a_values: T", "a_shape: Tindices", "b: T"],
    outputs=["output: T"],
    attrs=[f"T: {_NUMBERS}", "Tindices: {int32, int64}"],
    shape_fn=lambda c: c.input_shape(3),
    gradient=_dense_add_grad,
    doc="A dense tensor plus a sparse one of the same shape.",
)


# --- SparseSparseMaximum, SparseSparseMinimum --------------------------------


def _extremum_shape(c: InferenceContext) -> list[TensorShape]:
    check_sparse(c, 0)
    check_sparse(c, 3)
    return [TensorShape.of((None, None)), TensorShape.of((None,))]


def _extremum_grad(op: Operation, *_: Tensor) -> list[Tensor | None]:
    raise NotImplementedError(f"TensorFlow defines no gradient of {op.type}.")


for _op, _types, _word in (
    ("SparseSparseMaximum", _REALS, "larger"),
    ("SparseSparseMinimum", _NUMBERS, "smaller"),
):
    register_op(
        _op,
        inputs=_PAIR,
        outputs=["output_indices: int64", "output_values: T"],
        attrs=[f"T: {_types}"],
        shape_fn=_extremum_shape,
        gradient=_extremum_grad,
        doc=f"The {_word} of two elements, wherever one of the tensors has one.",
    )


# --- reductions --------------------------------------------------------------


def _reduce_shape(c: InferenceContext) -> TensorShape:
    shape, axes = c.input_value(2), c.input_value(3)
    if shape is None or axes is None:
        return TensorShape.of(None)
    dims: list[int] = shape.reshape(-1).tolist()
    rank = len(dims)
    for axis in axes.reshape(-1).tolist():
        if not -rank <= axis < rank:
            c.fail(f"Invalid reduction dimension {axis}, for input with {rank} dim(s)")
    reduced = {axis % rank for axis in axes.reshape(-1).tolist()} if rank else set()
    if c.attrs["keep_dims"]:
        return TensorShape.of(
            tuple(1 if i in reduced else d for i, d in enumerate(dims))
        )
    return TensorShape.of(tuple(d for i, d in enumerate(dims) if i not in reduced))


def _reduce_sum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    indices, shape = op.inputs[0], op.inputs[2]
    kept = math_ops.reduced_shape(shape, op.inputs[3])
    grad = array_ops.reshape(grad, kept)
    scale = shape // math_ops.cast(kept, dtypes.int64)
    return [None, array_ops.gather_nd(grad, indices // scale), None, None]


for _kind, _types, _word in (("Sum", _NUMBERS, "sum"), ("Max", _REALS, "largest")):
    register_op(
        f"SparseReduce{_kind}",
        inputs=[
            "input_indices: int64",
            "input_values: T",
            "input_shape: int64",
            "reduction_axes: int32",
        ],
        outputs=["output: T"],
        attrs=["keep_dims: bool = false", f"T: {_types}"],
        shape_fn=_reduce_shape,
        gradient=_reduce_sum_grad if _kind == "Sum" else None,
        doc=f"The {_word} of the stored elements along axes, as a dense tensor.",
    )
    register_op(
        f"SparseReduce{_kind}Sparse",
        inputs=[
            "input_indices: int64",
            "input_values: T",
            "input_shape: int64",
            "reduction_axes: int32",
        ],
        outputs=["output_indices: int64", "output_values: T", "output_shape: int64"],
        attrs=["keep_dims: bool = false", f"T: {_types}"],
        shape_fn=lambda c: [TensorShape.of(None)] * 3,
        doc=f"The {_word} of the stored elements along axes, as a sparse tensor.",
    )


# --- SparseSoftmax -----------------------------------------------------------


def _softmax_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 2)
    values = c.with_rank(1, 1)
    c.with_rank(2, 1)
    return values


def _softmax_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    from tensorloom.ops.sparse.sparse_builders import sparse_reduce_sum

    indices, shape = op.inputs[0], op.inputs[2]
    output = SparseTensor(indices, op.outputs[0], shape)
    sparse_grad = SparseTensor(indices, grad, shape)
    product = SparseTensor(indices, output.values * sparse_grad.values, shape)
    total = -sparse_reduce_sum(product, [-1], keepdims=True)
    values = sparse_dense_op("SparseDenseCwiseAdd", sparse_grad, total, None)
    difference = SparseTensor(indices, values, shape)
    return [None, difference.values * output.values, None]


register_op(
    "SparseSoftmax",
    inputs=["sp_indices: int64", "sp_values: T", "sp_shape: int64"],
    outputs=["output: T"],
    attrs=["T: {float, double, half}"],
    shape_fn=_softmax_shape,
    gradient=_softmax_grad,
    doc="Softmax over the stored elements of each innermost row.",
)
