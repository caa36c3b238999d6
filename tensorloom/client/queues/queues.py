"""`tf.FIFOQueue` and its kin: how a program holds a queue."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime import random_seed
from tensorloom.framework.types import constant_value, dtypes
from tensorloom.framework.types.dimension import Dimension
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation
    from tensorloom.framework.types.dtypes import DType


def component_types(types: Any) -> list[DType]:
    """The dtypes of the components, from one dtype or several."""
    if not isinstance(types, list | tuple):
        types = [types]
    return [dtypes.as_dtype(t) for t in types]


def component_shapes(shapes: Any, partial: bool = False) -> list[TensorShape] | None:
    """The shapes of the components, checked as TensorFlow checks them."""
    if partial and (
        not isinstance(shapes, Sequence)
        or not shapes
        or any(shape is None or isinstance(shape, int) for shape in shapes)
    ):
        raise ValueError(
            "When providing partial shapes, a list of shapes must be provided."
        )
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, tuple | list):
        raise TypeError(
            "shapes must be a TensorShape or a list or tuple of TensorShapes."
        )
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]  # one shape was given
    shapes = [as_shape(shape) for shape in shapes]
    if not partial and any(not shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(shape.rank is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return list(shapes)


def _name_list(names: Any, types: list[DType]) -> list[str] | None:
    if names is None:
        return None
    if not isinstance(names, list | tuple):
        names = [names]
    if len(names) != len(types):
        raise ValueError(
            "List of names must have the same length as the list of dtypes"
        )
    return list(names)


def _common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    if a.rank is None or b.rank is None or a.rank != b.rank:
        return TensorShape.of(None)
    pairs = zip(a.as_list(), b.as_list(), strict=True)
    return TensorShape.of(tuple(x if x == y else None for x, y in pairs))


@export("queue.QueueBase", "io.QueueBase", "QueueBase")
class QueueBase:
    """A queue of tuples of tensors, shared by the steps of a session.

    Args:
      dtypes: of the components.
      shapes: of the components, or None.
      names: of the components, or None; with names, elements are dicts.
      queue_ref: the handle.

    Raises:
      ValueError: the lists differ in length.
    """

    def __init__(
        self,
        dtypes: list[DType],
        shapes: list[TensorShape] | None,
        names: list[str] | None,
        queue_ref: Tensor,
    ) -> None:
        self._dtypes = dtypes
        if shapes is None:
            self._shapes = [TensorShape.of(None)] * len(dtypes)
        else:
            if len(shapes) != len(dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes")
            self._shapes = [as_shape(shape) for shape in shapes]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: list[QueueBase]) -> QueueBase:
        """The queue `queues[index]`, chosen when it runs.

        Raises:
          TypeError: `queues` is not a list of queues with the same components.
        """
        if (
            not queues
            or not isinstance(queues, list)
            or not all(isinstance(x, QueueBase) for x in queues)
        ):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(first.dtypes != queue.dtypes for queue in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(first.names != queue.names for queue in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        shapes = [
            functools.reduce(_common_shape, column)
            for column in zip(*(queue.shapes for queue in queues), strict=True)
        ]
        handles = array_ops.stack([queue.queue_ref for queue in queues])
        chosen = array_ops.gather(handles, index)
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        """The handle."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the operation that makes the queue."""
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The static shapes of the components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The names of the components, or None."""
        return self._names

    # --- adding ----------------------------------------------------------------------

    def _components(self, vals: Any) -> list[Tensor]:
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  "
                    f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            vals = [vals[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if not isinstance(vals, list | tuple):
                vals = [vals]
        return [
            convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(vals, self._dtypes, strict=False))
        ]

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that adds one element: a tensor, a list or a dict of tensors.

        It waits while the queue is full. When run it raises CancelledError if the
        queue is closed.

        Raises:
          ValueError: the components do not fit the queue.
        """
        with name_scope(name, f"{self._name}_enqueue", _values(vals)) as scope:
            components = self._components(vals)
            for value, shape in zip(components, self._shapes, strict=False):
                value.get_shape().assert_is_compatible_with(shape)
            op: Operation = apply_op(
                "QueueEnqueueV2",
                handle=self._queue_ref,
                components=components,
                name=scope,
            )
            return op

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """An operation that adds the slices of `vals` along dimension 0.

        Raises:
          ValueError: the components do not fit the queue or each other.
        """
        with name_scope(name, f"{self._name}_EnqueueMany", _values(vals)) as scope:
            components = self._components(vals)
            batch = Dimension(None)
            for value, shape in zip(components, self._shapes, strict=False):
                value_shape = value.get_shape().with_rank_at_least(1)
                batch = batch.merge_with(value_shape[0])
                value_shape[1:].assert_is_compatible_with(shape)
            op: Operation = apply_op(
                "QueueEnqueueManyV2",
                handle=self._queue_ref,
                components=components,
                name=scope,
            )
            return op

    # --- taking ----------------------------------------------------------------------

    def _element(self, tensors: list[Tensor]) -> Any:
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """The tensors of one element; running them takes it from the queue.

        When run it waits for an element, and raises OutOfRangeError if the queue is
        closed and empty.
        """
        tensors = apply_op(
            "QueueDequeueV2",
            handle=self._queue_ref,
            component_types=self._dtypes,
            name=f"{self._name}_Dequeue" if name is None else name,
        )
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(shape)
        return self._element(tensors)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """`n` elements, stacked along a new dimension 0."""
        tensors = apply_op(
            "QueueDequeueManyV2",
            handle=self._queue_ref,
            n=n,
            component_types=self._dtypes,
            name=f"{self._name}_DequeueMany" if name is None else name,
        )
        count = constant_value.constant_value(tensors[0].op.inputs[1])
        batch = TensorShape.of((None if count is None else int(count),))
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(batch.concatenate(shape))
        return self._element(tensors)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Like `dequeue_many`, with fewer elements when the queue is closed."""
        tensors = apply_op(
            "QueueDequeueUpToV2",
            handle=self._queue_ref,
            n=n,
            component_types=self._dtypes,
            name=f"{self._name}_DequeueUpTo" if name is None else name,
        )
        for tensor, shape in zip(tensors, self._shapes, strict=True):
            tensor.set_shape(TensorShape.of((None,)).concatenate(shape))
        return self._element(tensors)

    # --- state -----------------------------------------------------------------------

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation:
        """An operation that closes the queue; what is in it can still be taken."""
        op: Operation = apply_op(
            "QueueCloseV2",
            handle=self._queue_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=f"{self._name}_Close" if name is None else name,
        )
        return op

    def is_closed(self, name: str | None = None) -> Tensor:
        """A scalar bool: whether the queue is closed."""
        result: Tensor = apply_op(
            "QueueIsClosedV2",
            handle=self._queue_ref,
            name=f"{self._name}_Is_Closed" if name is None else name,
        )
        return result

    def size(self, name: str | None = None) -> Tensor:
        """A scalar int32: the number of elements."""
        result: Tensor = apply_op(
            "QueueSizeV2",
            handle=self._queue_ref,
            name=f"{self._name}_Size" if name is None else name,
        )
        return result


def _values(vals: Any) -> list[Any]:
    if isinstance(vals, list | tuple):
        return list(vals)
    return list(vals.values()) if isinstance(vals, dict) else [vals]


@export("queue.FIFOQueue", "FIFOQueue")
class FIFOQueue(QueueBase):
    """A queue in the order of enqueueing.

    Args:
      capacity: the most elements it holds; enqueueing waits for room.
      dtypes: of the components.
      shapes: fully defined shapes of the components; needed by `dequeue_many`.
      names: of the components; elements are then dicts.
      shared_name: queues of this name in one container are one queue.
      name: of the operation.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str | None = "fifo_queue",
    ) -> None:
        types = component_types(dtypes)
        shape_list = component_shapes(shapes)
        handle = apply_op(
            "FIFOQueueV2",
            component_types=types,
            shapes=shape_list or [],
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, shape_list, _name_list(names, types), handle)


