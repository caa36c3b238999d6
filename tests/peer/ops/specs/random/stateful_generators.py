"""Specs of StatefulStandardNormalV2, StatefulTruncatedNormal, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import Tolerance, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.floats import FLOATS

# --- generators with a state --------------------------------------------------------


def stateful(d: Draw) -> Program:
    p = Program(differentiate=False)
    v = p.op("VarHandleOp", dtype="int64", shape=(3,), shared_name="")
    p.run(p.op("AssignVariableOp", v, d.rng.integers(-1000, 1000, 3)))
    shape = np.array(d.shape(0, 2), np.int64)
    if d.op == "StatefulUniformInt":
        kind = d.dtype.np_dtype.type
        draw = p.op(d.op, v, np.int64(1), p.feed(shape, const=True), kind(-3), kind(40))
    elif d.op == "StatefulStandardNormal":
        draw = p.op(d.op, v, p.feed(shape, const=True), dtype=d.dtype)
    else:
        draw = p.op(d.op, v, np.int64(1), p.feed(shape, const=True), dtype=d.dtype)
    p.run(draw)
    p.run(p.op("RngSkip", v, np.int64(1), np.int64(3)))
    p.run(p.op("ReadVariableOp", v, dtype="int64"))
    p.run(draw)
    return p


EXACT = Tolerance(1e-6, 1e-7)


spec(
    "StatefulUniform StatefulStandardNormalV2 StatefulTruncatedNormal",
    stateful,
    attr="dtype",
    types=FLOATS,
    gradient=False,
    mutate=(),
    tolerance=EXACT,
)


spec(
    "StatefulUniformFullInt",
    stateful,
    attr="dtype",
    types=["int32", "int64", "uint32", "uint64"],
    gradient=False,
    mutate=(),
)


spec(
    "StatefulUniformInt",
    stateful,
    attr="dtype",
    types=["int32", "int64"],
    gradient=False,
    mutate=(),
)
