"""`tf.linalg.lstsq` and the gradient of MatrixSolveLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg.matrix_decomposition import cholesky
from tensorloom.ops.linalg.matrix_solve import cholesky_solve
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

# Above this many bytes TensorFlow uses the kernel rather than the composition.
_COMPOSITION_BYTES: Final = 256_000


@export("linalg.lstsq", "matrix_solve_ls")
def matrix_solve_ls(
    matrix: Any,
    rhs: Any,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """x [..., n, k] with the least squares of matrix @ x - rhs.

    Args:
      matrix, rhs: [..., m, n] and [..., m, k].
      l2_regularizer: the weight of the squares of x.
      fast: by the Cholesky factor of the Gramian, which doubles the condition number's
        digits; otherwise by an orthogonal decomposition.

    Raises:
      NotImplementedError: complex128 with a regularizer, as TensorFlow.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype == dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls takes no l2_regularizer with complex128."
        )
    if not _is_composed(fast, matrix):
        result: Tensor = apply_op(
            "MatrixSolveLs",
            matrix=matrix,
            rhs=rhs,
            l2_regularizer=l2_regularizer,
            fast=fast,
            name=name,
        )
        return result
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _choose(  # type: ignore[no-any-return]
            matrix,
            lambda: _tall(matrix, rhs, l2_regularizer),
            lambda: _wide(matrix, rhs, l2_regularizer),
        )


def _is_composed(fast: bool, matrix: Tensor) -> bool:
    if fast is False:
        return False
    shape = matrix.shape
    if not shape.is_fully_defined():
        return True
    batches = shape[:-2].num_elements()
    size, count = shape.num_elements(), batches if batches is not None else 1
    assert size is not None
    is_bound_by_memory = count > min(d or 0 for d in shape[-2:].as_list())
    return not (size * matrix.dtype.size > _COMPOSITION_BYTES and is_bound_by_memory)


def _choose(matrix: Tensor, tall: Any, wide: Any) -> Any:
    """Calls one of the two by the sides of the matrix, at run time if need be."""
    static = matrix.shape[-2:]
    if static.is_fully_defined():
        sides: Any = static.as_list()
        rows, columns = sides
        return tall() if rows >= columns else wide()
    shape = array_ops.shape(matrix)[-2:]
    return cond(shape[-2] >= shape[-1], tall, wide)


def _tall(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _gramian_cholesky(matrix, regularizer, first_kind=True)
    return cholesky_solve(factor, math_ops.matmul(matrix, rhs, adjoint_a=True))


def _wide(matrix: Tensor, rhs: Any, regularizer: Any) -> Tensor:
    factor = _gramian_cholesky(matrix, regularizer, first_kind=False)
    return math_ops.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _gramian_cholesky(matrix: Tensor, regularizer: Any, first_kind: bool) -> Tensor:
    """The factor of A^H A + l I (first kind) or of A A^H + l I."""
    gramian = math_ops.matmul(
        matrix, matrix, adjoint_a=first_kind, adjoint_b=not first_kind
    )
    if isinstance(regularizer, Tensor) or regularizer != 0:
        shape = array_ops.shape(matrix)
        batch = shape[:-2]
        axis = -1 if first_kind else -2
        identity = linalg_ops.eye(shape[axis], batch_shape=batch, dtype=matrix.dtype)
        side = matrix.shape[axis]
        identity.set_shape(matrix.shape[:-2].concatenate([side, side]))
        gramian += regularizer * identity
    factor: Tensor = cholesky(gramian)
    return factor


def _tall_grad(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    a, b, x = op.inputs[0], op.inputs[1], op.outputs[0]
    regularizer = math_ops.cast(op.inputs[2], a.dtype.base_dtype)
    factor = _gramian_cholesky(a, regularizer, first_kind=True)
    z = cholesky_solve(factor, grad)
    product = math_ops.matmul(x, z, adjoint_b=True)
    symmetric = product + array_ops.matrix_transpose(product)
    inner = -math_ops.matmul(a, symmetric)
    grad_a = inner + math_ops.matmul(b, z, adjoint_b=True)
    return grad_a, math_ops.matmul(a, z), None


def _wide_grad(op: Operation, grad: Tensor) -> tuple[Any, ...]:
    a, b = op.inputs[0], op.inputs[1]
    regularizer = math_ops.cast(op.inputs[2], a.dtype.base_dtype)
    factor = _gramian_cholesky(a, regularizer, first_kind=False)
    grad_b = cholesky_solve(factor, math_ops.matmul(a, grad))
    z = cholesky_solve(factor, b)
    first = math_ops.matmul(z, a, adjoint_a=True)
    first = -math_ops.matmul(grad_b, first)
    second = grad - math_ops.matmul(a, grad_b, adjoint_a=True)
    second = math_ops.matmul(z, second, adjoint_b=True)
    return first + second, grad_b, None


@RegisterGradient("MatrixSolveLs")
def _solve_ls_grad(op: Operation, grad: Tensor) -> Any:
    if op.get_attr("fast") is False:
        raise ValueError("Gradient not defined for fast=False")
    return _choose(
        op.inputs[0], lambda: _tall_grad(op, grad), lambda: _wide_grad(op, grad)
    )
