"""Specs of BatchMatMul, BatchMatMulV2, Cholesky, CholeskyGrad, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K, Value
from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.shared.products import PRODUCTS

SOLVERS = Tolerance(1e-3, 1e-4, "LAPACK and Eigen pivot and round in different ways")


def turned(shape: tuple[int, ...], turn: bool) -> tuple[int, ...]:
    return (*shape[:-2], shape[-1], shape[-2]) if turn else shape


def matmul(d: Draw) -> Any:
    n, k, m = d.integer(0, 4), d.integer(0, 4), d.integer(1, 4)
    ta, tb = d.maybe(), d.maybe()
    a, b = d.array(turned((n, k), ta)), d.array(turned((k, m), tb))
    return call(a, b, transpose_a=ta, transpose_b=tb)


spec(
    "MatMul",
    matmul,
    tolerance=PRODUCTS,
    bad=(lambda d: (d.array((2, 3)), d.array((2, 3))),),
)


def batch_matmul(d: Draw) -> Any:
    n, k, m = d.integer(1, 4), d.integer(1, 4), d.integer(1, 4)
    batch = d.shape(0, 2, empty=0)
    other = d.broadcast(batch) if d.op != "BatchMatMul" else batch
    ax, ay = d.maybe(), d.maybe()
    a, b = (
        d.array((*batch, *turned((n, k), ax))),
        d.array((*other, *turned((k, m), ay))),
    )
    return call(a, b, adj_x=ax, adj_y=ay)


spec(
    "BatchMatMul BatchMatMulV2",
    batch_matmul,
    tolerance=PRODUCTS,
    bad=(
        lambda d: (d.array((2, 2, 3)), d.array((2, 2, 3))),
        lambda d: (d.array((2, 2, 3)), d.array((3, 3, 2))),
    ),
)


def sparse_matmul(d: Draw) -> Any:
    a, b = d.array((3, 4), dtype="float32"), d.array((4, 2), dtype="float32")
    a[d.rng.random(a.shape) < 0.5] = 0
    return call(a, b, a_is_sparse=True)


spec(
    "SparseMatMul",
    sparse_matmul,
    types=(),
    tolerance=PRODUCTS,
    mutate=("rank", "size", "dtype"),
)


def einsum(d: Draw) -> Any:
    equation, shapes = d.choice(
        [
            ("ij,jk->ik", [(2, 3), (3, 4)]),
            ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
            ("ij->ji", [(2, 3)]),
            ("ij->", [(2, 3)]),
            ("i,j->ij", [(2,), (3,)]),
            ("bij,kj->bik", [(2, 3, 2), (4, 2)]),
            ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
        ]
    )
    return call([d.array(s) for s in shapes], equation=equation)


spec(
    "Einsum",
    einsum,
    tolerance=PRODUCTS,
    mutate=("dtype", "rank"),
    types=["float32", "float64", "complex64", "int32"],
)


def positive(d: Draw) -> Any:
    """A batch of positive definite matrices."""
    n = d.integer(1, 4)
    x = d.array((*d.shape(0, 1, size=2, empty=0), n, n), low=-1, high=1)
    return (
        np.asarray(
            x @ np.conj(np.swapaxes(x, -1, -2)) + 2 * np.eye(n), d.dtype.np_dtype
        ),
    )


def invertible(d: Draw, n: int | None = None) -> Any:
    n = n or d.integer(1, 4)
    x = d.array((*d.shape(0, 1, size=2, empty=0), n, n), low=-1, high=1)
    return np.asarray(x + 3 * np.eye(n), d.dtype.np_dtype)


def singular(d: Draw) -> Any:
    return call(np.ones((2, 2), d.dtype.np_dtype))


def not_square(d: Draw) -> Any:
    return call(d.array((2, 3)))


spec(
    "Cholesky",
    positive,
    tolerance=SOLVERS,
    bad=(not_square, lambda d: call(-np.eye(2, dtype=d.dtype.np_dtype))),
)


def cholesky_grad(d: Draw) -> Any:
    (x,) = positive(d)
    wide = np.complex128 if d.dtype.is_complex else np.float64
    return np.linalg.cholesky(x.astype(wide)).astype(x.dtype), d.array(
        x.shape, low=-1, high=1
    )


spec("CholeskyGrad", cholesky_grad, tolerance=SOLVERS, mutate=("dtype",))


spec(
    "MatrixInverse",
    lambda d: call(invertible(d), adjoint=d.maybe()),
    tolerance=SOLVERS,
    mutate=("dtype", "rank"),
    bad=(singular, not_square),
)


# TensorFlow 1.15 may never return from matrices without elements.
spec(
    "MatrixDeterminant LogMatrixDeterminant",
    lambda d: (invertible(d),),
    tolerance=SOLVERS,
    mutate=("dtype",),
    bad=(not_square, lambda d: (np.full((2, 2), np.nan, d.dtype.np_dtype),)),
)


def solve(d: Draw) -> Any:
    a = invertible(d)
    return call(a, d.array((*a.shape[:-1], d.integer(1, 3))), adjoint=d.maybe())


def triangular(d: Draw) -> Any:
    a = invertible(d)
    b = d.array((*a.shape[:-1], d.integer(1, 3)))
    return call(a, b, lower=d.maybe(), adjoint=d.maybe())


spec(
    "MatrixSolve",
    solve,
    tolerance=SOLVERS,
    mutate=("dtype", "rank"),
    bad=(lambda d: call(np.ones((2, 2), d.dtype.np_dtype), d.array((2, 1))),),
)


spec(
    "MatrixTriangularSolve",
    triangular,
    tolerance=SOLVERS,
    bad=(lambda d: call(np.zeros((2, 2), d.dtype.np_dtype), d.array((2, 1))),),
)


def least_squares(d: Draw) -> Any:
    n, m = d.choice([(4, 2), (3, 3), (2, 4)])
    a = d.array((n, m), low=-1, high=1)
    a[: min(n, m), : min(n, m)] += 3 * np.eye(min(n, m), dtype=a.dtype)
    fast = d.maybe(0.7)
    return call(
        a, d.array((n, 2)), np.asarray(0.1 if fast else 0.0, np.float64), fast=fast
    )


spec("MatrixSolveLs", least_squares, tolerance=SOLVERS)


def symmetric(d: Draw) -> Any:
    n = d.integer(1, 4)
    x = d.array((*d.shape(0, 1, size=2, empty=0), n, n), low=-2, high=2, distinct=True)
    return np.asarray(x + np.conj(np.swapaxes(x, -1, -2)), d.dtype.np_dtype)


def magnitudes(values: list[Any]) -> list[Any]:
    """Vectors without their signs (or phases), which are free."""
    return [np.abs(value) for value in values]


def values_only(d: Draw, value: Any, flag: str, **attrs: Any) -> Program:
    """Without the vectors: what their output then holds is not defined."""
    p = Program()
    node = p.op(d.op, p.feed(value), **{flag: False}, **attrs)
    p.run(node[0])
    return p


def eigen(d: Draw) -> Any:
    if d.maybe(0.3):
        return values_only(d, symmetric(d), "compute_v")
    return call(symmetric(d), compute_v=True)


def singular_values(d: Draw) -> Any:
    if d.maybe(0.3):
        return values_only(d, tall(d), "compute_uv")
    return call(tall(d), compute_uv=True, full_matrices=False)


spec(
    "SelfAdjointEigV2",
    eigen,
    canonical=magnitudes,
    tolerance=SOLVERS,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "SelfAdjointEig",
    lambda d: (symmetric(d),),
    canonical=magnitudes,
    tolerance=SOLVERS,
    gradient=False,
    producer=10,
    mutate=("dtype",),
)


def tall(d: Draw) -> Any:
    shape = (*d.shape(0, 1, size=2, empty=0), d.integer(1, 4), d.integer(1, 4))
    return d.array(shape, low=-2, high=2, distinct=True)


spec(
    "Svd",
    singular_values,
    canonical=magnitudes,
    tolerance=SOLVERS,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "Qr",
    lambda d: call(tall(d), full_matrices=False),
    canonical=magnitudes,
    tolerance=SOLVERS,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "Lu",
    lambda d: call(invertible(d), output_idx_type=d.choice(["int32", "int64"])),
    tolerance=SOLVERS,
    bad=(not_square,),
)


spec(
    "MatrixExponential",
    lambda d: (d.array((3, 3), low=-1, high=1),),
    tolerance=SOLVERS,
    producer=26,
    mutate=("dtype",),
)


spec(
    "MatrixLogarithm", lambda d: (positive(d)[0],), tolerance=SOLVERS, mutate=("dtype",)
)


spec(
    "MatrixSquareRoot",
    lambda d: (positive(d)[0],),
    tolerance=SOLVERS,
    mutate=("dtype",),
)


def tridiagonal(d: Draw) -> Any:
    n = d.integer(1, 4)
    diagonals = d.array((3, n), low=-1, high=1)
    diagonals[1] += 4
    return diagonals, d.array((n, 2))


spec("TridiagonalSolve", tridiagonal, tolerance=SOLVERS, mutate=("dtype",))


def tridiagonal_mul(d: Draw) -> Any:
    n = d.integer(1, 4)
    return d.array((1, n)), d.array((1, n)), d.array((1, n)), d.array((n, 2))


spec("TridiagonalMatMul", tridiagonal_mul, tolerance=PRODUCTS, mutate=("dtype",))


# --- diagonals ------------------------------------------------------------------


def matrix(d: Draw) -> Any:
    return d.array(d.shape(2, 4))


spec("Diag", lambda d: (d.array(d.shape(1, 2)),))


spec(
    "DiagPart",
    lambda d: (d.array(d.choice([(3, 3), (2, 3, 2, 3)])),),
    bad=(lambda d: (d.array((2, 3)),),),
)


spec("MatrixDiag", lambda d: (d.array(d.shape(1, 3)),))


spec("MatrixDiagPart", lambda d: (matrix(d),))


spec("MatrixSetDiag", lambda d: set_diag(d), mutate=("rank", "dtype"))


spec(
    "MatrixBandPart",
    lambda d: band(d),
    bad=(lambda d: (d.array((2, 2)), K(3, "int64"), K(0, "int64")),),
)


def set_diag(d: Draw) -> Any:
    x = matrix(d)
    shape = np.shape(getattr(x, "value", x))
    return x, d.array((*shape[:-2], min(shape[-2:])))


def band(d: Draw) -> Any:
    shape = d.shape(2, 3, empty=0)
    return (
        d.array(shape),
        K(d.integer(-1, shape[-2]), "int64"),
        K(d.integer(-1, shape[-1]), "int64"),
    )


def diag_range(d: Draw) -> tuple[int, int]:
    low = d.integer(-1, 1)
    return low, d.integer(low, 1)


def known(x: Any) -> Any:
    """A constant: TensorFlow's shape functions fail for matrices of unknown sizes."""
    return Value(x, always=True)


