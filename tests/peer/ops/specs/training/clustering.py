"""Clustering and coordinate ascent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_SUMS = Tolerance(1e-4, 1e-4, reason="sums in another order")


def _floats(d: Draw, *shape: int) -> Any:
    return d.rng.standard_normal(shape).astype(np.float32)


def _nearest(d: Draw) -> Any:
    return call(
        _floats(d, 5, 3), _floats(d, d.integer(1, 6), 3), np.int64(d.integer(1, 4))
    )


spec(
    "NearestNeighbors",
    _nearest,
    types=(),
    gradient=False,
    tolerance=_SUMS,
    mutate=("dtype",),
    bad=(lambda d: call(_floats(d, 5, 3), _floats(d, 2, 4), np.int64(1)),),
)


def _distances(d: Draw, count: int) -> Any:
    """Distances, some of them zero: those of points that are centers already."""
    return abs(_floats(d, count)) * (d.rng.random(count) > 0.5).astype(np.float32)


spec(
    "KMC2ChainInitialization",
    lambda d: call(_distances(d, d.integer(1, 30)), np.int64(d.integer(1, 99))),
    types=(),
    gradient=False,
    mutate=("dtype",),
)


def _texts(d: Draw) -> Any:
    sizes = d.rng.integers(0, 400, d.integer(1, 5))
    return call(
        np.array([bytes(d.rng.integers(0, 256, n, np.uint8)) for n in sizes], object)
    )


spec("SdcaFprint", _texts, types=(), gradient=False, mutate=("dtype", "rank"))


def _shrink(d: Draw) -> Program:
    p = Program(differentiate=False)
    variable = p.op("VariableV2", shape=(4,), dtype="float32")
    p.run(p.op("Assign", variable, _floats(d, 4)))
    p.run(p.op("SdcaShrinkL1", [variable], l1=0.5, l2=d.choice([1.0, 2.0])))
    p.run(p.op("Identity", variable))
    return p


spec("SdcaShrinkL1", _shrink, types=(), gradient=False, mutate=())
