"""Specs of RefEnter, RefExit, RefMerge, RefSelect, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.references_and_counts import referenced

spec(
    "RefSwitch RefSelect RefMerge",
    referenced,
    types=["float32", "int32", "complex64"],
    mutate=(),
)


def _in_frame(d: Draw) -> Program:
    from tests.peer.ops.specs.shared.updates import ref_variable

    p = Program(differentiate=False)
    a, init = ref_variable(p, d.array((2,)))
    entered = p.op("RefEnter", a, frame_name=f"{d.op}{d.cell}{d.example}")
    p.run(init)
    p.run(p.op("Identity", p.op("RefExit", entered)))
    return p


spec("RefEnter RefExit", _in_frame, types=["float32", "int32"], mutate=())
