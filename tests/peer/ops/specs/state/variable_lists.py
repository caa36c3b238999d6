"""Specs of _ReadVariablesOp, _VarHandlesOp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _variables(d: Draw) -> Program:
    p = Program()
    handles = p.op(
        "_VarHandlesOp",
        N=2,
        containers=["", ""],
        shared_names=["one", "two"],
        dtypes=[d.dtype, "int32"],
        shapes=[(3,), (2, 1)],
    )
    first = p.op("AssignVariableOp", handles[0], d.array((3,)), dtype=d.dtype)
    second = p.op("AssignVariableOp", handles[1], d.array((2, 1), "int32"))
    read = p.op("_ReadVariablesOp", [handles[0], handles[1]], dtypes=[d.dtype, "int32"])
    p.run(first)
    p.run(second)
    p.run(read)
    p.run(first)
    p.run(read)
    return p


spec("_ReadVariablesOp _VarHandlesOp", _variables, types=["float32"], gradient=False)
