"""Sparse matrices as variants, in compressed rows: ops of TensorFlow 2.

A matrix [rows, columns] or a batch [batch, rows, columns] of them. Programs of 1.15
have none; these are for the graphs of newer ones. The gradients are made by the client
that made the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.shape_inference import HandleData
from tensorloom.framework.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext

_FLOATS: Final = "{float, double, complex64, complex128}"

# --- shape functions ---------------------------------------------------------


def _matrix(c: InferenceContext, index: int) -> TensorShape:
    """The shape of the matrix that a variant holds, as far as it is known."""
    c.with_rank(index, 0)
    data = c.handle_data(index)
    return UNKNOWN if data is None else data.shape


def _holds(c: InferenceContext, shape: TensorShape, attr: str) -> TensorShape:
    c.set_output_handle_data(0, HandleData(c.attrs[attr], shape))
    return TensorShape.of(())


def _of_sparse_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(0, 2)
    c.with_rank(1, 1)
    c.with_rank(2, 1)
    return _holds(c, c.input_value_as_shape(2), "T")


def _of_dense_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(1, 2)
    return _holds(c, c.with_rank_at_least(0, 2), "T")


def _dense_shape(c: InferenceContext) -> TensorShape:
    return _matrix(c, 0)


def _sparse_shape(c: InferenceContext) -> list[TensorShape]:
    rank = _matrix(c, 0).rank
    return [
        TensorShape.of((None, rank)),
        TensorShape.of((None,)),
        TensorShape.of((rank,)),
    ]


def _components_shape(c: InferenceContext) -> list[TensorShape]:
    dims = _matrix(c, 0).dims_tuple
    c.with_rank(1, 0)
    rows = None if dims is None or dims[-2] is None else dims[-2] + 1
    return [TensorShape.of((rows,)), TensorShape.of((None,)), TensorShape.of((None,))]


def _count_shape(c: InferenceContext) -> TensorShape:
    dims = _matrix(c, 0).dims_tuple
    return UNKNOWN if dims is None else TensorShape.of(dims[:-2])


def _transpose_shape(c: InferenceContext) -> TensorShape:
    dims = _matrix(c, 0).dims_tuple
    if dims is None:
        return _holds(c, UNKNOWN, "type")
    return _holds(c, TensorShape.of((*dims[:-2], dims[-1], dims[-2])), "type")


def _product(c: InferenceContext, a: TensorShape, b: TensorShape) -> TensorShape:
    """The shape of a product, after the transpositions of its factors."""
    first, second = a.dims_tuple, b.dims_tuple
    if first is None or second is None:
        return UNKNOWN
    rows, inner = first[-2:]
    if c.attrs["transpose_a"] or c.attrs["adjoint_a"]:
        rows, inner = inner, rows
    inner_b, columns = second[-2:]
    if c.attrs["transpose_b"] or c.attrs["adjoint_b"]:
        inner_b, columns = columns, inner_b
    c.merge_dim(inner, inner_b)
    batch = c.merge(TensorShape.of(first[:-2]), TensorShape.of(second[:-2]))
    assert batch.dims_tuple is not None
    return TensorShape.of((*batch.dims_tuple, rows, columns))


def _dense_product_shape(c: InferenceContext) -> TensorShape:
    shape = _product(c, _matrix(c, 0), c.with_rank_at_least(1, 2))
    dims = shape.dims_tuple
    if dims is None or not c.attrs["transpose_output"]:
        return shape
    return TensorShape.of((*dims[:-2], dims[-1], dims[-2]))


def _sparse_product_shape(c: InferenceContext) -> TensorShape:
    return _holds(c, _product(c, _matrix(c, 0), _matrix(c, 1)), "type")


# --- ops ---------------------------------------------------------------------

_TRANSPOSED = [
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    "adjoint_a: bool = false",
    "adjoint_b: bool = false",
]

register_op(
    "SparseTensorToCSRSparseMatrix",
    inputs=["indices: int64", "values: T", "dense_shape: int64"],
    outputs=["sparse_matrix: variant"],
    attrs=[f"T: {_FLOATS}"],
    shape_fn=_of_sparse_shape,
    doc="The elements of a sparse tensor, in the order of its dimensions.",
)
register_op(
    "DenseToCSRSparseMatrix",
    inputs=["dense_input: T", "indices: int64"],
    outputs=["sparse_output: variant"],
    attrs=[f"T: {_FLOATS}"],
    shape_fn=_of_dense_shape,
    doc="The elements of a tensor at some indices.",
)
register_op(
    "CSRSparseMatrixToDense",
    inputs=["sparse_input: variant"],
    outputs=["dense_output: type"],
    attrs=[f"type: {_FLOATS}"],
    shape_fn=_dense_shape,
    doc="All elements, zeros where the matrix has none.",
)
register_op(
    "CSRSparseMatrixToSparseTensor",
    inputs=["sparse_matrix: variant"],
    outputs=["indices: int64", "values: type", "dense_shape: int64"],
    attrs=[f"type: {_FLOATS}"],
    shape_fn=_sparse_shape,
    doc="The elements as the parts of a sparse tensor.",
)
register_op(
    "CSRSparseMatrixComponents",
    inputs=["csr_sparse_matrix: variant", "index: int32"],
    outputs=["row_ptrs: int32", "col_inds: int32", "values: type"],
    attrs=[f"type: {_FLOATS}"],
    shape_fn=_components_shape,
    doc="Where the rows of one matrix begin, its columns and values.",
)
register_op(
    "SparseMatrixNNZ",
    inputs=["sparse_matrix: variant"],
    outputs=["nnz: int32"],
    shape_fn=_count_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="How many elements each matrix has.",
)
register_op(
    "SparseMatrixTranspose",
    inputs=["input: variant"],
    outputs=["output: variant"],
    attrs=["conjugate: bool = false", f"type: {_FLOATS}"],
    shape_fn=_transpose_shape,
    doc="The transposed matrix.",
)
register_op(
    "SparseMatrixMatMul",
    inputs=["a: variant", "b: T"],
    outputs=["output: T"],
    attrs=[
        "T: type",
        *_TRANSPOSED,
        "transpose_output: bool = false",
        "conjugate_output: bool = false",
    ],
    shape_fn=_dense_product_shape,
    doc="The product with dense matrices, dense.",
)
register_op(
    "SparseMatrixSparseMatMul",
    inputs=["a: variant", "b: variant"],
    outputs=["c: variant"],
    attrs=[f"type: {_FLOATS}", *_TRANSPOSED],
    shape_fn=_sparse_product_shape,
    doc="The product of two sparse matrices, sparse.",
)
