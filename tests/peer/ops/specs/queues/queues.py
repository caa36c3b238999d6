"""Specs of FIFOQueue, FIFOQueueV2, PaddingFIFOQueue, PaddingFIFOQueueV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- queues ---------------------------------------------------------------------


def make_queue(d: Draw, p: Program, kind: str) -> Node:
    types = [d.dtype, "int32"]
    if kind.startswith("PriorityQueue"):
        return p.op(kind, component_types=[d.dtype], shapes=[(2,)], capacity=10)
    attrs: dict[str, Any] = {
        "component_types": types,
        "shapes": [(2,), ()],
        "capacity": 10,
    }
    if kind.startswith("PaddingFIFOQueue"):
        attrs["shapes"] = [(None,), ()]
    if kind.startswith("RandomShuffleQueue"):
        attrs |= {"min_after_dequeue": 0, "seed": 3, "seed2": 5}
    return p.op(kind, **attrs)


def queue(d: Draw, kind: str) -> Program:
    p = Program(differentiate=False)
    # The ops of the first version have handles that are references to strings.
    v = "V2" if d.op.endswith("V2") else ""
    q = make_queue(d, p, kind if v else kind.removesuffix("V2"))
    one = [p.feed(d.array((2,))), p.feed(np.int32(7))]
    many = [p.feed(d.array((3, 2))), p.feed(np.arange(3, dtype=np.int32))]
    types = [d.dtype, "int32"]
    if kind == "PriorityQueueV2":
        one = [p.feed(np.int64(2)), one[0]]
        many = [p.feed(np.array([3, 1, 2], np.int64)), many[0]]
        types = ["int64", d.dtype]
    put = p.op("QueueEnqueue" + v, q, one)
    put_many = p.op("QueueEnqueueMany" + v, q, many)
    size = p.op("QueueSize" + v, q)
    closed = p.op("QueueIsClosedV2", q) if v else size
    get = p.op("QueueDequeue" + v, q, component_types=types)
    get_many = p.op(
        "QueueDequeueMany" + v, q, p.const(2, "int32"), component_types=types
    )
    get_up_to = p.op(
        "QueueDequeueUpTo" + v, q, p.const(4, "int32"), component_types=types
    )
    close = p.op("QueueClose" + v, q)
    p.run(put)
    p.run(put_many)
    p.run(size, closed)
    p.run(get)
    p.run(get_many)
    p.run(put)
    p.run(close)
    p.run(size, closed)
    if kind != "PriorityQueueV2":  # which loses elements when it has too few of them
        p.run(get_up_to)
    p.run(put)
    return p


QUEUED = ["float32", "int64", "bool", "string", "complex64"]


spec(
    "FIFOQueueV2 QueueEnqueueV2 QueueEnqueueManyV2 QueueDequeueV2 "
    "QueueDequeueManyV2 QueueDequeueUpToV2"
    " QueueSizeV2 QueueCloseV2 QueueIsClosedV2",
    lambda d: queue(d, "FIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "PaddingFIFOQueueV2",
    lambda d: queue(d, "PaddingFIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "PriorityQueueV2",
    lambda d: queue(d, "PriorityQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "FIFOQueue QueueEnqueue QueueEnqueueMany QueueDequeue QueueDequeueMany "
    "QueueDequeueUpTo QueueSize QueueClose",
    lambda d: queue(d, "FIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "PaddingFIFOQueue",
    lambda d: queue(d, "PaddingFIFOQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


spec(
    "PriorityQueue",
    lambda d: queue(d, "PriorityQueueV2"),
    types=QUEUED,
    mutate=("dtype",),
)


def set_of_values(arrays: list[Any]) -> list[Any]:
    """The order in which a shuffling queue gives its elements is its own."""
    return [np.sort(np.ravel(array)) for array in arrays] if len(arrays) == 1 else []


def shuffle_queue(d: Draw) -> Program:
    p = Program(differentiate=False)
    q = p.op(
        "RandomShuffleQueueV2",
        component_types=[d.dtype],
        shapes=[()],
        capacity=10,
        seed=3,
        seed2=5,
    )
    p.run(p.op("QueueEnqueueManyV2", q, [p.feed(d.array((6,)))]))
    p.run(p.op("QueueSizeV2", q))
    p.run(p.op("QueueDequeueManyV2", q, p.const(6, "int32"), component_types=[d.dtype]))
    return p


spec(
    "RandomShuffleQueueV2",
    shuffle_queue,
    types=QUEUED[:4],
    mutate=("dtype",),
    canonical=set_of_values,
)
