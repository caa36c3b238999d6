"""Branches between Switch and Merge as If nodes.

before: s = Switch(x, p);  a = Neg(s:0);  b = Exp(s:1);  y = Merge(a, b)
after:  i = If(p, x, then_branch=Exp, else_branch=Neg);  y = Identity(i)

Each value lives under a *condition*: the outcomes of predicates that it needs. A Merge
whose two inputs live under opposite outcomes of one predicate ends a cond. Merges of
one predicate that do not depend on each other become one If; those inside a branch go
with the branch, and are rewritten there. Gradients in loops push onto stacks, and pop,
what no Merge needs: this goes with an If of its predicate. What has another form stays
as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.functions.classic_op_types import SWITCHES
from tensorloom.framework.graph.graph_ir import (
    GRAPH_NAMES,
    LOWERED,
    Edge,
    FunctionIR,
    GraphIR,
    Node,
    sort_topologically,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN
from tensorloom.master.functionalize.identity import as_identity
from tensorloom.master.functionalize.liveness import ALWAYS, Condition, Literal
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_pure
from tensorloom.master.optimize.redirection import Redirection

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

# References must stay what they are: RefMerge is left to the interpreter.
_MERGES = ("Merge",)
_STACK_OPS = frozenset(["StackPush", "StackPushV2", "StackPop", "StackPopV2"])


class _NotStructuredError(Exception):
    """The graph has a form that If nodes do not have."""


@dataclass(slots=True, eq=False)
class _Cond:
    """The Merges that become one If."""

    predicate: Edge
    # Each with its inputs for false and true, as positions.
    merges: list[tuple[Node, tuple[int, int]]] = field(default_factory=list)
    # By outcome: operations on stacks that no Merge needs.
    hanging: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))


def functionalize_conds(graph: GraphIR, prefix: str = "") -> GraphIR:
    """The graph with If nodes in place of its conds; as it is if one is unstructured.

    Args:
      prefix: of the names of new functions: that of the function that is rewritten.
    """
    return _functionalize(graph, prefix)[0]


def _functionalize(graph: GraphIR, prefix: str) -> tuple[GraphIR, Mapping[str, str]]:
    """The graph, and the Ifs of the nodes that are in a branch now."""
    if not any(node.op in SWITCHES for node in graph.nodes.values()):
        return graph, {}
    if any(n.op in CONTROL_FLOW and n.op not in _HANDLED for n in graph.nodes.values()):
        return graph, {}
    rewriter = _Rewriter(graph, prefix)
    try:
        return rewriter.rewrite(), rewriter.ifs
    except (_NotStructuredError, errors.InvalidArgumentError):
        return graph, {}


_HANDLED = (*SWITCHES, *_MERGES)


class _Rewriter:
    def __init__(self, graph: GraphIR, prefix: str) -> None:
        self.graph = graph.with_nodes(graph.nodes.values())
        self.prefix = prefix
        self.conditions: dict[Edge, Condition] = {}  # of outputs
        self.node_conditions: dict[str, Condition] = {}
        # By node: how many conds of each predicate lie before it.
        self.depths: dict[str, dict[Edge, int]] = {}
        self.conds: dict[tuple[Edge, int], _Cond] = {}
        self.functions = dict(graph.functions)
        self.ifs: dict[str, str] = {}  # by node that is in a branch now

    def rewrite(self) -> GraphIR:
        for name, node in list(self.graph.nodes.items()):
            inputs = tuple(map(self._before_repeats, node.inputs))
            if inputs != node.inputs:
                node = self.graph.nodes[name] = node.replace(inputs=inputs)
            self._visit(node)
        self._find_hanging()
        nodes = {
            name: node
            for name, node in self.graph.nodes.items()
            if self.node_conditions[name] == ALWAYS and node.op not in SWITCHES
        }
        for cond in self.conds.values():
            self._replace(cond, nodes)
        for node in self.graph.nodes.values():
            if (
                node.name not in nodes
                and node.name not in self.ifs
                and node.op not in SWITCHES
            ):
                raise _NotStructuredError(node.name)
        self._wait_for_what_stays(nodes)
        changed = GraphIR(
            nodes, self.functions, self.graph.producer, self.graph.min_consumer
        )
        return changed.with_nodes(sort_topologically(nodes))

    # --- conditions ------------------------------------------------------------------

    def _before_repeats(self, edge: Edge) -> Edge:
        """Where a value comes from, past Switches whose outcome is known by then."""
        node = self.graph.nodes[edge[0]]
        while (
            node.op in SWITCHES
            and not node.control_inputs
            and self.conditions.get(node.inputs[0]) == self.conditions.get(edge)
        ):
            edge = node.inputs[0]
            node = self.graph.nodes[edge[0]]
        return edge

    def _visit(self, node: Node) -> None:
        inputs = [self.conditions.get(e, ALWAYS) for e in node.inputs]
        waits = [self.node_conditions.get(c, ALWAYS) for c in node.control_inputs]
        self.depths[node.name] = depths = self._depths_before(node)
        if node.op in _MERGES:
            condition = self._visit_merge(node, inputs, depths)
            condition = condition.union(*waits)
        elif node.op == "ControlTrigger":
            condition = ALWAYS  # it runs after what is dead as well
        else:
            condition = ALWAYS.union(*inputs, *waits)
        if any((edge, 1 - outcome) in condition for edge, outcome in condition):
            raise _NotStructuredError(node.name)
        self.node_conditions[node.name] = condition
        for index in range(len(node.output_types)):
            under = condition
            if node.op in SWITCHES:
                under = condition | {(self._predicate(node), index)}
            self.conditions[node.name, index] = under

    def _predicate(self, switch: Node) -> Edge:
        """What decides a Switch; `tf.cond` has it under several Identities."""
        edge = switch.inputs[1]
        while True:
            node = self.graph.nodes[edge[0]]
            if node.op != "Identity":
                return edge
            source, index = node.inputs[0]
            if self.graph.nodes[source].output_types[index]._is_ref_dtype:
                return edge
            edge = source, index

    def _depths_before(self, node: Node) -> dict[Edge, int]:
        depths: dict[Edge, int] = {}
        for name in node.producers:
            for predicate, depth in self.depths.get(name, {}).items():
                depths[predicate] = max(depth, depths.get(predicate, 0))
        return depths

    def _visit_merge(
        self, node: Node, inputs: list[Condition], depths: dict[Edge, int]
    ) -> Condition:
        if len(inputs) != 2:
            raise _NotStructuredError(node.name)
        common = inputs[0] & inputs[1]
        only = [list(condition - common) for condition in inputs]
        if len(only[0]) != 1 or len(only[1]) != 1 or only[0][0][0] != only[1][0][0]:
            raise _NotStructuredError(node.name)
        predicate, outcome = only[0][0]
        depth = depths.get(predicate, 0)
        depths[predicate] = depth + 1
        if not common:
            cond = self.conds.setdefault((predicate, depth), _Cond(predicate))
            cond.merges.append((node, (0, 1) if outcome == 0 else (1, 0)))
        return common

    def _find_hanging(self) -> None:
        """Gives conds the operations on stacks that their Merges do not need."""
        needed: set[str] = set()
        for cond in self.conds.values():
            for outcome in (0, 1):
                needed.update(self._collect(cond, outcome, {}, {}))
        for node in self.graph.nodes.values():
            if node.op not in _STACK_OPS or node.name in needed:
                continue
            for predicate, outcome in self.node_conditions[node.name]:
                if not self.conditions[predicate]:  # else it is a cond inside
                    key = predicate, self.depths[node.name].get(predicate, 0)
                    cond = self.conds.setdefault(key, _Cond(predicate))
                    cond.hanging[outcome].append(node.name)
                    break

    # --- rewriting -------------------------------------------------------------------

    def _wait_for_what_stays(self, nodes: dict[str, Node]) -> None:
        """What waited for a node in a branch waits for the If, and so on."""
        for node in list(nodes.values()):
            if not all(name in nodes for name in node.control_inputs):
                waits = [w for name in node.control_inputs for w in self._stays(name)]
                control = tuple(dict.fromkeys(waits))
                nodes[node.name] = node.replace(control_inputs=control)

    def _stays(self, name: str) -> list[str]:
        """What to wait for in place of a node: its If, or the inputs of a Switch."""
        node = self.graph.nodes.get(name)
        if node is None or node.op not in SWITCHES:
            return [self.ifs.get(name, name)]
        return [w for producer in node.producers for w in self._stays(producer)]

    def _replace(self, cond: _Cond, nodes: dict[str, Node]) -> None:
        hanging = [*cond.hanging[0], *cond.hanging[1]]
        first = cond.merges[0][0] if cond.merges else self.graph.nodes[hanging[0]]
        name = f"{first.name}/If"
        while name in self.graph.nodes or name in nodes:
            name += "_"
        arguments: dict[Edge, str] = {}
        waits: dict[str, None] = {}
        branches = [
            self._collect(cond, outcome, arguments, waits) for outcome in (0, 1)
        ]
        for body in branches:
            twice = self.ifs.keys() & body.keys()
            if not all(is_pure(self.graph.nodes[n]) for n in twice):
                raise _NotStructuredError(name)  # an effect would happen twice
            self.ifs.update(dict.fromkeys(body, name))
        types = [self.graph.nodes[n].output_types[i] for n, i in arguments]
        functions = [
            self._function(cond, outcome, name, arguments, types, branches[outcome])
            for outcome in (0, 1)
        ]
        stateful = any(function.is_stateful for function in functions)
        results = functions[0].output_types
        nodes[name] = Node(
            name,
            "If" if stateful else "StatelessIf",
            (cond.predicate, *arguments),
            tuple(waits),
            first.device,
            {
                "Tcond": dtypes.bool,
                "Tin": types,
                "Tout": list(results),
                "then_branch": NameAttrList(functions[1].name),
                "else_branch": NameAttrList(functions[0].name),
                "output_shapes": [],
                LOWERED: True,
            },
            results,
            None,
            first.source,
        )
        self._connect(cond, name, nodes)

    def _connect(self, cond: _Cond, name: str, nodes: dict[str, Node]) -> None:
        """Puts what reads the Merges behind the If."""
        moved = Redirection()
        for index, (merge, _) in enumerate(cond.merges):
            nodes[merge.name] = as_identity(merge).replace(inputs=((name, index),))
            chosen = name, len(cond.merges) + index
            moved.replace_output((merge.name, 1), chosen)
        for key, node in nodes.items():
            nodes[key] = moved.apply(node)

    def _collect(
        self,
        cond: _Cond,
        outcome: int,
        arguments: dict[Edge, str],
        waits: dict[str, None],
    ) -> dict[str, Node]:
        """The nodes of a branch; adds the arguments and waits that it needs."""
        literal = cond.predicate, outcome
        body: dict[str, Node] = {}
        stack = [merge.inputs[places[outcome]] for merge, places in cond.merges]
        stack += [(name, 0) for name in cond.hanging[outcome]]
        seen = set(stack)
        while stack:
            name, _ = edge = stack.pop()
            node = self.graph.nodes[name]
            if self._is_rim(node, edge, cond, literal):
                source = node.inputs[0] if self._opens(node, cond) else edge
                arguments.setdefault(source, f"arg_{len(arguments)}")
                if self._opens(node, cond):
                    waits.update(dict.fromkeys(node.control_inputs))
                    waits[node.inputs[1][0]] = None  # an Identity that may wait itself
                continue
            if name in body:
                continue
            control = []
            for waited in node.control_inputs:
                if literal in self.node_conditions[waited]:
                    control.append(waited)
                    stack.append((waited, 0))
                elif not self._opens(self.graph.nodes[waited], cond):
                    waits[waited] = None
            body[name] = node.replace(control_inputs=tuple(control))
            stack += [e for e in node.inputs if e not in seen]
            seen.update(node.inputs)
        return {
            n: node.replace(
                inputs=tuple(
                    self._inside(e, cond, body, arguments) for e in node.inputs
                )
            )
            for n, node in body.items()
        }

    def _opens(self, node: Node, cond: _Cond) -> bool:
        """Whether a node is a Switch at the rim of the cond."""
        return (
            node.op in SWITCHES
            and self._predicate(node) == cond.predicate
            and not self.node_conditions[node.name]
        )

    def _is_rim(self, node: Node, edge: Edge, cond: _Cond, literal: Literal) -> bool:
        return self._opens(node, cond) or (literal not in self.node_conditions[edge[0]])

    def _inside(
        self,
        edge: Edge,
        cond: _Cond,
        body: Mapping[str, Node],
        arguments: Mapping[Edge, str],
    ) -> Edge:
        """An edge as it is called inside the branch."""
        if edge[0] in body:
            return edge
        node = self.graph.nodes[edge[0]]
        source = node.inputs[0] if self._opens(node, cond) else edge
        return arguments[source], 0

    def _function(
        self,
        cond: _Cond,
        outcome: int,
        name: str,
        arguments: Mapping[Edge, str],
        types: list[DType],
        body: dict[str, Node],
    ) -> FunctionIR:
        results: list[tuple[Edge, DType]] = []
        for merge, places in cond.merges:
            edge = merge.inputs[places[outcome]]
            if edge[1] == 1 and self.graph.nodes[edge[0]].op in _MERGES:
                raise _NotStructuredError(name)  # the index of a cond inside
            results.append(
                (self._inside(edge, cond, body, arguments), merge.output_types[0])
            )
        for index, (_, places) in enumerate(cond.merges):
            chosen = f"value_index_{index}"
            while chosen in body:
                chosen += "_"
            body[chosen] = _index_constant(chosen, places[outcome])
            results.append(((chosen, 0), dtypes.int32))
        full_name = f"{self.prefix}{name}_{'then' if outcome else 'else'}"
        while full_name in self.functions:
            full_name += "_"
        args = tuple(arguments.values())
        nodes = sort_topologically(body, args)
        inner, ifs = _functionalize(
            GraphIR(_with_arguments(nodes, args, types), self.functions),
            f"{full_name}/",
        )
        self.functions = dict(inner.functions)
        kept = {n: node for n, node in inner.nodes.items() if node.op != "_Arg"}
        function = FunctionIR(
            full_name,
            args,
            tuple(types),
            tuple([f"result_{i}" for i in range(len(results))]),
            tuple([dtype for _, dtype in results]),
            {n: node.replace(output_shapes=None) for n, node in kept.items()},
            tuple([edge for edge, _ in results]),
            tuple(dict.fromkeys(ifs.get(name, name) for name in cond.hanging[outcome])),
            attrs={GRAPH_NAMES: True},
            is_stateful=not all(is_pure(node) for node in nodes),
            arg_shapes=(UNKNOWN,) * len(args),
        )
        self.functions[full_name] = function
        return function


def _with_arguments(
    nodes: list[Node], args: tuple[str, ...], types: list[DType]
) -> dict[str, Node]:
    with_arguments = {
        name: Node(
            name, "_Arg", (), (), "", {"T": dtype, "index": i}, (dtype,), (UNKNOWN,)
        )
        for i, (name, dtype) in enumerate(zip(args, types, strict=True))
    }
    return {**with_arguments, **{node.name: node for node in nodes}}


def _index_constant(name: str, value: int) -> Node:
    attrs = {"dtype": dtypes.int32, "value": np.array(value, np.int32)}
    return Node(name, "Const", (), (), "", attrs, (dtypes.int32,), (SCALAR,))
