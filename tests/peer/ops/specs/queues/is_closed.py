"""Specs of QueueIsClosed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _closed(d: Draw) -> Program:
    p = Program(differentiate=False)
    queue = p.op("FIFOQueue", component_types=["float32"], shapes=[()], shared_name="")
    asked = p.op("QueueIsClosed", queue)
    p.run(asked)
    p.run(p.op("QueueClose", queue))
    p.run(asked)
    return p


spec("QueueIsClosed", _closed, types=(), gradient=False, mutate=(), alone=True)
