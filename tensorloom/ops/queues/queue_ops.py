"""Queues: the ops, and their shape functions. Classes: `client/queues/queues.py`.

Every op is there for resource handles (V2) and for the string references of older
graphs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import no_outputs, scalar_shape
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import ShapeFn
    from tensorloom.framework.registry.shape_inference import InferenceContext

_COMPONENTS = ("component_types: list(type) >= 1", "shapes: list(shape) >= 0 = []")
_PLACE = ("container: string = ''", "shared_name: string = ''")


def _dequeue_shapes(c: InferenceContext) -> list[TensorShape]:
    return [UNKNOWN] * c.num_outputs


def _dequeue_many_shapes(c: InferenceContext) -> Any:
    # TensorFlow looks at the number of DequeueUpTo when the op runs.
    n = None if c.op_name.startswith("QueueDequeueUpTo") else c.input_value(1)
    if n is not None and n < 0:
        c.fail(f"Input 'n' must be >= 0, but is {int(n)}")
    return _dequeue_shapes(c)


def _handle_shape(c: InferenceContext) -> TensorShape:
    # A reference is a pair of strings: container and name.
    return SCALAR if c.op_name.endswith("V2") else TensorShape.of((2,))


def _register_queue(op: str, attrs: tuple[str, ...], doc: str) -> None:
    for suffix, kind in (("", "Ref(string)"), ("V2", "resource")):
        register_op(
            op + suffix,
            outputs=[f"handle: {kind}"],
            attrs=[*attrs, *_PLACE],
            shape_fn=_handle_shape,
            stateful=True,
            doc=doc,
        )


def _register_use(
    op: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    attrs: tuple[str, ...],
    shape_fn: ShapeFn,
    doc: str,
) -> None:
    for suffix, kind in (("", "Ref(string)"), ("V2", "resource")):
        register_op(
            op + suffix,
            inputs=[f"handle: {kind}", *inputs],
            outputs=[*outputs],
            attrs=[*attrs],
            shape_fn=shape_fn,
            gradient=None if suffix or op == "QueueIsClosed" else NOT_DIFFERENTIABLE,
            stateful=suffix == "V2",
            doc=doc,
        )


# --- the queues ----------------------------------------------------------------

_register_queue(
    "FIFOQueue",
    (*_COMPONENTS, "capacity: int = -1"),
    "A queue of tuples of tensors, first in, first out.",
)
_register_queue(
    "RandomShuffleQueue",
    (
        *_COMPONENTS,
        "capacity: int = -1",
        "min_after_dequeue: int = 0",
        "seed: int = 0",
        "seed2: int = 0",
    ),
    "A queue that gives its elements in random order.",
)
_register_queue(
    "PaddingFIFOQueue",
    (*_COMPONENTS, "capacity: int = -1"),
    "A FIFO queue whose dequeue_many pads elements to a common shape.",
)
_register_queue(
    "PriorityQueue",
    (
        "component_types: list(type) >= 0 = []",
        "shapes: list(shape) >= 0",
        "capacity: int = -1",
    ),
    "A queue ordered by its first component, an int64; smallest first.",
)
register_op(
    "FakeQueue",
    inputs=["resource: resource"],
    outputs=["handle: Ref(string)"],
    shape_fn=_handle_shape,
    stateful=True,
    doc="The reference of a queue whose resource handle is given.",
)

# --- what one does with them -----------------------------------------------------

_TIMEOUT = "timeout_ms: int = -1"

for _name, _doc in (
    ("QueueEnqueue", "Adds one tuple of tensors; waits while the queue is full."),
    ("QueueEnqueueMany", "Adds the slices along dimension 0, one tuple each."),
):
    _register_use(
        _name,
        ("components: Tcomponents",),
        (),
        ("Tcomponents: list(type) >= 1", _TIMEOUT),
        no_outputs,
        _doc,
    )
_register_use(
    "QueueDequeue",
    (),
    ("components: component_types",),
    ("component_types: list(type) >= 1", _TIMEOUT),
    _dequeue_shapes,
    "Takes one tuple of tensors; waits while the queue is empty.",
)
for _name, _doc in (
    ("QueueDequeueMany", "Takes n tuples and stacks them along a new dimension 0."),
    ("QueueDequeueUpTo", "As DequeueMany, with fewer when the queue is closed."),
):
    _register_use(
        _name,
        ("n: int32",),
        ("components: component_types",),
        ("component_types: list(type) >= 1", _TIMEOUT),
        _dequeue_many_shapes,
        _doc,
    )
_register_use(
    "QueueClose",
    (),
    (),
    ("cancel_pending_enqueues: bool = false",),
    no_outputs,
    "Says that nothing more will be enqueued.",
)
_register_use(
    "QueueIsClosed",
    (),
    ("is_closed: bool",),
    (),
    scalar_shape,
    "True after the queue was closed.",
)
_register_use(
    "QueueSize",
    (),
    ("size: int32",),
    (),
    scalar_shape,
    "Number of elements in the queue.",
)
