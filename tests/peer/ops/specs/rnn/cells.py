"""Specs of GRUBlockCell, LSTMBlockCell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_CONVOLUTION = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


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
