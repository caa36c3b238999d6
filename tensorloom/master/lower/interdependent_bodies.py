"""Finds branches, loops and calls that would deadlock if they waited for all inputs.

A worker runs a functional node as one op, when all its inputs are there. If an op in
the node's body releases what one of the inputs waits for, the step never ends. Such a
node is lowered to classic control flow, whose nodes wait for their own inputs only:

    d = Dequeue(q);   y = If(p, q, d, then_branch={Enqueue(q, 4), Add(d, 1)}, ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tensorloom.framework.functions.functional_op_types import LOOPS
from tensorloom.framework.graph.graph_ir import sort_topologically
from tensorloom.framework.partition.waiting_ops import may_wait, waits_of
from tensorloom.master.lower.task_spans import functions_of, skipped_inputs

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
    from tensorloom.framework.partition.waiting_ops import Waits

_NOTHING: frozenset[str] = frozenset()


def interdependent_nodes(graph: GraphIR) -> set[str]:
    """The names of the functional nodes that depend on a node of their own body.

    Args:
      graph: in topological order.
    """
    functions = graph.functions
    if not functions:
        return set()
    calls = [n for n in graph.nodes.values() if functions_of(n, functions)]
    if not any(may_wait(node, functions) for node in calls):
        return set()
    waits = waits_of(graph.nodes.values(), functions)
    walk = _Walk(functions)
    return {node.name for node in calls if walk.is_interdependent(node, waits)}


class _Walk:
    def __init__(self, functions: Mapping[str, FunctionIR]) -> None:
        self._functions = functions
        self._path: list[str] = []  # the functions that the walk is in

    def is_interdependent(self, node: Node, waits: Waits) -> bool:
        """Whether a body has an op that may wait, and needs not all the inputs."""
        awaited = _NOTHING.union(*(waits.get(n, _NOTHING) for n in node.producers))
        for inner, before, inside in self._waiting(node, waits):
            if functions_of(inner, self._functions) is None:
                if not awaited <= before:
                    return True
            elif self.is_interdependent(inner, inside):
                return True
        return False

    def _waiting(
        self, node: Node, waits: Waits
    ) -> Iterator[tuple[Node, frozenset[str], Waits]]:
        """The ops in the node's bodies that may wait, at any depth.

        Each with what it waits for before it begins, and what the nodes beside it do.
        """
        skipped = skipped_inputs(node)
        first = [name for name, _ in node.inputs[:skipped]] + list(node.control_inputs)
        base = _NOTHING.union(*(waits.get(name, _NOTHING) for name in first))
        given = [waits.get(name, _NOTHING) for name, _ in node.inputs[skipped:]]
        for function in functions_of(node, self._functions) or ():
            if function.name in self._path:
                continue
            self._path.append(function.name)
            inside = self._inside(function, [base | known for known in given])
            for inner in function.nodes.values():
                if not may_wait(inner, self._functions):
                    continue
                before = base.union(
                    *(inside.get(name, _NOTHING) for name in inner.producers)
                )
                yield inner, before, inside
                if functions_of(inner, self._functions):
                    yield from (
                        (deeper, base | known, beside)
                        for deeper, known, beside in self._waiting(inner, inside)
                    )
            if node.op in LOOPS:  # the body begins when the test has ended
                results = (inside.get(name, _NOTHING) for name, _ in function.returns)
                base = base.union(*results)
            self._path.pop()

    def _inside(self, function: FunctionIR, given: list[frozenset[str]]) -> Waits:
        known = dict(zip(function.arg_names, given, strict=True))
        nodes = sort_topologically(function.nodes, function.arg_names)
        return waits_of(nodes, self._functions, known)
