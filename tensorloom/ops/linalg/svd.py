"""The singular value decomposition and what is computed with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import axis_size
from tensorloom.ops.debugging import check_rank as check_rank_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg.matrix_solve import MATRIX_TYPES, adjoint
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


@export("linalg.svd", "svd")
def svd(
    tensor: Any,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """(s, u, v) with tensor = u @ diag(s) @ adjoint(v), or s alone.

    Args:
      tensor: [..., m, n].
      full_matrices: u is [..., m, m] and v [..., n, n], rather than min(m, n) columns.
      compute_uv: give the vectors too, not the values alone.
    """
    s, u, v = apply_op(
        "Svd",
        input=tensor,
        compute_uv=compute_uv,
        full_matrices=full_matrices,
        name=name,
    )
    if not compute_uv:
        return math_ops.real(s)
    return math_ops.real(s), u, v


@export("linalg.matrix_rank")
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values of each matrix are above `tol`, int32 [...].

    Raises:
      TypeError: the matrices are not of a floating-point type.
      ValueError: the rank of the tensor is known and below 2.
    """
    with name_scope(name or "matrix_rank"):
        a = convert_to_tensor(a, dtype_hint=dtypes.float32, name="a")
        a = _checked(a, validate_args)
        values = svd(a, compute_uv=False)
        if tol is None:
            sides = a.shape[-2:]
            size: Any
            if sides.is_fully_defined():
                size = np.max(sides.as_list())
            else:
                size = math_ops.reduce_max(array_ops.shape(a)[-2:])
            epsilon = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = epsilon * math_ops.cast(size, a.dtype)
            tol = tol * math_ops.reduce_max(values, axis=-1, keepdims=True)
        return math_ops.reduce_sum(math_ops.cast(values > tol, dtypes.int32), axis=-1)


