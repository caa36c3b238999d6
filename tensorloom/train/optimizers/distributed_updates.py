"""How an optimizer updates the variables of a strategy."""

from __future__ import annotations

from typing import Any

from tensorloom.client.distribution.reduce_op import ReduceOp
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    get_collection_ref,
    init_scope,
    name_scope,
)
from tensorloom.framework.types.indexed_slices import (
    IndexedSlices,
    convert_to_tensor_or_indexed_slices,
)
from tensorloom.ops.state import reference_variable as state_ops


def distributed_apply(
    optimizer: Any,
    strategy: Any,
    grads_and_vars: list[tuple[Any, Any]],
    global_step: Any,
    name: str | None,
) -> Any:
    """An operation that updates all parts of the variables by the sums of gradients.

    Args:
      optimizer: updates one part.
      strategy: whose replicas the gradients are of.
      grads_and_vars: gradients with a part for each replica, and variables.
      global_step: a variable that is incremented after the updates.
      name: of the operation; the optimizer's when None.

    Raises:
      TypeError: a gradient is neither a tensor nor IndexedSlices.
    """
    extended = strategy.extended
    reduced = extended.batch_reduce_to(ReduceOp.SUM, grads_and_vars)
    variables = [variable for _, variable in grads_and_vars]
    with init_scope():
        optimizer._create_slots(variables)

    def update(variable: Any, gradient: Any) -> Any:
        assert variable is not None
        with name_scope(f"update_{variable.op.name}"):
            return optimizer._update(as_gradient(gradient), variable)

    with name_scope(name, optimizer._name) as scope:
        optimizer._prepare()
        updates = [
            op
            for gradient, variable in zip(reduced, variables, strict=True)
            for op in extended.update(variable, update, args=(gradient,), group=False)
        ]

        def finish(all_updates: list[Any]) -> Any:
            return optimizer._finish(all_updates, "update")

        finished = extended.update_non_slot(
            extended.non_slot_devices(variables), finish, args=(updates,), group=False
        )
        if global_step is None:
            result = strategy.group(finished, name=scope)
        else:
            with control_dependencies(finished):
                result = extended.update(
                    global_step, state_ops.assign_add, (1,), {"name": scope}
                )
    if isinstance(result, Tensor):
        result = result.op
    add_train_op(result)
    return result


def add_train_op(op: Any) -> None:
    """Puts an operation into the collection of training operations, once."""
    train_ops = get_collection_ref(GraphKeys.TRAIN_OP)
    if op not in train_ops:
        train_ops.append(op)


def as_gradient(gradient: Any) -> Any:
    """A gradient as a tensor or IndexedSlices; None stays.

    Raises:
      TypeError: it converts to neither.
    """
    if gradient is None:
        return None
    try:
        converted = convert_to_tensor_or_indexed_slices(gradient)
    except TypeError:
        raise TypeError(
            "Gradient must be convertible to a Tensor or IndexedSlices, or None: "
            f"{gradient}"
        ) from None
    if not isinstance(converted, Tensor | IndexedSlices):
        raise TypeError(
            f"Gradient must be a Tensor, IndexedSlices, or None: {gradient}"
        )
    return converted