@export("queue.RandomShuffleQueue", "io.RandomShuffleQueue", "RandomShuffleQueue")
class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in random order.

    Args:
      capacity, dtypes, shapes, names, shared_name, name: see `FIFOQueue`.
      min_after_dequeue: elements that stay, so that the rest is well mixed.
      seed: of the order; see `tf.set_random_seed`.
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types = component_types(dtypes)
        shape_list = component_shapes(shapes)
        seed1, seed2 = random_seed.get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Queues of one name must ask for one seed wherever they are made.
            digest = hashlib.md5(
                f"{seed1}{shared_name}".encode(), usedforsecurity=False
            ).hexdigest()
            seed2 = int(digest[:8], 16) & 0x7FFFFFFF
        handle = apply_op(
            "RandomShuffleQueueV2",
            component_types=types,
            shapes=shape_list or [],
            capacity=capacity,
            min_after_dequeue=min_after_dequeue,
            seed=seed1,
            seed2=seed2,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, shape_list, _name_list(names, types), handle)


@export("queue.PaddingFIFOQueue", "io.PaddingFIFOQueue", "PaddingFIFOQueue")
class PaddingFIFOQueue(QueueBase):
    """A FIFO queue of components with open dimensions; `dequeue_many` pads them.

    Args:
      shapes: one for each component; None dimensions may vary.
      capacity, dtypes, names, shared_name, name: see `FIFOQueue`.

    Raises:
      ValueError: a shape is missing, or of unknown rank.
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = component_types(dtypes)
        shape_list = component_shapes(shapes, partial=True) or []
        name_list = _name_list(names, types)
        if len(types) != len(shape_list):
            raise ValueError(
                "Shapes must be provided for all components, but received "
                f"{len(types)} dtypes and {len(shape_list)} shapes."
            )
        handle = apply_op(
            "PaddingFIFOQueueV2",
            component_types=types,
            shapes=shape_list,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        super().__init__(types, shape_list, name_list, handle)


@export("queue.PriorityQueue", "io.PriorityQueue", "PriorityQueue")
class PriorityQueue(QueueBase):
    """A queue ordered by an int64 that is put before the components.

    Args:
      types, shapes: of the components without the priority.
      capacity, names, shared_name, name: see `FIFOQueue`.

    Raises:
      TypeError: there are no shapes.
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        type_list = component_types(types)
        shape_list = component_shapes(shapes)
        if shape_list is None:
            raise TypeError(
                "Expected list for 'shapes' argument to 'priority_queue_v2' Op, not "
                "None."
            )
        handle = apply_op(
            "PriorityQueueV2",
            component_types=type_list,
            shapes=shape_list,
            capacity=capacity,
            shared_name=shared_name or "",
            name=name,
        )
        all_shapes = [TensorShape.of(()), *shape_list]
        super().__init__([dtypes.int64, *type_list], all_shapes, names, handle)
