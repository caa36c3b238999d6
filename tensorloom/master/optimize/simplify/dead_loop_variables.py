"""Stops computing loop variables that no result depends on.

before: i, h, seen = while(i < 9: i + 1, tanh(h), push(seen, h));  _Retval(h)
after:  i, h, seen = while(i < 9: i + 1, tanh(h), seen);           _Retval(h)

A loop that was differentiated has further variables, which keep the values of every
iteration that the gradient needs. A step without the gradient need not compute them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tensorloom.framework.functions.called_functions import names_called
from tensorloom.framework.functions.functional_op_types import LOOPS
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_stateful

if TYPE_CHECKING:
    from tensorloom.master.optimize.target import OptimizeTarget

_DEEPEST: Final = 20  # loop in loop, from where on all variables count as needed


def freeze_dead_loop_variables(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with unneeded loop variables left unchanged, also in functions."""
    if not graph.functions:
        return graph
    functions = dict(graph.functions)
    needs = _Needs(functions)
    nodes = _rewritten(graph.nodes, (), target.preserve, needs)
    todo, seen = names_called(nodes.values(), functions), set[str]()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        function = functions[name]
        kept = frozenset(function.control_returns)
        body = _rewritten(function.nodes, function.returns, kept, needs)
        if body is not function.nodes:
            functions[name] = replace(function, nodes=body)
        todo += names_called(body.values(), functions)
    if nodes is graph.nodes and functions == graph.functions:
        return graph
    return GraphIR(nodes, functions, graph.producer, graph.min_consumer)


def _rewritten(
    nodes: dict[str, Node],
    returns: Iterable[tuple[str, int]],
    preserve: frozenset[str],
    needs: _Needs,
) -> dict[str, Node]:
    """The nodes with loops whose bodies leave alone what no one reads; or as given."""
    loops = [n for n in nodes.values() if n.op in LOOPS and n.name not in preserve]
    if not loops:
        return nodes
    read: dict[str, int] = dict.fromkeys([loop.name for loop in loops], 0)
    for edges in (*(node.inputs for node in nodes.values()), returns):
        for name, index in edges:
            if name in read:
                read[name] |= 1 << index
    changed = {}
    for loop in loops:
        body = needs.body_for(loop, read[loop.name])
        if body is not None:
            attrs = {**loop.attrs, "body": NameAttrList(body, loop.attrs["body"].attrs)}
            changed[loop.name] = loop.replace(attrs=attrs)
    return {**nodes, **changed} if changed else nodes


class _Needs:
    """Which variables of loops what else needs. Sets of them are bits of a number."""

    def __init__(self, functions: dict[str, FunctionIR]) -> None:
        self._functions = functions
        self._bodies: dict[tuple[str, int], str] = {}  # the made ones
        self._depth = 0
        # By the names of condition and body: what the loop needs in any case, and what
        # the next value of each variable does. None where nothing is known.
        self._known: dict[tuple[str, str], tuple[int, list[int]] | None] = {}

    def body_for(self, loop: Node, read: int) -> str | None:
        """A body that changes the variables that matter to `read`; None: it does."""
        facts = self._of_loop(loop)
        if facts is None:
            return None
        live = _closure(read, facts)
        body = self._functions[loop.attrs["body"].name]
        dead = [
            i
            for i, edge in enumerate(body.returns)
            if not live >> i & 1 and edge != (body.arg_names[i], 0)
        ]
        if not dead:
            return None
        if (body.name, live) not in self._bodies:
            name = f"{body.name}_for_{live:x}"
            while name in self._functions:
                name += "_"
            returns = list(body.returns)
            for i in dead:
                returns[i] = (body.arg_names[i], 0)
            self._functions[name] = replace(body, name=name, returns=tuple(returns))
            self._bodies[body.name, live] = name
        return self._bodies[body.name, live]

    def _of_loop(self, loop: Node) -> tuple[int, list[int]] | None:
        names = loop.attrs["cond"].name, loop.attrs["body"].name
        if names not in self._known:
            self._known[names] = None  # for a function that has itself in it
            self._depth += 1
            if self._depth <= _DEEPEST:
                self._known[names] = self._find(*names, len(loop.inputs))
            self._depth -= 1
        return self._known[names]

    def _find(self, cond: str, body: str, count: int) -> tuple[int, list[int]] | None:
        test = self._of_function(cond, count)
        step = self._of_function(body, count)
        if test is None or step is None or len(step[1]) != count:
            return None
        always = test[0] | step[0]
        for mask in test[1]:
            always |= mask
        return always, step[1]

    def _of_function(self, name: str, count: int) -> tuple[int, list[int]] | None:
        """The arguments that its effects need, and those that each result needs."""
        function = self._functions.get(name)
        if function is None or len(function.arg_names) != count:
            return None
        if function.problem is not None:
            return None
        if any(node.op in CONTROL_FLOW for node in function.nodes.values()):
            return None
        try:
            return self._walk(function)
        except (KeyError, IndexError):  # edges from nowhere: who compiles it says so
            return None

    def _walk(self, function: FunctionIR) -> tuple[int, list[int]]:
        masks: dict[str, tuple[int, ...]] = {
            arg: (1 << i,) for i, arg in enumerate(function.arg_names)
        }
        effects = 0
        for node in function.nodes.values():
            given = [_mask(masks, edge) for edge in node.inputs]
            waits = 0
            for other in node.control_inputs:
                waits |= _union(masks[other])
            facts = self._of_loop(node) if node.op in LOOPS else None
            if facts is None or len(facts[1]) != len(given):
                everything = _union(given) | waits
                masks[node.name] = (everything,)
            else:
                # What a loop in the body makes of a variable.
                everything = _chosen(given, facts[0]) | waits
                masks[node.name] = tuple(
                    _chosen(given, _closure(1 << i, facts)) | waits
                    for i in range(len(given))
                )
            if is_stateful(node) or node.name in function.control_returns:
                effects |= everything
        return effects, [_mask(masks, edge) for edge in function.returns]


def _closure(read: int, facts: tuple[int, list[int]]) -> int:
    """The variables that the loop needs where those in `read` are looked at."""
    always, changes = facts
    live, before = read | always, -1
    while live != before:
        before = live
        for i, mask in enumerate(changes):
            if live >> i & 1:
                live |= mask
    return live


def _mask(masks: Mapping[str, tuple[int, ...]], edge: tuple[str, int]) -> int:
    found = masks[edge[0]]
    return found[edge[1]] if len(found) > 1 else found[0]


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _chosen(masks: list[int], which: int) -> int:
    return _union(mask for i, mask in enumerate(masks) if which >> i & 1)
