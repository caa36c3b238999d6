"""Queues: the ops, and their shape functions. The classes are in `client/queues.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.op_registry import register_op
from tensorloom.framework.shape_inference import no_outputs, scalar_shape
from tensorloom.framework.tensor_shape import UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext

_COMPONENTS = ("component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []")
_PLACE = ("container: string = ''", "shared_name: string = ''")


def _dequeue_shapes(c: InferenceContext) -> list[TensorShape]:
    return [UNKNOWN] * c.num_outputs


# --- the queues ----------------------------------------------------------------

register_op(
    "FIFOQueueV2",
    outputs=["handle: resource"],
    attrs=[*_COMPONENTS, "capacity: int = -1", *_PLACE],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A queue of tuples of tensors, first in, first out.",
)
register_op(
    "RandomShuffleQueueV2",
    outputs=["handle: resource"],
    attrs=[
        *_COMPONENTS,
        "capacity: int = -1",
        "min_after_dequeue: int = 0",
        "seed: int = 0",
        "seed2: int = 0",
        *_PLACE,
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A queue that gives its elements in random order.",
)
register_op(
    "PaddingFIFOQueueV2",
    outputs=["handle: resource"],
    attrs=[*_COMPONENTS, "capacity: int = -1", *_PLACE],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A FIFO queue whose dequeue_many pads elements to a common shape.",
)
register_op(
    "PriorityQueueV2",
    outputs=["handle: resource"],
    attrs=[
        "component_types: list(type) >= 0 = []",
        "shapes: list(shape) >= 0",
        "capacity: int = -1",
        *_PLACE,
    ],
    shape_fn=scalar_shape,
    stateful=True,
    doc="A queue ordered by its first component, an int64; smallest first.",
)

# --- what one does with them -----------------------------------------------------

for _name, _doc in (
    ("QueueEnqueueV2", "Adds one tuple of tensors; waits while the queue is full."),
    ("QueueEnqueueManyV2", "Adds the slices along dimension 0, one tuple each."),
):
    register_op(
        _name,
        inputs=["handle: resource", "components: Tcomponents"],
        attrs=["Tcomponents: list(type) >= 1", "timeout_ms: int = -1"],
        shape_fn=no_outputs,
        stateful=True,
        doc=_doc,
    )
register_op(
    "QueueDequeueV2",
    inputs=["handle: resource"],
    outputs=["components: component_types"],
    attrs=["component_types: list(type) >= 1", "timeout_ms: int = -1"],
    shape_fn=_dequeue_shapes,
    stateful=True,
    doc="Takes one tuple of tensors; waits while the queue is empty.",
)


def _dequeue_many_shapes(c: InferenceContext) -> Any:
    n = c.input_value(1)
    if n is not None and n < 0:
        c.fail(f"Input 'n' must be >= 0, but is {int(n)}")
    return _dequeue_shapes(c)


for _name, _doc in (
    ("QueueDequeueManyV2", "Takes n tuples and stacks them along a new dimension 0."),
    ("QueueDequeueUpToV2", "As DequeueMany, with fewer when the queue is closed."),
):
    register_op(
        _name,
        inputs=["handle: resource", "n: int32"],
        outputs=["components: component_types"],
        attrs=["component_types: list(type) >= 1", "timeout_ms: int = -1"],
        shape_fn=_dequeue_many_shapes,
        stateful=True,
        doc=_doc,
    )
register_op(
    "QueueCloseV2",
    inputs=["handle: resource"],
    attrs=["cancel_pending_enqueues: bool = false"],
    shape_fn=no_outputs,
    stateful=True,
    doc="Says that nothing more will be enqueued.",
)
register_op(
    "QueueIsClosedV2",
    inputs=["handle: resource"],
    outputs=["is_closed: bool"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="True after the queue was closed.",
)
register_op(
    "QueueSizeV2",
    inputs=["handle: resource"],
    outputs=["size: int32"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Number of elements in the queue.",
)
