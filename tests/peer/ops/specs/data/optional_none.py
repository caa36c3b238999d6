"""Specs of OptionalNone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _nothing(d: Draw) -> Program:
    p = Program(differentiate=False)
    p.run(p.op("OptionalHasValue", p.op("OptionalNone")))
    return p


spec("OptionalNone", _nothing, types=(), gradient=False, mutate=())