def diag_part_v(d: Draw) -> Any:
    k = diag_range(d)
    attrs = (
        {"align": d.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])}
        if d.op.endswith("V3")
        else {}
    )
    return call(known(d.array((2, 3, 4))), K(list(k), "int32"), K(d.array(())), **attrs)


def diag_v(d: Draw) -> Any:
    low, high = diag_range(d)
    count = high - low + 1
    attrs = (
        {"align": d.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])}
        if d.op.endswith("V3")
        else {}
    )
    shape = (2, 3) if count == 1 else (2, count, 3)
    return call(
        d.array(shape),
        K([low, high], "int32"),
        K(-1, "int32"),
        K(-1, "int32"),
        K(d.array(())),
        **attrs,
    )


def set_diag_v(d: Draw) -> Any:
    low, high = diag_range(d)
    count = high - low + 1
    attrs = (
        {"align": d.choice(["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"])}
        if d.op.endswith("V3")
        else {}
    )
    longest = max(min(4, 4 - max(k, 0)) - max(-k, 0) for k in range(low, high + 1))
    shape = (2, longest) if count == 1 else (2, count, longest)
    return call(
        known(d.array((2, 4, 4))), d.array(shape), K([low, high], "int32"), **attrs
    )


SOME = ["float32", "float64", "int32", "int64", "complex64", "bool"]


# Those of version 2 are not used by 1.15 itself, whose gradients for them fail.
spec("MatrixDiagPartV2 MatrixDiagPartV3", diag_part_v, types=SOME, mutate=("dtype",))


spec("MatrixDiagV2 MatrixDiagV3", diag_v, types=SOME, mutate=("dtype",))


spec("MatrixSetDiagV2 MatrixSetDiagV3", set_diag_v, types=SOME, mutate=("dtype",))
