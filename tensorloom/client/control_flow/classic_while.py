"""A loop built of the primitives, where a loop of functions would not do.

In a graph with imported control flow, values of branches that are not taken are dead. A
`While` that takes one of them is dead as a whole; a loop of primitives is so in part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_values
from tensorloom.client.control_flow.while_context import WhileContext, close_loop
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import add_to_collection, name_scope
from tensorloom.ops.control_flow import classic

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def classic_while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any]
) -> Any:
    """`loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true.

    Args:
      loop_vars: tensors and TensorArrays.
    """
    tensors = control_flow_values.flatten(loop_vars)
    with name_scope("while"):
        context = WhileContext()
        if context.outer_context is None:
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        context.Enter()
        try:
            exits = _build(context, cond, body, loop_vars, tensors)
        finally:
            context.Exit()
    return control_flow_values.pack(loop_vars, exits)


def _build(
    context: WhileContext,
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    tensors: Sequence[Tensor],
) -> list[Tensor]:
    starts = context.enter_all(tensors)
    merged: list[Any] = [classic.merge([t, t]) for t in starts]
    context.complete([merged[0], None, None], enters=starts)
    test = cond(*control_flow_values.pack(loop_vars, merged))
    pivot = apply_op("LoopCond", input=test, name="LoopCond")
    context.complete([merged[0], pivot, None])
    switched = [classic.switch_beside(t, pivot) for t in merged]
    inside = [classic.identity_of(t[1]) for t in switched]
    context.complete([merged[0], pivot, inside[0]])
    results = body(*control_flow_values.pack(loop_vars, inside))
    for merge, result in zip(merged, control_flow_values.flatten(results), strict=True):
        close_loop(merge, result)
    exits = [classic.leave(t[0]) for t in switched]
    context.complete([merged[0], pivot, inside[0]], exits)
    context.ExitResult(exits)
    return exits
