"""Specs of BesselI0, BesselI1, BesselJ0, BesselJ1, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


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
