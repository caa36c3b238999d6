"""Specs of MaskedMatmul, WALSComputePartialLhsAndRhs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec, scalar_input


def _masked(d: Draw) -> Any:
    rows, inner, columns = (d.integer(1, 5) for _ in range(3))
    flip_a, flip_b = d.maybe(), d.maybe()
    a, b = d.array((rows, inner), "float32"), d.array((inner, columns), "float32")
    count = d.integer(0, 6)
    places = [d.rng.integers(0, size, count) for size in (rows, columns)]
    return (
        np.ascontiguousarray(a.T) if flip_a else a,
        np.ascontiguousarray(b.T) if flip_b else b,
        np.stack(places, 1).astype(np.int64),
        scalar_input(flip_a, bool),
        scalar_input(flip_b, bool),
    )


_M = np.ones((2, 3), np.float32)


alone_spec(
    "MaskedMatmul",
    _masked,
    types=(),
    bad=(
        lambda d: (
            _M,
            _M,
            np.zeros((1, 2), np.int64),
            scalar_input(0, bool),
            scalar_input(0, bool),
        ),
        lambda d: (
            _M,
            _M,
            np.zeros((1, 3), np.int64),
            scalar_input(0, bool),
            scalar_input(1, bool),
        ),
        lambda d: (
            _M[0],
            _M,
            np.zeros((1, 2), np.int64),
            scalar_input(0, bool),
            scalar_input(1, bool),
        ),
    ),
)


def _least_squares(d: Draw, drop: str = "") -> Any:
    rows, columns, depth, count = (d.integer(1, 4) for _ in range(4))
    flip = d.maybe()
    places = [d.rng.integers(0, size, count) for size in (rows, columns)]
    nothing = np.zeros(0, np.float32)
    by_entry = d.maybe()
    weights = [nothing, nothing, d.array((count,), "float32", low=0, high=2)]
    if not by_entry:
        weights = [d.array((n,), "float32", low=0, high=2) for n in (columns, rows)]
        weights.append(nothing)
    if drop == "weights":
        weights = [nothing] * 3
    return (
        d.array((columns, depth), "float32"),
        weights[0],
        scalar_input(0.5, np.float32),
        weights[1],
        np.stack(places[::-1] if flip else places, 1).astype(np.int64),
        d.array((count - (drop == "values"),), "float32"),
        weights[2],
        scalar_input(rows + d.integer(0, 1), np.int64),
        scalar_input(flip, bool),
    )


alone_spec(
    "WALSComputePartialLhsAndRhs",
    _least_squares,
    types=(),
    examples=6,
    tolerance=Tolerance(1e-4, 1e-5, "another order of sums"),
    bad=(
        lambda d: _least_squares(d, "weights"),
        lambda d: _least_squares(d, "values"),
    ),
)
