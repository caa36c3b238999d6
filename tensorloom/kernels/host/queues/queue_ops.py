"""The kernels of queues: from tensors to elements and back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import container_of
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.queues.queue_resource import (
    Element,
    FIFOQueue,
    PaddingFIFOQueue,
    PriorityQueue,
    Queue,
    RandomShuffleQueue,
)
from tensorloom.kernels.torch.state.variable_value import format_shape, owned_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.registry.op_kernel import (
        Compute,
        OpKernelConstruction,
        OpKernelContext,
    )

# Numbers the queues that are not shared, as they are named in errors.
_next_private = itertools.count()

# --- making queues -------------------------------------------------------------------


def _queue_factory(c: OpKernelConstruction, kind: type[Queue], **extra: Any) -> Compute:
    assert c.resources is not None
    resources = c.resources
    shared = (c["shared_name"] or b"").decode()
    container = container_of(c["container"])
    types, shapes, capacity = _signature(c, kind)
    key = shared or resources.own_name(c.node_name)

    def make() -> Queue:
        # A private queue is found by its node's name and shown with a number.
        name = shared or f"_{next(_next_private)}_{c.node_name}"
        return kind(container, name, types, shapes, capacity, **extra)

    def compute() -> Queue:
        # Queues of all kinds share their names.
        found: Queue = resources.lookup_or_create(container, key, Queue, make)
        _check_kind(found, kind, shared)
        _check_same(found, types, shapes, capacity, shared)
        if isinstance(found, RandomShuffleQueue):
            _check_same_shuffling(found, shared, **extra)
        return found

    return compute


def _signature(
    c: OpKernelConstruction, kind: type[Queue]
) -> tuple[list[Any], list[TensorShape] | None, int]:
    types = list(c["component_types"])
    shapes = list(c["shapes"]) or None
    if kind is PriorityQueue:
        types = [dtypes.int64, *types]
        shapes = [TensorShape.of(()), *shapes] if shapes else None
        if len(types) == 1:
            shapes = [TensorShape.of(())]
    return types, shapes, c["capacity"]


def _check_kind(queue: Queue, kind: type[Queue], shared: str) -> None:
    if type(queue) is not kind:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shared queue '{shared}' has type '{queue.kind}' that does not match type "
            f"of Node '{kind.kind}'",
        )


def _check_same_shuffling(
    queue: RandomShuffleQueue,
    shared: str,
    min_after_dequeue: int,
    seed: int,
    seed2: int,
) -> None:
    if queue.min_after_dequeue != min_after_dequeue:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shared queue '{shared}' has min_after_dequeue {queue.min_after_dequeue} "
            f"but requested min_after_dequeue was {min_after_dequeue}.",
        )
    # Who names no seeds takes any.
    if (seed or seed2) and queue.seeds != (seed, seed2):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shared queue '{shared}' has random seeds {queue.seeds} but requested "
            f"seeds are {(seed, seed2)}.",
        )


def _check_same(
    queue: Queue,
    types: Sequence[Any],
    shapes: Sequence[TensorShape] | None,
    capacity: int,
    shared: str,
) -> None:
    for what, found, wanted in (
        ("capacity", queue.capacity, capacity),
        ("component types", queue.types, types),
        ("component shapes", queue.shapes, shapes),
    ):
        if _comparable(found) != _comparable(wanted):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Shared queue '{shared}' has {what} {found} but requested {what} "
                f"was {wanted}"
                if what == "capacity"
                else f"Shared queue '{shared}' has {what} {found} but requested {what} "
                f"were {wanted}",
            )


def _comparable(value: Any) -> Any:
    """What is equal when it is the same: shapes with unknown sizes never are."""
    if isinstance(value, Sequence):
        return [getattr(item, "dims_tuple", item) for item in value]
    return value


@host_kernel(["FIFOQueue", "FIFOQueueV2"], large=True)
def fifo_queue(c: OpKernelConstruction) -> Compute:
    """The queue of this node, or of its shared name."""
    return _queue_factory(c, FIFOQueue)


@host_kernel(["PaddingFIFOQueue", "PaddingFIFOQueueV2"], large=True)
def padding_fifo_queue(c: OpKernelConstruction) -> Compute:
    """The queue of this node, or of its shared name."""
    return _queue_factory(c, PaddingFIFOQueue)


@host_kernel(["PriorityQueue", "PriorityQueueV2"], large=True)
def priority_queue(c: OpKernelConstruction) -> Compute:
    """The queue of this node, or of its shared name."""
    return _queue_factory(c, PriorityQueue)


@host_kernel(["RandomShuffleQueue", "RandomShuffleQueueV2"], large=True)
def random_shuffle_queue(c: OpKernelConstruction) -> Compute:
    """The queue of this node, or of its shared name."""
    minimum, capacity = c["min_after_dequeue"], c["capacity"]
    if minimum < 0:
        raise errors.InvalidArgumentError(
            None, None, f"min_after_dequeue {minimum} must be >= 0"
        )
    if 0 <= capacity <= minimum:
        raise errors.InvalidArgumentError(
            None, None, f"min_after_dequeue {minimum} must be < capacity {capacity}"
        )
    return _queue_factory(
        c,
        RandomShuffleQueue,
        min_after_dequeue=minimum,
        seed=c["seed"],
        seed2=c["seed2"],
    )


@host_kernel("FakeQueue", large=True)
def fake_queue(c: OpKernelConstruction) -> Compute:
    """The queue itself: a reference at run time is the resource."""
    return lambda queue: queue


# --- enqueue -------------------------------------------------------------------------


@host_kernel(
    ["QueueEnqueue", "QueueEnqueueV2"],
    context=True,
    blocking=True,
    retains=("components",),
    large=True,
)
def enqueue(c: OpKernelConstruction) -> Compute:
    """Adds one element."""

    def compute(context: OpKernelContext, queue: Queue, *components: Any) -> None:
        _check_types(queue, c.input_types[1:])
        for i, component in enumerate(components):
            _check_shape(queue, i, component.shape, ())
        queue.enqueue(
            [tuple([owned_array(x) for x in components])], context, c.node_name
        )

    return compute


@host_kernel(
    ["QueueEnqueueMany", "QueueEnqueueManyV2"],
    context=True,
    blocking=True,
    retains=("components",),
    large=True,
)
def enqueue_many(c: OpKernelConstruction) -> Compute:
    """Adds the slices of the components, one element each."""

    def compute(context: OpKernelContext, queue: Queue, *components: Any) -> None:
        _check_types(queue, c.input_types[1:])
        if not components[0].ndim:
            raise errors.InvalidArgumentError(
                None, None, "Enqueue many needs components with a dimension 0"
            )
        count = components[0].shape[0]
        for i, component in enumerate(components):
            _check_shape(queue, i, component.shape, (count,))
        columns = [_slices(owned_array(component)) for component in components]
        elements: list[Element] = list(zip(*columns, strict=True))
        if elements:
            queue.enqueue(elements, context, c.node_name)

    return compute


def _slices(component: np.ndarray[Any, Any]) -> Any:
    """The slices along dimension 0; those of strings stay arrays."""
    if component.dtype == object and component.ndim == 1:
        return [component[i : i + 1].reshape(()) for i in range(len(component))]
    return component


def _check_types(queue: Queue, types: Sequence[Any]) -> None:
    if len(types) != len(queue.types):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Wrong number of components in tuple. Expected "
            f"{len(queue.types)}, got {len(types)}",
        )
    for i, (wanted, found) in enumerate(zip(queue.types, types, strict=True)):
        if wanted.base_dtype != found.base_dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Type mismatch in tuple component {i}. Expected {wanted.name}, "
                f"got {found.name}",
            )


def _check_shape(
    queue: Queue, index: int, shape: tuple[int, ...], outer: tuple[int, ...]
) -> None:
    fits = shape[: len(outer)] == outer
    expected: Any = outer
    if queue.shapes is not None:
        dims = queue.shapes[index].dims_tuple
        if dims is not None:
            expected = (*outer, *dims)
            fits = len(shape) == len(expected) and all(
                want is None or want == size
                for want, size in zip(expected, shape, strict=True)
            )
    if not fits:
        text = ",".join("?" if d is None else str(d) for d in expected)
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Shape mismatch in tuple component {index}. Expected [{text}], got "
            f"{format_shape(shape)}",
        )


# --- dequeue -------------------------------------------------------------------------


@host_kernel(
    ["QueueDequeue", "QueueDequeueV2"], context=True, blocking=True, large=True
)
def dequeue(c: OpKernelConstruction) -> Compute:
    """Takes one element."""

    def compute(context: OpKernelContext, queue: Queue) -> Element:
        _check_types(queue, c.output_types)
        (element,) = queue.dequeue(1, False, context, c.node_name)
        return element

    return compute


@host_kernel(
    [
        "QueueDequeueMany",
        "QueueDequeueManyV2",
        "QueueDequeueUpTo",
        "QueueDequeueUpToV2",
    ],
    context=True,
    blocking=True,
    large=True,
)
def dequeue_many(c: OpKernelConstruction) -> Compute:
    """Takes several elements and stacks their components."""
    allow_fewer = c.op.startswith("QueueDequeueUpTo")
    op_name = "DequeueUpToOp" if allow_fewer else "DequeueManyOp"

    def compute(context: OpKernelContext, queue: Queue, n: Any) -> tuple[Any, ...]:
        count = int(n)
        if count < 0:
            raise errors.InvalidArgumentError(
                None, None, f"{op_name} requested {count} < 0 elements"
            )
        _check_types(queue, c.output_types)
        if queue.shapes is None or any(s.dims_tuple is None for s in queue.shapes):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to "
                "have specified shapes.",
            )
        taken = queue.dequeue(count, allow_fewer, context, c.node_name) if count else []
        return tuple(
            _stack([element[i] for element in taken], queue, i)
            for i in range(len(queue.types))
        )

    return compute


def _stack(values: list[Any], queue: Queue, index: int) -> np.ndarray[Any, Any]:
    assert queue.shapes is not None
    dtype = queue.types[index].as_numpy_dtype
    dims: Any = queue.shapes[index].dims_tuple
    if not values:
        return np.empty((0, *(d or 0 for d in dims)), dtype)
    if None not in dims:
        return np.stack(values)
    sizes = tuple(max(v.shape[i] for v in values) for i in range(len(dims)))
    fill: Any = b"" if dtype is object or dtype == np.object_ else 0
    stacked = np.full((len(values), *sizes), fill, dtype)
    for row, value in zip(stacked, values, strict=True):
        row[tuple(slice(size) for size in value.shape)] = value
    return stacked


# --- state ---------------------------------------------------------------------------


@host_kernel(["QueueClose", "QueueCloseV2"], context=True, blocking=True, large=True)
def close(c: OpKernelConstruction) -> Compute:
    """Closes the queue, after the enqueues in line or cancelling them."""
    cancel = c["cancel_pending_enqueues"]
    run: Callable[[OpKernelContext, Queue], None] = lambda context, queue: (
        queue.close_queue(cancel, context, c.node_name)
    )
    return run


@host_kernel(["QueueIsClosed", "QueueIsClosedV2"], large=True)
def is_closed(c: OpKernelConstruction) -> Compute:
    """Whether the queue is closed."""
    return lambda queue: np.bool_(queue.closed)


@host_kernel(["QueueSize", "QueueSizeV2"], large=True)
def size(c: OpKernelConstruction) -> Compute:
    """The number of elements."""
    return lambda queue: np.int32(queue.size())
