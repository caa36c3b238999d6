"""Sparse matrices as variants, in compressed rows: ops of TensorFlow 2.

A matrix [rows, columns] or a batch [batch, rows, columns] of them. Programs of 1.15
have none; these are for the graphs of newer ones. The gradients are made by the client
that made the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import HandleData, broadcast_shapes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.sparse.shape_functions import check_sparse

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_FLOATS: Final = "{float, double, complex64, complex128}"
_EXPECTED: Final = "Expected a known rank of either 2 or 3."
Dims = tuple[int | None, ...]

# --- shape functions ---------------------------------------------------------


def _matrix(c: InferenceContext, index: int) -> TensorShape:
    """The shape of the matrix that a variant holds, as far as it is known."""
    c.with_rank(index, 0)
    data = c.handle_data(index)
    return UNKNOWN if data is None else data.shape


def _told(size: int | None) -> int:
    """As TensorFlow writes a rank or size that is not known."""
    return -1 if size is None else size


def _holds(c: InferenceContext, shape: TensorShape, attr: str) -> TensorShape:
    c.set_output_handle_data(0, HandleData(c.attrs[attr], shape))
    return TensorShape.of(())


def _of_sparse_shape(c: InferenceContext) -> TensorShape:
    check_sparse(c, 0)
    indices, values = c.input_shape(0).dims_tuple, c.input_shape(1).dims_tuple
    counts = (indices and indices[0], values and values[0])
    if None not in counts and counts[0] != counts[1]:
        c.fail(
            f"Number of elements in index ({counts[0]}) and values ({counts[1]}) "
            "do not match."
        )
    shape = c.input_value_as_shape(2)
    rank = None if indices is None else indices[1]
    if rank is not None:
        shape = c.with_rank(shape, rank)
    elif shape.rank is not None:
        c.fail(f"Shape must be rank -1 but is rank {shape.rank}")
    if shape.rank not in (2, 3):
        c.fail(f"Invalid rank: {_told(shape.rank)}.  {_EXPECTED}")
    return _holds(c, shape, "T")


def _of_dense_shape(c: InferenceContext) -> TensorShape:
    dense, indices = c.input_shape(0), c.input_shape(1).dims_tuple
    if dense.rank not in (2, 3):
        c.fail(f"Invalid rank of dense: {_told(dense.rank)}.  {_EXPECTED}")
    if indices is None or len(indices) != 2:
        rank = None if indices is None else len(indices)
        c.fail(f"indices must be a matrix; but its rank is not 2: {_told(rank)}")
    if indices[1] != dense.rank:
        c.fail(
            "indices.shape[1] must match rank of dense; saw: "
            f"{_told(indices[1])} vs. {dense.rank}"
        )
    return _holds(c, dense, "T")


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
    if c.input_shape(1).rank not in (None, 0):
        c.fail("index must be a scalar.")
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


def _factor(c: InferenceContext, shape: TensorShape, side: str) -> TensorShape:
    """A factor of a product after its transposition."""
    adjoint, transpose = c.attrs[f"adjoint_{side}"], c.attrs[f"transpose_{side}"]
    if adjoint and transpose:
        c.fail(f"Only one of adjoint_{side} and transpose_{side} may be true.")
    dims = c.with_rank_at_most(c.with_rank_at_least(shape, 2), 3).dims_tuple
    if dims is None or not (adjoint or transpose):
        return shape
    return TensorShape.of((*dims[:-2], dims[-1], dims[-2]))


def _dense_product_shape(c: InferenceContext) -> TensorShape:
    first = _factor(c, _matrix(c, 0), "a").dims_tuple
    second = _factor(c, c.input_shape(1), "b").dims_tuple
    if first is None:
        return UNKNOWN
    batch: Dims | None = first[:-2]
    columns: Dims = (None,)
    if second is not None:
        batch = c.merge(TensorShape.of(batch), TensorShape.of(second[:-2])).dims_tuple
        c.merge_dim(first[-1], second[-2])
        columns = second[-1:]
    assert batch is not None
    rows = first[-2:-1]
    if c.attrs["transpose_output"]:
        rows, columns = columns, rows
    return TensorShape.of((*batch, *rows, *columns))


def _sparse_product_shape(c: InferenceContext) -> TensorShape:
    first = _factor(c, _matrix(c, 0), "a").dims_tuple
    second = _factor(c, _matrix(c, 1), "b").dims_tuple
    if first is None or second is None:
        return _holds(c, UNKNOWN, "type")
    c.merge_dim(first[-1], second[-2])
    batch = broadcast_shapes(
        c, TensorShape.of(first[:-2]), TensorShape.of(second[:-2])
    ).dims_tuple
    assert batch is not None
    return _holds(c, TensorShape.of((*batch, first[-2], second[-1])), "type")


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
