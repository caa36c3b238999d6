"""Specs of Erfinv, Ndtri, Xlog1py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _xlog1py(d: Draw) -> Any:
    shape = d.shape(0, 3)
    x = d.array(d.broadcast(shape), low=0.0, high=3.0)
    return call(x, d.array(shape, low=-0.5, high=3.0))


def _inside(d: Draw) -> Any:
    return call(d.array(d.shape(0, 3), low=0.05, high=0.95))


_SERIES = Tolerance(2e-5, 2e-6, reason="series of other lengths")


spec("Xlog1py", _xlog1py, types=["float32", "float64"], tolerance=_SERIES)


spec("Ndtri Erfinv", _inside, types=["float32", "float64"], tolerance=_SERIES)
