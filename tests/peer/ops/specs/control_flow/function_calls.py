"""Specs of For, RemoteCall, SymbolicGradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.text import bytes_of

# --- functions ---------------------------------------------------------------


def _symbolic(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function(
        [d.dtype, d.dtype], lambda f, x, y: [f.op("Mul", f.op("Mul", x, x), y)]
    )
    given = [p.feed(d.array((2,))) for _ in range(3)]
    p.run(p.op("SymbolicGradient", given, Tout=[d.dtype, d.dtype], f=body))
    return p


spec(
    "SymbolicGradient", _symbolic, types=["float32", "float64", "complex64"], mutate=()
)


def _remote(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function([d.dtype], lambda f, x: [f.op("AddV2", x, x)], name="double")
    target = p.const(bytes_of("/job:localhost/replica:0/task:0/device:CPU:0"))
    p.run(p.op("RemoteCall", target, [p.feed(d.array((2,)))], Tout=[d.dtype], f=body))
    return p


spec("RemoteCall", _remote, types=["float32", "int32"], mutate=())


def _for(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function(
        ["int32", d.dtype], lambda f, i, x: [f.op("AddV2", x, x)], name="for_body"
    )
    bounds = [p.feed(np.int32(n)) for n in (0, d.integer(0, 6), d.choice((1, 2)))]
    p.run(p.op("For", *bounds, [p.feed(d.array((2,)))], body=body))
    return p


spec("For", _for, types=["float32", "int32"], mutate=())
