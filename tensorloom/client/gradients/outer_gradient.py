"""Chooses the graph for a gradient of imported control flow taken inside a function.

It is built around the function's body, in the graph of the loops and branches: a
backward loop shares stacks with its forward loop, and the body cannot read tensors of a
branch that is not taken. The body captures the results, which are computed whether it
runs or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import Tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph


def enclosing_graph(ys: Iterable[Any], others: Iterable[Any]) -> Graph | None:
    """The graph to make the gradients of `ys` in, if it is not the default one.

    Args:
      others: the xs, and what else is given to `tf.gradients`; Nones do not count.
    """
    enclosing = get_default_graph()
    while isinstance(enclosing, FuncGraph):
        enclosing = enclosing.outer_graph
    if enclosing is get_default_graph() or not enclosing._has_control_flow_contexts:
        return None
    producers = [_producer(y) for y in ys]
    everything = [*producers, *(_producer(v) for v in others if v is not None)]
    if any(op is None or op._graph is not enclosing for op in everything):
        return None
    return enclosing if _needs_contexts(producers) else None


def _producer(value: Any) -> Operation | None:
    if isinstance(value, Tensor):
        return value._op
    op = getattr(value, "op", None)
    return op if isinstance(op, Operation) else None


def _needs_contexts(ops: Iterable[Operation | None]) -> bool:
    """Whether a loop or a branch with a context is behind one of the ops."""
    seen: set[Operation] = set()
    stack = [op for op in ops if op is not None]
    while stack:
        op = stack.pop()
        if op._control_flow_context is not None:
            return True
        if op not in seen:
            seen.add(op)
            stack += [tensor._op for tensor in op._inputs]
    return False
