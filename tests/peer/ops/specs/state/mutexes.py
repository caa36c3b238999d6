"""Specs of ConsumeMutexLock, MutexLock, MutexV2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- session ------------------------------------------------------------------------


def mutex(d: Draw) -> Program:
    p = Program(differentiate=False)
    m = p.op("MutexV2")
    for _ in range(2):
        p.run(p.op("ConsumeMutexLock", p.op("MutexLock", m)))
    return p


spec("MutexV2 MutexLock ConsumeMutexLock", mutex, types=(), gradient=False, mutate=())
