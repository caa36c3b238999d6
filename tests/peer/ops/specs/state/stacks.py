"""Specs of Stack, StackClose, StackCloseV2, StackPop, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- stacks ---------------------------------------------------------------------


def stack(d: Draw) -> Program:
    p = Program(differentiate=False)
    v = "V2" if d.op.endswith("V2") else ""
    size = [p.const(-1, "int32")] if v else []
    s = p.op("Stack" + v, *size, elem_type=d.dtype)
    a = p.op("StackPush" + v, s, d.array((2,)))
    b = p.op("StackPush" + v, s, d.array((3,)), control=[a])
    x = p.op("StackPop" + v, s, control=[b], elem_type=d.dtype)
    y = p.op("StackPop" + v, s, control=[x], elem_type=d.dtype)
    close = p.op("StackClose" + v, s, control=[y])
    p.run(x, y, close)
    return p


def empty_stack(d: Draw) -> Program:
    p = Program(differentiate=False)
    s = p.op("StackV2", p.const(-1, "int32"), elem_type=d.dtype)
    p.run(p.op("StackPopV2", s, elem_type=d.dtype))
    return p


spec(
    "StackV2 StackPushV2 StackPopV2 StackCloseV2",
    stack,
    types=["float32", "int32", "string", "bool"],
    bad=(empty_stack,),
    mutate=(),
)


spec(
    "Stack StackPush StackPop StackClose",
    stack,
    types=["float32", "int32", "string", "bool"],
    mutate=(),
)