@export("linalg.pinv")
def pinv(
    a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The Moore-Penrose inverses [..., n, m] of matrices [..., m, n].

    Args:
      rcond: singular values below this fraction of the largest count as zero;
        10 * max(m, n) * epsilon by default.

    Raises:
      TypeError: the matrices are not of a floating-point type.
      ValueError: the rank of the tensor is known and below 2.
    """
    with name_scope(name or "pinv"):
        a = _checked(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rcond = 10.0 * _longer_side(a) * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * math_ops.reduce_max(values, axis=-1)
        is_large = values > array_ops.expand_dims(cutoff, -1)
        values = array_ops.where_v2(is_large, values, np.array(np.inf, dtype))
        result = math_ops.matmul(
            right / array_ops.expand_dims(values, -2), left, adjoint_b=True
        )
        if a.shape.rank is not None:
            result.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return result


def _checked(a: Tensor, validate_args: bool) -> Tensor:
    if not a.dtype.is_floating:
        raise TypeError(
            f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name})."
        )
    rank = a.shape.rank
    if rank is not None:
        if rank < 2:
            raise ValueError(
                f"Input `a` must have at least 2 dimensions (saw: {rank})."
            )
    elif validate_args:
        message = "Input `a` must have at least 2 dimensions."
        check = check_rank_ops.assert_rank_at_least(a, rank=2, message=message)
        with control_dependencies([check]):
            return array_ops.identity(a)
    return a


def _longer_side(a: Tensor) -> Any:
    rows = axis_size(a, -2)
    columns = axis_size(a, -1)
    if isinstance(rows, int) and isinstance(columns, int):
        return float(max(rows, columns))
    return math_ops.cast(math_ops.maximum(rows, columns), a.dtype)


# --- gradient ----------------------------------------------------------------


def _svd_grad(op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> Tensor:
    """Of Giles, "An extended collection of matrix derivative results", 2008.

    With fewer columns than sides: Townsend, "Differentiating the SVD", 2016.
    """
    a = op.inputs[0]
    shape = a.shape.with_rank_at_least(2)
    grad_s_matrix = array_ops.matrix_diag(grad_s)
    if not op.get_attr("compute_uv"):
        _, u, v = svd(a, compute_uv=True)
        result = math_ops.matmul(u, math_ops.matmul(grad_s_matrix, v, adjoint_b=True))
        result.set_shape(shape)
        return result
    if a.dtype.is_complex:
        raise NotImplementedError(
            "The gradient of Svd with compute_uv=True takes real matrices only."
        )
    rows, columns = dimension_value(shape[-2]), dimension_value(shape[-1])
    if rows is None or columns is None:
        raise NotImplementedError(
            "The gradient of Svd needs to know the inner dimensions of its input."
        )
    s, u, v = op.outputs
    # A wide matrix is taken as it is, a tall one through its transpose.
    is_tall = rows > columns
    if is_tall:
        rows, columns = columns, rows
        u, v, grad_u, grad_v = v, u, grad_v, grad_u
    with control_dependencies([grad_s, grad_u, grad_v]):
        full = op.get_attr("full_matrices")
        if full and abs(rows - columns) > 1:
            raise NotImplementedError(
                "The gradient of Svd with full_matrices=True takes matrices whose "
                "sides differ by 1 at most."
            )
        result = _wide_grad(
            (s, u, v), grad_s_matrix, grad_u, grad_v, rows, columns, full
        )
        if is_tall:
            result = array_ops.matrix_transpose(result)
        result.set_shape(shape)
        return result


def _wide_grad(
    parts: tuple[Tensor, Tensor, Tensor],
    grad_s: Tensor,
    grad_u: Tensor,
    grad_v: Tensor,
    rows: int,
    columns: int,
    full: bool,
) -> Tensor:
    s, u, v = parts
    s_matrix = array_ops.matrix_diag(s)
    squares = math_ops.square(s)
    s_shape = array_ops.shape(s)
    identity = linalg_ops.eye(s_shape[-1], batch_shape=s_shape[:-1], dtype=s.dtype)
    gaps = array_ops.expand_dims(squares, -2) - array_ops.expand_dims(squares, -1)
    # The identity keeps the diagonal finite for gradients of this gradient.
    f = array_ops.matrix_set_diag(
        math_ops.reciprocal(gaps + identity), array_ops.zeros_like(s)
    )
    s_inverse = array_ops.matrix_diag(math_ops.reciprocal(s))
    v1 = v[..., :, :rows]
    grad_v1 = grad_v[..., :, :rows]
    u_part = math_ops.matmul(u, grad_u, adjoint_a=True)
    v_part = math_ops.matmul(v1, grad_v1, adjoint_a=True)
    f_u, f_v = f * u_part, f * v_part
    from_u = math_ops.matmul(f_u + adjoint(f_u), s_matrix)
    core = grad_s + from_u
    from_v = math_ops.matmul(s_matrix, f_v + adjoint(f_v))
    core = core + from_v
    inside = math_ops.matmul(u, math_ops.matmul(core, v1, adjoint_b=True))
    if rows == columns:
        return inside
    turned = array_ops.matrix_transpose(grad_v1)
    outside = turned - math_ops.matmul(math_ops.matmul(turned, v1), v1, adjoint_b=True)
    if full:
        v2 = v[..., :, rows:columns]
        grad_v2 = grad_v[..., :, rows:columns]
        crossed = math_ops.matmul(v1, grad_v2, adjoint_a=True)
        outside -= math_ops.matmul(crossed, v2, adjoint_b=True)
    scaled = math_ops.matmul(u, s_inverse)
    return inside + math_ops.matmul(scaled, outside)


# --- op ----------------------------------------------------------------------


def _svd_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank_at_least(0, 2).dims_tuple
    unknown, empty = TensorShape.of(None), TensorShape.of((0,))
    compute_uv = c.attrs["compute_uv"]
    if dims is None:
        return [unknown, *([unknown] * 2 if compute_uv else [empty] * 2)]
    *batch, rows, columns = dims
    rank = None if rows is None or columns is None else min(rows, columns)
    values = TensorShape.of((*batch, rank))
    if not compute_uv:
        return [values, empty, empty]
    full = c.attrs["full_matrices"]
    return [
        values,
        TensorShape.of((*batch, rows, rows if full else rank)),
        TensorShape.of((*batch, columns, columns if full else rank)),
    ]


register_op(
    "Svd",
    inputs=["input: T"],
    outputs=["s: T", "u: T", "v: T"],
    attrs=[
        "compute_uv: bool = true",
        "full_matrices: bool = false",
        f"T: {{{MATRIX_TYPES}}}",
    ],
    shape_fn=_svd_shape,
    gradient=_svd_grad,
    doc="input = u @ diag(s) @ adjoint(v), with singular values in falling order.",
)
