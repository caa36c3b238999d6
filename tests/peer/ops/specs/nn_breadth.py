"""Recurrent cells, edit distances and special functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_CONVOLUTION = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


# --- sequences ---------------------------------------------------------------


def _edit_distance(d: Draw) -> Any:
    def sparse(rows: int) -> tuple[Any, Any, Any]:
        index = [[r, i] for r in range(rows) for i in range(d.integer(1, 4))]
        values = d.array((len(index),), low=0, high=3)
        return np.array(index, np.int64), values, np.array([rows, 4], np.int64)

    return call(*sparse(3), *sparse(3), normalize=d.maybe(0.5))


spec(
    "EditDistance",
    _edit_distance,
    gradient=False,
    types=["int32", "int64", "float32", "float64", "uint8"],
    mutate=("dtype",),
)


# --- special functions -------------------------------------------------------


def _positive(d: Draw) -> Any:
    return call(d.array(d.shape(0, 3), low=0.5, high=6.0))


_SERIES = Tolerance(2e-5, 2e-6, reason="series of other lengths")
spec(
    "BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e "
    "BesselY0 BesselY1 Dawsn Expint FresnelCos FresnelSin Spence",
    _positive,
    types=["float32", "float64"],
    tolerance=_SERIES,
)


# --- cells -------------------------------------------------------------------


def _lstm_weights(d: Draw, depth: int, units: int) -> list[Any]:
    vectors = [d.array((units,)) for _ in range(3)]
    return [d.array((depth + units, 4 * units)), *vectors, d.array((4 * units,))]


def _lstm_cell(d: Draw) -> Any:
    batch, depth, units = 2, 3, 4
    state = [d.array((batch, units)) for _ in range(2)]
    weights = _lstm_weights(d, depth, units)
    x = d.array((batch, depth))
    return call(x, *state, *weights, use_peephole=d.maybe(0.5), cell_clip=1.0)


def _gru_cell(d: Draw) -> Any:
    batch, depth, units = 2, 3, 4
    joined = depth + units
    return call(
        d.array((batch, depth)),
        d.array((batch, units)),
        d.array((joined, 2 * units)),
        d.array((joined, units)),
        d.array((2 * units,)),
        d.array((units,)),
    )


spec(
    "LSTMBlockCell",
    _lstm_cell,
    types=["float32"],
    tolerance=_CONVOLUTION,
    mutate=("dtype",),
)
spec(
    "GRUBlockCell",
    _gru_cell,
    types=["float32"],
    tolerance=_CONVOLUTION,
    mutate=("dtype",),
)


# --- Conv of TensorFlow 2.x --------------------------------------------------


def _conv(d: Draw, wrong: int = 0) -> Any:
    spatial, batch_dims = d.integer(2, 3), d.integer(0, 3)
    batch = [d.integer(1, 2) for _ in range(batch_dims)]
    depth = d.integer(1, 3)
    explicit = spatial == 2 and d.maybe(0.3)
    pads = [0, 0, *(d.integer(0, 2) for _ in range(4)), 0, 0] if explicit else []
    padding = "EXPLICIT" if explicit else d.choice(["SAME", "VALID"])
    # TensorFlow dilates no volumes on a CPU.
    dilated = spatial == 2 and padding == "SAME" and d.maybe(0.5)
    return call(
        d.array((*batch, *(d.integer(4, 6) for _ in range(spatial)), depth)),
        d.array((*[d.integer(1, 3)] * spatial, depth + wrong, d.integer(1, 3))),
        strides=[1, *[d.integer(1, 2)] * spatial, 1],
        dilations=[1, 2, 1, 1] if dilated else [],
        padding=padding,
        explicit_paddings=pads,
        batch_dims=batch_dims,
    )


spec(
    "Conv",
    _conv,
    tolerance=Tolerance(1e-4, 1e-5, reason="sums of products in another order"),
    gradient=False,
    mutate=("rank", "dtype"),
    bad=(lambda d: _conv(d, 1),),
)
