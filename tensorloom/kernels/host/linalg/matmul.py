"""Host kernels of the matrix products, for small matrices and unsigned integers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.linalg.blas_threads import on_one_thread
from tensorloom.kernels.host.math.errors import shape_text

# Multiplications up to which OpenBLAS wakes no threads for a product.
ONE_THREAD_PRODUCT: Final = 1 << 18
# Of the dtypes that it computes; products of others are loops of NumPy's own.
BLAS_TYPES: Final = (dtypes.float32, dtypes.float64)
_WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}
_SHORT_FLOATS = (dtypes.float16, dtypes.bfloat16)


def product(dtype: dtypes.DType) -> Compute:
    """The matrix product in a dtype; short floats add up in float32."""
    if dtype in _SHORT_FLOATS:
        to = dtype.np_dtype
        return lambda a, b: np.matmul(
            a.astype(np.float32), b.astype(np.float32)
        ).astype(to)
    return np.matmul


def product_of(c: OpKernelConstruction) -> Compute:
    """The product that suits the node's dtype and, if they are known, its shapes."""
    a, b = c.input_shapes[:2]
    if c["T"] in _SHORT_FLOATS or not (a.is_fully_defined() and b.is_fully_defined()):
        return product(c["T"])
    left: Any = a.dims_tuple
    right: Any = b.dims_tuple
    inner, columns = right[::-1] if c["transpose_b"] else right
    is_blas = c["T"] in BLAS_TYPES
    if inner == 1 and not is_blas:
        return np.multiply  # of a column and a row, without a sum
    if is_blas and math.prod(left) * columns > ONE_THREAD_PRODUCT:
        # Unlike the other one it does not first write zeros.
        return makes_array(on_one_thread(np.matmul))
    # The same for matrices, in half of the time; `np.dot` first asks its arguments
    # whether they want to take over.
    return np.ndarray.dot


@host_kernel("MatMul")
def _mat_mul(c: OpKernelConstruction) -> Compute:
    transpose_a, transpose_b = c["transpose_a"], c["transpose_b"]
    multiply = product_of(c)
    known = all(s.is_fully_defined() for s in c.input_shapes)

    @makes_array
    def compute(a: Any, b: Any) -> Any:
        if not known:
            check_matrices(a.shape, b.shape, transpose_a, transpose_b)
        return multiply(a.T if transpose_a else a, b.T if transpose_b else b)

    return multiply if known and not (transpose_a or transpose_b) else compute


host_kernel("MatMul", types=_WIDE_UNSIGNED, large=True)(_mat_mul)


def check_matrices(
    a: tuple[int, ...], b: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> None:
    """Raises MatMul's InvalidArgumentError unless the shapes fit."""
    for i, shape in enumerate((a, b)):
        if len(shape) != 2:
            raise invalid_argument(
                f"In[{i}] is not a matrix. Instead it has shape {shape_text(shape)}"
            )
    if a[0 if transpose_a else 1] != b[1 if transpose_b else 0]:
        raise invalid_argument(
            f"Matrix size-incompatible: In[0]: {shape_text(a)}, In[1]: {shape_text(b)}"
        )


def _batch_mat_mul(c: OpKernelConstruction) -> Compute:
    adj_x, adj_y = c["adj_x"], c["adj_y"]
    multiply, equal = product(c["T"]), c.op == "BatchMatMul"

    def compute(x: Any, y: Any) -> Any:
        check_batches(x.shape, y.shape, adj_x, adj_y, equal)
        return multiply(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y)

    return compute


for _op in ("BatchMatMul", "BatchMatMulV2"):
    host_kernel(_op)(_batch_mat_mul)
    host_kernel(_op, types=_WIDE_UNSIGNED, large=True)(_batch_mat_mul)


def _adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def check_batches(
    x: tuple[int, ...],
    y: tuple[int, ...],
    adj_x: bool,
    adj_y: bool,
    equal: bool = False,
) -> None:
    """Raises BatchMatMul's InvalidArgumentError unless the shapes fit.

    equal: the batches must be, as of the first version of the op.
    """
    if equal and len(x) != len(y):
        raise invalid_argument(
            f"In[0] and In[1] has different ndims: {shape_text(x)} vs. {shape_text(y)}"
        )
    if equal and x[:-2] != y[:-2]:
        raise invalid_argument(
            "In[0] and In[1] must have the same batch dimensions: "
            f"{shape_text(x)} vs. {shape_text(y)}"
        )
    for i, shape in enumerate((x, y)):
        if len(shape) < 2:
            raise invalid_argument(f"In[{i}] ndims must be >= 2: {len(shape)}")
    try:
        np.broadcast_shapes(x[:-2], y[:-2])
    except ValueError:
        raise invalid_argument(
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{shape_text(x)} vs. {shape_text(y)}"
        ) from None
    inner_x, inner_y = x[-2 if adj_x else -1], y[-1 if adj_y else -2]
    if inner_x != inner_y:
        raise invalid_argument(
            f"In[0] mismatch In[1] shape: {inner_x} vs. {inner_y}: "
            f"{shape_text(x)} {shape_text(y)} {int(adj_x)} {int(adj_y)}"
        )
