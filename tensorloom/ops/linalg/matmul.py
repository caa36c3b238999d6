"""Matrix products: MatMul, BatchMatMul, SparseMatMul, and `tf.matmul`."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_shapes,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.complex import conj

_FLOATS: Final = "bfloat16, half, float, double"


# --- MatMul ------------------------------------------------------------------


def _mat_mul_shape(c: InferenceContext) -> TensorShape:
    a = c.with_rank(0, 2).dims_tuple
    b = c.with_rank(1, 2).dims_tuple
    assert a is not None
    assert b is not None
    if c.attrs["transpose_a"]:
        a = a[::-1]
    if c.attrs["transpose_b"]:
        b = b[::-1]
    c.merge_dim(a[1], b[0])
    return TensorShape.of((a[0], b[1]))


def mat_mul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    """The op MatMul itself."""
    return apply_op(  # type: ignore[no-any-return]
        "MatMul", a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b
    )


register_op(
    "MatMul",
    inputs=["a: T", "b: T"],
    outputs=["product: T"],
    attrs=[
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        f"T: {{{_FLOATS}, int32, int64, complex64, complex128, uint8, uint16, uint32, "
        "uint64}",
    ],
    shape_fn=_mat_mul_shape,
    doc="The product of two matrices, each transposed first if asked.",
)


# --- BatchMatMul -------------------------------------------------------------


def _matrix_dims(
    c: InferenceContext, x: TensorShape, adjoint: bool
) -> tuple[int | None, int | None]:
    dims = x.dims_tuple
    if dims is None:
        return None, None
    return (dims[-1], dims[-2]) if adjoint else (dims[-2], dims[-1])


def batch_mat_mul_v2_shape(c: InferenceContext) -> TensorShape:
    """[..., rows, columns]: the batch dimensions are broadcast."""
    x, y = c.with_rank_at_least(0, 2), c.with_rank_at_least(1, 2)
    rows, inner_x = _matrix_dims(c, x, c.attrs["adj_x"])
    inner_y, columns = _matrix_dims(c, y, c.attrs["adj_y"])
    batch = broadcast_shapes(c, _batch(x), _batch(y)).dims_tuple
    c.merge_dim(inner_x, inner_y)
    return TensorShape.of(None if batch is None else (*batch, rows, columns))


def _batch_mat_mul_shape(c: InferenceContext) -> TensorShape:
    x, y = c.with_rank_at_least(0, 2), c.with_rank_at_least(1, 2)
    rows, inner_x = _matrix_dims(c, x, c.attrs["adj_x"])
    inner_y, columns = _matrix_dims(c, y, c.attrs["adj_y"])
    batch = c.merge(_batch(x), _batch(y)).dims_tuple
    c.merge_dim(inner_x, inner_y)
    return TensorShape.of(None if batch is None else (*batch, rows, columns))


def _batch(shape: TensorShape) -> TensorShape:
    dims = shape.dims_tuple
    return TensorShape.of(None if dims is None else dims[:-2])


register_op(
    "BatchMatMul",
    inputs=["x: T", "y: T"],
    outputs=["output: T"],
    attrs=[
        f"T: {{{_FLOATS}, int32, int64, complex64, complex128}}",
        "adj_x: bool = false",
        "adj_y: bool = false",
    ],
    shape_fn=_batch_mat_mul_shape,
    doc="Products of matrices in equal batches, each conjugate-transposed if asked.",
)

register_op(
    "BatchMatMulV2",
    inputs=["x: T", "y: T"],
    outputs=["output: T"],
    attrs=[
        f"T: {{{_FLOATS}, int32, int64, complex64, complex128, int16, uint8, uint16, "
        "uint32, uint64}",
        "adj_x: bool = false",
        "adj_y: bool = false",
    ],
    shape_fn=batch_mat_mul_v2_shape,
    doc="Products of matrices in batches that broadcast.",
)


# --- SparseMatMul ------------------------------------------------------------


register_op(
    "SparseMatMul",
    inputs=["a: Ta", "b: Tb"],
    outputs=["product: float"],
    attrs=[
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        "a_is_sparse: bool = false",
        "b_is_sparse: bool = false",
        "Ta: {float, bfloat16} = DT_FLOAT",
        "Tb: {float, bfloat16} = DT_FLOAT",
    ],
    shape_fn=_mat_mul_shape,
    doc="The product of two matrices of which one may hold many zeros.",
)


@export("sparse_matmul")
def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices (dense tensors) of which one may hold many zeros."""
    return apply_op(  # type: ignore[no-any-return]
        "SparseMatMul",
        name,
        a=a,
        b=b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
    )


# --- tf.matmul ---------------------------------------------------------------


@export("linalg.matmul", "matmul")
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of a [..., n, k] and b [..., k, m]; batches broadcast.

    Args:
      transpose_a, transpose_b: transpose that factor first.
      adjoint_a, adjoint_b: transpose and conjugate it.
      a_is_sparse, b_is_sparse: hints that a matrix holds many zeros.

    Raises:
      ValueError: the shapes do not fit, or a factor is to be both transposed and
        conjugated.
    """
    with name_scope(name, "MatMul", [a, b]) as scope:
        if transpose_a and adjoint_a:
            raise ValueError("Only one of transpose_a and adjoint_a can be True.")
        if transpose_b and adjoint_b:
            raise ValueError("Only one of transpose_b and adjoint_b can be True.")
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        if not (a_is_sparse or b_is_sparse) and (_may_be_batch(a) or _may_be_batch(b)):
            return apply_op(  # type: ignore[no-any-return]
                "BatchMatMulV2",
                scope,
                x=conj(a) if transpose_a else a,
                y=conj(b) if transpose_b else b,
                adj_x=adjoint_a or transpose_a,
                adj_y=adjoint_b or transpose_b,
            )
        if adjoint_a:
            a, transpose_a = conj(a), True
        if adjoint_b:
            b, transpose_b = conj(b), True
        if not _sparse_kernel(a, b, a_is_sparse or b_is_sparse):
            return apply_op(  # type: ignore[no-any-return]
                "MatMul",
                scope,
                a=a,
                b=b,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
            )
        product = sparse_matmul(
            a, b, transpose_a, transpose_b, a_is_sparse, b_is_sparse, name=scope
        )
        if a.dtype == dtypes.bfloat16 and b.dtype == dtypes.bfloat16:
            product = cast(product, dtypes.bfloat16)
        return product


def _may_be_batch(x: Tensor) -> bool:
    rank = x.shape.rank
    return rank is None or rank > 2


def _sparse_kernel(a: Tensor, b: Tensor, hinted: bool) -> bool:
    types = (a.dtype, b.dtype)
    if dtypes.bfloat16 in types and a.dtype != b.dtype:
        return True  # only this op takes two dtypes
    return hinted and all(t in (dtypes.bfloat16, dtypes.float32) for t in types)


@export("linalg.matvec")
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix [..., n, k] and a vector [..., k]."""
    with name_scope(name, "MatVec", [a, b]):
        output = matmul(
            a,
            reshape_ops.expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return reshape_ops.squeeze(output, axis=-1)
