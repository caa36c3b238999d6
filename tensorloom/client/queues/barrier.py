"""`data_flow_ops.Barrier`: a map whose complete elements can be taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.queues.queues import component_shapes, component_types
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


class Barrier:
    """A map from strings to tuples of tensors that lives across steps.

    `insert_many` fills one component of some keys; `take_many` takes keys all of whose
    components are there, in the order in which the keys were first inserted.

    Args:
      types: the dtype or the dtypes of a value's components.
      shapes: of the components, fully defined; None leaves them open.
      shared_name: barriers of this name in one container are one.
      name: of the operation.

    Raises:
      ValueError: a shape has no elements.
    """

    def __init__(
        self,
        types: Any,
        shapes: Any = None,
        shared_name: str | None = None,
        name: str = "barrier",
    ) -> None:
        self._types = component_types(types)
        known = component_shapes(shapes)
        if known is None:
            known = [TensorShape.of(None)] * len(self._types)
        for index, shape in enumerate(known):
            if shape.num_elements() == 0:
                raise ValueError(
                    "Empty tensors are not supported, but received shape "
                    f"'{shape}' at index {index}"
                )
        self._shapes = known
        self._barrier_ref: Tensor = apply_op(
            "Barrier",
            component_types=self._types,
            shapes=self._shapes,
            shared_name=shared_name or "",
            name=name,
        )
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self) -> Tensor:
        """The handle, a reference to strings."""
        return self._barrier_ref

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self._barrier_ref.op.name

    def insert_many(
        self, component_index: int, keys: Any, values: Any, name: str | None = None
    ) -> Operation:
        """An operation that sets one component of each key.

        Args:
          component_index: which component.
          keys: strings of shape [n].
          values: of shape [n, ...].
          name: of the operation.
        """
        op: Operation = apply_op(
            "BarrierInsertMany",
            handle=self._barrier_ref,
            keys=keys,
            values=values,
            component_index=component_index,
            name=self._named("BarrierInsertMany", name),
        )
        return op

    def take_many(
        self,
        num_elements: Any,
        allow_small_batch: bool = False,
        timeout: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Takes complete elements; waits until there are enough.

        Args:
          num_elements: how many, a scalar int32.
          allow_small_batch: once the barrier is closed, fewer will do.
          timeout: not used, as in TensorFlow; only -1 and None are accepted.
          name: of the operation.

        Returns:
          `indices` (int64, [n]: the number of the insertion that brought the key,
          from -2**63), `keys` (strings, [n]) and `values`, a list of tensors [n, ...].
        """
        taken = apply_op(
            "BarrierTakeMany",
            handle=self._barrier_ref,
            num_elements=num_elements,
            component_types=self._types,
            allow_small_batch=allow_small_batch,
            timeout_ms=-1 if timeout is None else timeout,
            name=self._named("BarrierTakeMany", name),
        )
        op = taken[0].op
        count = None if allow_small_batch else constant_value(op.inputs[1])
        batch = TensorShape.of((None if count is None else int(count),))
        op.outputs[0].set_shape(batch)
        op.outputs[1].set_shape(batch)
        for output, shape in zip(op.outputs[2:], self._shapes, strict=True):
            output.set_shape(batch.concatenate(shape))
        return taken

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation:
        """An operation after which no new key may be inserted.

        Args:
          cancel_pending_enqueues: keys that are not complete may not be completed.
          name: of the operation.
        """
        op: Operation = apply_op(
            "BarrierClose",
            handle=self._barrier_ref,
            cancel_pending_enqueues=cancel_pending_enqueues,
            name=self._named("BarrierClose", name),
        )
        return op

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are complete, a scalar int32."""
        size: Tensor = apply_op(
            "BarrierReadySize",
            handle=self._barrier_ref,
            name=self._named("BarrierReadySize", name),
        )
        return size

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack a component, a scalar int32."""
        size: Tensor = apply_op(
            "BarrierIncompleteSize",
            handle=self._barrier_ref,
            name=self._named("BarrierIncompleteSize", name),
        )
        return size

    def _named(self, op: str, name: str | None) -> str:
        return f"{self._name}_{op}" if name is None else name
