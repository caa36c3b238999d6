"""Specs of RandomPoisson, RngSkip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _drawn(d: Draw) -> Any:
    rate = d.array((3,), low=0.5, high=14)
    return call(K([5], "int32"), rate, seed=d.integer(1, 9), seed2=3)


# Since version 25 an error when the node is made.
spec("RandomPoisson", _drawn, attr="dtype", gradient=False, mutate=(), producer=24)


def _skipped(d: Draw) -> Program:
    p = Program(differentiate=False)
    state = p.op("VarHandleOp", dtype="int64", shape=(3,), shared_name="")
    p.run(p.op("AssignVariableOp", state, d.rng.integers(-1000, 1000, 3)))
    p.run(p.op("RngSkip", state, np.int64(1), np.int64(d.integer(0, 1 << 40))))
    p.run(p.op("ReadVariableOp", state, dtype="int64"))
    return p


spec("RngSkip", _skipped, types=(), gradient=False, mutate=())
