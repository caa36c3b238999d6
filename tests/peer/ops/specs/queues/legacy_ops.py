"""Specs of FakeQueue, RandomShuffleQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Program
from tests.peer.ops.specs.queues.queues import set_of_values
from tests.peer.ops.specs.shared.readers import alone_spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_NUMBERS = process_count()


def _old_queue(d: Draw) -> Program:
    p = Program(differentiate=False)
    types = {"component_types": [d.dtype], "shapes": [()], "capacity": 10}
    if d.op == "FakeQueue":
        inner = p.op("FIFOQueueV2", shared_name=f"queue{next(_NUMBERS)}", **types)
        queue = p.op(d.op, inner)
    else:
        queue = p.op(d.op, seed=3, seed2=5, **types)
    many = p.feed(d.array((6,)))
    p.run(p.op("QueueEnqueueMany", queue, [many]))
    p.run(p.op("QueueSize", queue))
    six = p.const(6, "int32")
    p.run(p.op("QueueDequeueMany", queue, six, component_types=[d.dtype]))
    return p


for _op, _canonical in (("RandomShuffleQueue", set_of_values), ("FakeQueue", None)):
    alone_spec(
        _op,
        _old_queue,
        attr="component_types",
        types=["float32", "int64", "string"],
        canonical=_canonical,
    )
