"""A graph with the nodes of its functions in it, to compare graphs across calls.

before: y = If(p, x, then_branch={a = Neg(x)}, else_branch={b = Exp(x)})
after:  y/branch_1/a = Neg(x);  y/branch_0/b = Exp(x);  y = (what the If gives)

Bodies are as they promise to run and no better: their nodes come after the control
inputs of the call, after what decides that they run, and after their own inputs; who
takes a result comes after what it is made of, who waits for the call after all that it
runs. A pass may order more. What a functional node is made of classic control flow, or
the reverse, is so the same nodes in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tensorloom.framework.functions.functional_op_types import BRANCHES, LOOPS
from tensorloom.framework.graph.graph_ir import (
    GRAPH_NAMES,
    LOWERED,
    READS_DECIDE,
    Edge,
    FunctionIR,
    GraphIR,
    Node,
)
from tensorloom.master.lower.task_spans import functions_of
from tensorloom.master.optimize.node_facts import is_stateful

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What decides that a node runs: (where the predicate comes from, its outcome).
Literal = tuple[Edge, int]

#: Stands for an output of a call, and for a variable of a loop.
PASSES_ON: Final = "_PassesOn"

#: Stands for an output of a branch or a loop: the values that it may be.
ONE_OF: Final = "_OneOf"


@dataclass(slots=True, eq=False)
class FlatView:
    """The nodes of a graph and of its bodies, in topological order."""

    nodes: dict[str, Node] = field(default_factory=dict)
    #: By call: what runs when it does, whoever reads its results.
    runs: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: The calls whose bodies are here.
    ended: set[str] = field(default_factory=set)
    #: By node of a branch: what decides that it runs.
    conditions: dict[str, frozenset[Literal]] = field(default_factory=dict)
    #: By output of a branch: the predicate.
    choosers: dict[str, Edge] = field(default_factory=dict)
    #: Names that occur twice.
    twice: list[str] = field(default_factory=list)
    #: By variable of a loop, as its test and body see it: (first value, next value).
    variables: dict[Edge, tuple[Edge, Edge]] = field(default_factory=dict)

    def needed(self, roots: Iterable[str]) -> set[str]:
        """The nodes that must run for some."""
        stack = [name for name in roots if name in self.nodes]
        found = set(stack)
        while stack:
            name = stack.pop()
            before: Iterable[str] = self.nodes[name].producers
            if name in self.ended:  # who waits for a call takes no results
                before = [n for n in before if not n.startswith(f"{name}:")]
            for other in (*before, *self.runs.get(name, ())):
                if other in self.nodes and other not in found:
                    found.add(other)
                    stack.append(other)
        return found


def flat_view(graph: GraphIR, *, own_names: bool) -> FlatView:
    """The flat form of a graph.

    Args:
      graph: in topological order, but for edges that go back in loops.
      own_names: nodes of bodies that were made of nodes of the graph keep their names;
        else they are named after the call, as those of other bodies are.
    """
    flattening = _Flattening(graph, own_names)
    flattening.add_all([*graph.nodes.values()], "", {}, (), frozenset())
    return flattening.view


class _Flattening:
    def __init__(self, graph: GraphIR, own_names: bool) -> None:
        self.functions: Mapping[str, FunctionIR] = graph.functions
        self.own_names = own_names
        self.view = FlatView()
        self.path: list[str] = []  # the functions that are being added

    def add_all(
        self,
        nodes: Sequence[Node],
        prefix: str,
        arguments: Mapping[str, Edge],
        waits: Sequence[str],
        condition: frozenset[Literal],
    ) -> dict[str, str]:
        """Adds the nodes of one body; what they are called.

        Args:
          arguments: by name, where their values come from.
          waits: what nodes come after that have no input of the body.
          condition: what decides that they run.
        """
        names = self._names(nodes, prefix)
        for node in nodes:
            inputs = tuple(self._edge(e, names, arguments) for e in node.inputs)
            control = [
                arguments[n][0] if n in arguments else names.get(n, n)
                for n in node.control_inputs
            ]
            if all(n in arguments for n in node.producers):
                control += waits
            node = node.replace(
                name=names[node.name],
                inputs=inputs,
                control_inputs=tuple(dict.fromkeys(control)),
            )
            self._add(node, condition, prefix)
        return names

    def _names(self, nodes: Iterable[Node], prefix: str) -> dict[str, str]:
        """What the nodes of a body are called in the flat graph."""
        names = {}
        for node in nodes:
            name = prefix + node.name
            if name in self.view.nodes:
                self.view.twice.append(name)
                while name in self.view.nodes:
                    name += "'"
            names[node.name] = name
        return names

    def _edge(
        self, edge: Edge, names: Mapping[str, str], arguments: Mapping[str, Edge]
    ) -> Edge:
        found = arguments.get(edge[0])
        if found is None:
            found = names.get(edge[0], edge[0]), edge[1]
        if found[0] in self.view.ended:
            return f"{found[0]}:{found[1]}", 0
        return found

    def _add(self, node: Node, condition: frozenset[Literal], prefix: str) -> None:
        called = functions_of(node, self.functions)
        if called is None or any(f.name in self.path for f in called):
            self._put(node, condition)
        elif node.op in LOOPS:
            if any(len(f.arg_names) != len(node.inputs) for f in called[:2]):
                self._put(node, condition)  # the worker says what does not fit
            else:
                self._add_loop(node, called, condition, prefix)
        elif node.op in BRANCHES:
            self._add_branches(node, called, condition, prefix)
        elif len(called[0].returns) != len(node.output_types):
            self._put(node, condition)  # running it will fail
        else:
            results, effects = self._body(
                node, called[0], node.inputs, f"{node.name}/", prefix, (), condition
            )
            self._finish(node, [[edge] for edge in results], effects, condition)

    def _put(self, node: Node, condition: frozenset[Literal]) -> None:
        self.view.nodes[node.name] = node
        if condition:
            self.view.conditions[node.name] = condition

    # --- bodies ------------------------------------------------------------------

    def _body(
        self,
        call: Node,
        function: FunctionIR,
        inputs: Sequence[Edge],
        own: str,
        outer: str,
        waits: Sequence[str],
        condition: frozenset[Literal],
    ) -> tuple[list[Edge], list[str]]:
        """Adds a body; its results, and what it runs besides."""
        if self.own_names and GRAPH_NAMES in function.attrs:
            own = outer
        arguments = dict(zip(function.arg_names, inputs, strict=False))
        self.path.append(function.name)
        names = self.add_all(
            list(function.nodes.values()),
            own,
            arguments,
            (*call.control_inputs, *waits),
            condition,
        )
        self.path.pop()
        effects = [names[n] for n in function.control_returns if n in names]
        effects += [names[n.name] for n in function.nodes.values() if is_stateful(n)]
        results = [self._edge(edge, names, arguments) for edge in function.returns]
        return results, effects

    def _finish(
        self,
        call: Node,
        results: Sequence[Sequence[Edge]],
        effects: Sequence[str],
        condition: frozenset[Literal],
        decides: Sequence[str] = (),
    ) -> None:
        """What stands for the outputs of a call, and for its end."""
        runs = tuple(dict.fromkeys(effects))
        reads_decide = READS_DECIDE in call.attrs or bool(call.attrs.get(LOWERED))
        ends = []
        for index, sources in enumerate(results):
            name = f"{call.name}:{index}"
            dtype, shapes = call.output_types[index], call.output_shapes
            self._put(
                Node(
                    name,
                    PASSES_ON if len(sources) == 1 else ONE_OF,
                    tuple(sources),
                    (*call.control_inputs, *decides),
                    call.device,
                    {},
                    (dtype,),
                    None if shapes is None else (shapes[index],),
                ),
                condition,
            )
            ends.append(name)
            if not reads_decide:
                self.view.runs[name] = runs
        control = (*call.control_inputs, *decides, *ends, *runs)
        self._put(
            Node(
                call.name,
                "NoOp",
                (),
                tuple(dict.fromkeys(control)),
                call.device,
                {},
                call.output_types,
                call.output_shapes,
            ),
            condition,
        )
        # Where there are effects to wait for, a result that nobody reads may go.
        self.view.runs[call.name] = runs or (tuple(ends) if reads_decide else ())
        self.view.ended.add(call.name)

    def _add_branches(
        self,
        call: Node,
        branches: Sequence[FunctionIR],
        condition: frozenset[Literal],
        prefix: str,
    ) -> None:
        chooser = call.inputs[0]
        found: list[list[Edge]] = [[] for _ in call.output_types]
        ran: list[str] = []
        for index, branch in enumerate(branches):
            results, effects = self._body(
                call,
                branch,
                call.inputs[1:],
                f"{call.name}/branch_{index}/",
                prefix,
                (call.inputs[0][0],),
                condition | {(chooser, index)},
            )
            for sources, edge in zip(found, results, strict=False):
                sources.append(edge)
            ran += effects
        for index in range(len(found)):
            self.view.choosers[f"{call.name}:{index}"] = chooser
        self._finish(call, found, ran, condition, (call.inputs[0][0],))

    def _add_loop(
        self,
        call: Node,
        called: Sequence[FunctionIR],
        condition: frozenset[Literal],
        prefix: str,
    ) -> None:
        test, step = called[:2]
        held: list[Edge] = []
        for index, edge in enumerate(call.inputs):
            # By the argument: of a loop with fewer variables the places are others.
            name = f"{call.name}/held_{step.arg_names[index]}"
            dtype = call.output_types[index]
            control = call.control_inputs
            self._put(
                Node(name, PASSES_ON, (edge,), control, call.device, {}, (dtype,)),
                condition,
            )
            held.append((name, 0))
        tested, effects = self._body(
            call, test, held, f"{call.name}/cond/", prefix, (), condition
        )
        going_on = [name for name, _ in tested]
        results, more = self._body(
            call, step, held, f"{call.name}/body/", prefix, going_on, condition
        )
        ends = [[start, end] for start, end in zip(held, results, strict=False)]
        for index, (start, end) in enumerate(ends):
            self.view.variables[start] = call.inputs[index], end
        self._finish(call, ends, [*effects, *more], condition, going_on)
