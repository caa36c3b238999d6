"""Specs of StatsAggregatorSetSummaryWriter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.program import Program

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.event_files import NUMBERS, alone_spec, closed, opened


def _statistics(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    handle = p.op("StatsAggregatorHandleV2", shared_name=f"s{next(NUMBERS)}")
    p.run(p.op(d.op, handle, writer))
    return closed(p, writer, folder)


def _wrong_statistics(d: Draw) -> Program:
    p = Program(differentiate=False)
    writer, folder = opened(p)
    handle = p.op("StatsAggregatorHandle", shared_name=f"s{next(NUMBERS)}")
    p.run(p.op(d.op, handle, writer))
    return closed(p, writer, folder)


alone_spec("StatsAggregatorSetSummaryWriter", _statistics, bad=(_wrong_statistics,))
