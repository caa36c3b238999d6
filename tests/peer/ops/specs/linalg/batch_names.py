"""Specs of BandedTriangularSolve, BatchCholesky, ..."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.linalg import products_and_solvers as newer

_SOLVERS = newer.SOLVERS


_OLD: dict[str, Any] = {"gradient": False, "mutate": ("dtype",)}


def _old(op: str, make: Any, producer: int = 10, **options: Any) -> None:
    """A legacy op; TensorFlow checks its version when the node is made."""
    spec(op, make, producer=producer, **(_OLD | options))


_old("BatchCholesky", newer.positive, tolerance=_SOLVERS)


_old("BatchCholeskyGrad", newer.cholesky_grad, tolerance=_SOLVERS)


_old(
    "BatchMatrixInverse",
    lambda d: call(newer.invertible(d), adjoint=d.maybe()),
    tolerance=_SOLVERS,
    bad=(newer.singular, newer.not_square),
)


_old(
    "BatchMatrixDeterminant",
    lambda d: (newer.invertible(d),),
    tolerance=_SOLVERS,
    bad=(newer.not_square,),
)


_old("BatchMatrixSolve", newer.solve, tolerance=_SOLVERS)


_old("BatchMatrixTriangularSolve", newer.triangular, tolerance=_SOLVERS)


_old("BatchMatrixSolveLs", newer.least_squares, tolerance=_SOLVERS)


_old(
    "BatchSelfAdjointEig",
    lambda d: (newer.symmetric(d),),
    canonical=newer.magnitudes,
    tolerance=_SOLVERS,
)


_old(
    "BatchSelfAdjointEigV2",
    lambda d: call(newer.symmetric(d), compute_v=True),
    canonical=newer.magnitudes,
    tolerance=_SOLVERS,
)


_old(
    "BatchSvd",
    lambda d: call(newer.tall(d), compute_uv=True, full_matrices=False),
    canonical=newer.magnitudes,
    tolerance=_SOLVERS,
)


def _matrix_shape(d: Draw) -> tuple[int, ...]:
    return (*d.shape(0, 1, size=2), d.integer(1, 4), d.integer(1, 4))


_old("BatchMatrixDiag", lambda d: (d.array(d.shape(1, 3)),))


_old("BatchMatrixDiagPart", lambda d: (d.array(_matrix_shape(d)),))


def _band(d: Draw) -> Any:
    limits = (K(d.integer(-1, 2), "int64"), K(d.integer(-1, 2), "int64"))
    return call(d.array((*d.shape(0, 1, size=2), 4, 3)), *limits)


_old("BatchMatrixBandPart", _band)


def _set_diag(d: Draw) -> Any:
    *outer, rows, columns = _matrix_shape(d)
    return d.array((*outer, rows, columns)), d.array((*outer, min(rows, columns)))


_old("BatchMatrixSetDiag", _set_diag)


# --- of 2.x ------------------------------------------------------------------


def _eig(d: Draw) -> Any:
    n = d.integer(1, 4)
    # Eigenvalues that are far apart, so that their order is certain.
    matrix = np.diag(np.arange(1, n + 1) * 3.0) + d.array((n, n), low=-1, high=1) / 4
    complex_type = (
        "complex64"
        if d.dtype.size <= 4 or d.dtype.name == "complex64"
        else "complex128"
    )
    return call(matrix.astype(d.dtype.np_dtype), compute_v=True, Tout=complex_type)


def _sorted_magnitudes(values: list[Any]) -> list[Any]:
    return [np.sort(np.abs(value), axis=-1) for value in values]


spec(
    "Eig",
    _eig,
    canonical=_sorted_magnitudes,
    tolerance=_SOLVERS,
    gradient=False,
    mutate=("dtype",),
)


def _banded(d: Draw) -> Any:
    n = d.integer(1, 5)
    bands = d.array(
        (*d.shape(0, 1, size=2, empty=0), d.integer(1, n), n), low=-1, high=1
    )
    lower = d.maybe()
    main = bands[..., 0 if lower else -1, :]
    main += np.asarray(4, main.dtype)
    right = d.array((*bands.shape[:-2], n, d.integer(1, 3)), low=-2, high=2)
    return call(bands, right, lower=lower, adjoint=d.maybe())


spec("BandedTriangularSolve", _banded, tolerance=_SOLVERS, mutate=("dtype",))


def _batches(d: Draw) -> Any:
    x, y = d.array((*d.shape(0, 2, size=2), 3, 2)), d.array((2, 4))
    return call(x, y, Tout=d.dtype)


spec(
    "BatchMatMulV3",
    _batches,
    attr="Ta",
    tolerance=Tolerance(1e-4, 1e-5, reason="sums in another order", widened=1.0),
    mutate=("rank", "size"),
)
