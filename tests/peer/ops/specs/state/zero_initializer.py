"""Specs of ZeroInitializer, ZeroVarInitializer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.contrib_ops import alone_spec

# --- state, sound, video -----------------------------------------------------------


def _zeros_for(d: Draw) -> Program:
    p = Program(differentiate=False)
    if d.op == "ZeroInitializer":
        held = p.op("VariableV2", shape=[2, 3], dtype=d.dtype)
        p.run(p.op("Identity", p.op(d.op, held)))
        p.run(p.op("Identity", held))
        return p
    name = f"{d.op}{d.cell}{d.example}"
    handle = p.op("VarHandleOp", dtype=d.dtype, shape=[2], shared_name=name)
    made = p.op(d.op, handle, dtype=d.dtype, shape=[2])
    p.run(p.op("ReadVariableOp", made, dtype=d.dtype))
    p.run(p.op("ReadVariableOp", handle, dtype=d.dtype))
    p.run(p.op("DestroyResourceOp", handle))  # other variants have one of that name
    return p


def _twice(d: Draw) -> Program:
    p = _zeros_for(d)
    p.steps.insert(1, p.steps[0])
    return p


_ZEROED = ["float16", "float32", "float64", "int32", "int64", "uint8", "int8", "int16"]


alone_spec("ZeroInitializer", _zeros_for, types=_ZEROED, bad=(_twice,))


alone_spec("ZeroVarInitializer", _zeros_for, attr="dtype", types=_ZEROED, bad=(_twice,))
