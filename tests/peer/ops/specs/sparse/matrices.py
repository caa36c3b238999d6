"""Compressed sparse matrices (2.x): made, taken apart, multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import Tolerance, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


Shape = tuple[int, ...]


def _places(d: Draw, shape: Shape) -> Any:
    """Some indices in row-major order."""
    if d.maybe(0.1):
        return np.zeros((0, len(shape)), np.int64)
    return np.argwhere(d.rng.random(shape) < 0.5)


def _shape(d: Draw) -> Shape:
    batch = (d.integer(1, 3),) if d.maybe(0.4) else ()
    return (*batch, d.integer(1, 4), d.integer(1, 4))


def _matrix(d: Draw, p: Program, shape: Shape) -> Node:
    """A sparse matrix made of coordinates or of a dense one."""
    places = _places(d, shape)
    if d.maybe():
        values = d.array((len(places),))
        size = np.array(shape, np.int64)
        return p.op("SparseTensorToCSRSparseMatrix", places, values, size)
    return p.op("DenseToCSRSparseMatrix", d.array(shape), places)


def _dense(d: Draw, p: Program, matrix: Node) -> None:
    p.run(p.op("CSRSparseMatrixToDense", matrix, type=d.dtype))


def _spec(ops: str, make: Any, **options: Any) -> None:
    spec(ops, make, attr=options.pop("attr", "type"), gradient=False, **options)


# --- made and taken apart ----------------------------------------------------


def _of_coordinates(d: Draw, places: Any = None, shape: Shape = ()) -> Program:
    p = Program(differentiate=False)
    shape = shape or _shape(d)
    places = _places(d, shape) if places is None else np.array(places, np.int64)
    size = np.array(shape, np.int64)
    made = p.op(d.op, places, d.array((len(places),)), size)
    _dense(d, p, made)
    return p


_spec(
    "SparseTensorToCSRSparseMatrix",
    _of_coordinates,
    attr="T",
    bad=(
        lambda d: _of_coordinates(d, [[0, 0, 0, 0]], (1, 1, 2, 2)),
        lambda d: _of_coordinates(d, [[0]], (3,)),
        lambda d: _of_coordinates(d, [[0, 5]], (2, 2)),
        lambda d: _of_coordinates(d, [[2, 0]], (2, 2)),
        lambda d: _of_coordinates(d, [[-1, 0]], (2, 2)),
    ),
)


def _of_dense(d: Draw, places: Any = None, shape: Shape = ()) -> Program:
    p = Program(differentiate=False)
    shape = shape or _shape(d)
    places = _places(d, shape) if places is None else np.array(places, np.int64)
    _dense(d, p, p.op(d.op, d.array(shape), places))
    return p


_spec(
    "DenseToCSRSparseMatrix",
    _of_dense,
    attr="T",
    bad=(
        lambda d: _of_dense(d, [[0, 5]], (2, 2)),
        lambda d: _of_dense(d, [[0, 0, 0]], (2, 2)),
        lambda d: _of_dense(d, [[0]], (2,)),
    ),
)


def _whole(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(p.op(d.op, _matrix(d, p, _shape(d)), type=d.dtype))
    return p


def _of_another_type(d: Draw) -> Program:
    p = Program(differentiate=False)
    other = "float32" if d.dtype.name == "float64" else "float64"
    p.run(p.op(d.op, _matrix(d, p, (2, 3)), type=other))
    return p


_spec(
    "CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor",
    _whole,
    bad=(_of_another_type,),
)


def _components(d: Draw, index: int | None = None) -> Program:
    p = Program(differentiate=False)
    shape = _shape(d)
    if index is None:
        index = d.integer(0, shape[0] - 1) if len(shape) == 3 else 0
    p.run(p.op(d.op, _matrix(d, p, shape), np.int32(index), type=d.dtype))
    return p


_spec(
    "CSRSparseMatrixComponents",
    _components,
    bad=(lambda d: _components(d, 7), lambda d: _components(d, -1)),
)


def _count(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(p.op(d.op, _matrix(d, p, _shape(d))))
    return p


_FLOATS = ["float32", "float64", "complex64", "complex128"]


_spec("SparseMatrixNNZ", _count, types=_FLOATS)


def _transposed(d: Draw) -> Program:
    p = Program(differentiate=False)
    matrix = _matrix(d, p, _shape(d))
    _dense(d, p, p.op(d.op, matrix, conjugate=d.maybe(), type=d.dtype))
    return p


_spec("SparseMatrixTranspose", _transposed, bad=(_of_another_type,))


# --- products ----------------------------------------------------------------


def _turned(shape: Shape, turn: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if turn else shape


def _flags(d: Draw, side: str) -> dict[str, bool]:
    """At most one of transpose and adjoint."""
    which = d.choice(["", "transpose_", "adjoint_"])
    return {which + side: True} if which else {}


def _times_dense(d: Draw, inner: int | None = None, **more: bool) -> Program:
    p = Program(differentiate=False)
    shape = _shape(d)
    batch, shared = shape[:-2], shape[-1]
    of_a, of_b = _flags(d, "a"), _flags(d, "b")
    attrs = {**of_a, **of_b, **more}
    matrix = _matrix(d, p, _turned(shape, bool(of_a)))
    right = _turned((*batch, inner or shared, d.integer(1, 3)), bool(of_b))
    for flag in ("transpose_output", "conjugate_output"):
        attrs.setdefault(flag, d.maybe(0.3))
    p.run(p.op(d.op, matrix, d.array(right), T=d.dtype, **attrs))
    return p


_spec(
    "SparseMatrixMatMul",
    _times_dense,
    attr="T",
    types=_FLOATS,
    tolerance=_PRODUCTS,
    bad=(
        lambda d: _times_dense(d, 7),
        lambda d: _times_dense(d, transpose_a=True, adjoint_a=True),
        lambda d: _times_dense(d, transpose_b=True, adjoint_b=True),
    ),
)


def _times_sparse(d: Draw, inner: int | None = None, **more: bool) -> Program:
    p = Program(differentiate=False)
    shape = _shape(d)
    batch, (_, shared) = shape[:-2], shape[-2:]
    of_a, of_b = _flags(d, "a"), _flags(d, "b")
    left = _matrix(d, p, _turned(shape, bool(of_a)))
    right = (*batch, inner or shared, d.integer(1, 3))
    other = _matrix(d, p, _turned(right, bool(of_b)))
    product = p.op(d.op, left, other, type=d.dtype, **{**of_a, **of_b, **more})
    _dense(d, p, product)
    return p


_spec(
    "SparseMatrixSparseMatMul",
    _times_sparse,
    tolerance=_PRODUCTS,
    bad=(
        lambda d: _times_sparse(d, 7),
        lambda d: _times_sparse(d, transpose_a=True, adjoint_a=True),
    ),
)
