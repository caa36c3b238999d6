"""Loops, branches and calls that span tasks as classic control flow.

before: y = While(x, cond=..., body=...)              with nodes on several tasks
after:  y/enter -> y/merge -> (cond) -> y/loop_cond -> y/switch -> (body)
        y/merge <- y/next_iteration <- (body);   y/switch -> y/exit

before: y = If(p, x, then_branch=..., else_branch=...)
after:  y/switch(x, p) -> (branches) -> y/merge

The primitives go where the functional node was; the nodes of bodies go where they ask
to, and to the resources that they work on. `y` itself stays as a NoOp that waits for
all that the functional node would have done. The partitioner then gives each task its
share of every frame. What does not span tasks stays a function: its worker compiles it,
unless it would wait for itself (`entangled_bodies.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import dtypes
from tensorloom.framework.functional_op_types import LOOPS
from tensorloom.framework.graph_ir import GraphIR, Node
from tensorloom.framework.tensor_shape import SCALAR, UNKNOWN, TensorShape
from tensorloom.framework.waiting_ops import may_wait
from tensorloom.master.entangled_bodies import entangled_nodes
from tensorloom.master.optimize.node_facts import is_stateful
from tensorloom.master.task_spans import (
    TaskSpans,
    functions_of,
    has_variant,
    inside,
    is_variable,
    skipped_inputs,
)

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.framework.graph_ir import FunctionIR
    from tensorloom.master.placer import Placer

Edge = tuple[str, int]
_CASES: Final = ("Case", "StatelessCase")
_IFS: Final = ("If", "StatelessIf")


def lower_functional(graph: GraphIR, placer: Placer) -> GraphIR:
    """The graph with what spans tasks as classic control flow.

    Args:
      graph: in topological order.
      placer: knows the nodes of the graph; learns of the new ones.
    """
    if not any(functions_of(n, graph.functions) for n in graph.nodes.values()):
        return graph
    lowering = _Lowering(graph, placer)
    for node in graph.nodes.values():
        lowering.add(node)
    if not lowering.has_lowered:
        return graph
    return graph.with_nodes(lowering.nodes.values())


@dataclass(slots=True)
class _Inlined:
    """A function's body among the nodes of the graph."""

    results: list[Edge]
    effects: list[str]  # what must run though no result needs it


class _Lowering:
    def __init__(self, graph: GraphIR, placer: Placer) -> None:
        self.functions = graph.functions
        self.placer = placer
        self.spans = TaskSpans(graph.functions, placer)
        self.nodes: dict[str, Node] = {}
        self.moved: dict[Edge, Edge] = {}
        # Outputs of a loop that are its inputs: made where somebody wants them.
        self.passed: dict[Edge, Edge] = {}
        self.has_lowered = False
        self.entangled = entangled_nodes(graph)
        self.is_entangled = False  # what is being inlined
        self.path: tuple[str, ...] = ()  # the functions that are being inlined

    # --- nodes -------------------------------------------------------------------

    def add(self, node: Node) -> None:
        """Adds a node whose inputs have been added; lowers it if it spans tasks."""
        if any(e in self.moved or e in self.passed for e in node.inputs):
            node = node.replace(inputs=tuple(self.resolve(e) for e in node.inputs))
        called = functions_of(node, self.functions)
        if called is None:
            self._keep(node)
            return
        self.placer.extend([node])
        if (
            any(f.name in self.path for f in called)  # recursion has no end here
            or not self._is_understood(node, called)
            or not (self.spans.spans(node, self.nodes) or self._waits_for_itself(node))
        ):
            self.nodes[node.name] = node
            return
        self.has_lowered = True
        outer, self.path = self.path, (*self.path, *(f.name for f in called))
        was_entangled = self.is_entangled
        self.is_entangled = self._waits_for_itself(node)
        if node.op in LOOPS:
            self._lower_loop(node, called[0], called[1])
        elif node.op in (*_IFS, *_CASES):
            self._lower_branches(node, called)
        else:
            self._lower_call(node, called[0])
        self.path, self.is_entangled = outer, was_entangled

    def _waits_for_itself(self, node: Node) -> bool:
        if self.is_entangled:
            return may_wait(node, self.functions)
        return node.name in self.entangled

    def _keep(self, node: Node) -> None:
        if self.has_lowered:  # what came before is known already
            self.placer.extend([node])
        self.nodes[node.name] = node

    @staticmethod
    def _is_understood(node: Node, called: Sequence[FunctionIR]) -> bool:
        if node.op in LOOPS:
            return bool(node.inputs) and called[0].output_types[0] is dtypes.bool
        if node.op in _IFS:
            dtype: DType = node.attrs["Tcond"]
            return dtype is dtypes.bool or dtype.is_integer or dtype.is_floating
        return True

    def resolve(self, edge: Edge) -> Edge:
        """Where the value of an edge comes from now."""
        source = self.passed.pop(edge, None)
        if source is not None:
            name = f"{edge[0]}/passed_{edge[1]}"
            at = self.nodes[edge[0]]
            new = self._emit(at, "Identity", name, [source], {}, control=[edge[0]])
            self.moved[edge] = new
        return self.moved.get(edge, edge)

    def _type(self, edge: Edge) -> DType:
        return self.nodes[edge[0]].output_types[edge[1]]

    def _emit(
        self,
        owner: Node,
        op: str,
        name: str,
        inputs: Sequence[Edge],
        attrs: dict[str, Any],
        *,
        control: Iterable[str] = (),
        shapes: Sequence[TensorShape] | None = None,
        count: int = 1,
    ) -> Edge:
        """Adds a primitive at the place of `owner`; its first output."""
        dtype = self._type(inputs[0])
        if op == "Merge":
            types: tuple[DType, ...] = (dtype, dtypes.int32)
        else:
            types = (dtype,) * count
        node = Node(
            name,
            op,
            tuple(inputs),
            tuple(dict.fromkeys(control)),
            owner.device,
            attrs if op == "LoopCond" else {"T": dtype.base_dtype, **attrs},
            types,
            None if shapes is None else tuple(shapes),
            owner.source,
        )
        self.placer.extend([node])
        self.nodes[name] = node
        return name, 0

    def _done(self, owner: Node, control: Iterable[str]) -> None:
        """Puts a NoOp in the place of the functional node."""
        self.nodes[owner.name] = Node(
            owner.name,
            "NoOp",
            (),
            tuple(dict.fromkeys(control)),
            owner.device,
            {},
            (),
            (),
            owner.source,
        )

    # --- bodies ------------------------------------------------------------------

    def _inline(
        self,
        owner: Node,
        function: FunctionIR,
        arguments: Sequence[Edge],
        prefix: str,
        pivot: str | None,
        ungated: frozenset[str] = frozenset(),
    ) -> _Inlined:
        """Adds the nodes of a body.

        Args:
          arguments: for each of the function's.
          pivot: what a node waits for that has no other input of the body.
          ungated: arguments that are alive though the body may be dead.
        """
        names: dict[str, Edge] = dict(zip(function.arg_names, arguments, strict=True))
        effects: list[str] = []
        kept = set(function.control_returns)
        for node in function.nodes.values():
            inputs = tuple(names.get(n, (f"{prefix}{n}", i)) for n, i in node.inputs)
            control = [
                names[n][0] if n in names else f"{prefix}{n}"
                for n in node.control_inputs
            ]
            gates = [n for n, _ in node.inputs] + list(node.control_inputs)
            if pivot is not None and all(n in ungated for n in gates):
                control.append(pivot)
            device = inside(owner.device, node.device, node.name)
            if has_variant(node, function):
                device = owner.device
            attrs = dict(node.attrs)
            beside, is_fixed = _beside(node, function, names, prefix)
            if is_variable(node) and not node.device:
                beside, is_fixed = [b"loc:@" + node.attrs["shared_name"]], True
            if beside or "_class" in attrs:
                attrs["_class"] = beside
            if is_fixed or (beside and not node.device):
                device = ""
            name = f"{prefix}{node.name}"
            self.add(
                node.replace(
                    name=name,
                    inputs=inputs,
                    control_inputs=tuple(dict.fromkeys(control)),
                    device=device,
                    attrs=attrs,
                    source=node.source or owner.source,
                )
            )
            if node.name in kept or _is_stateful(node, self.functions):
                effects.append(name)
        results = [
            names[n] if n in names else self.resolve((f"{prefix}{n}", i))
            for n, i in function.returns
        ]
        return _Inlined(results, effects)

    # --- loops -------------------------------------------------------------------

    def _lower_loop(self, node: Node, test: FunctionIR, body: FunctionIR) -> None:
        name = node.name
        constant = [
            edge == (arg, 0)
            for arg, edge in zip(body.arg_names, body.returns, strict=True)
        ]
        if all(constant):
            constant[0] = False  # something must start the iterations
        shapes = body.arg_shapes or (UNKNOWN,) * len(constant)
        entered = [
            self._emit(
                node,
                "Enter",
                f"{name}/enter_{i}",
                [edge],
                {
                    "frame_name": name.encode(),
                    "is_constant": constant[i],
                    "parallel_iterations": node.attrs.get("parallel_iterations", 10),
                },
                control=node.control_inputs,
                shapes=[shapes[i]],
            )
            for i, edge in enumerate(node.inputs)
        ]
        variables = [i for i, is_constant in enumerate(constant) if not is_constant]
        held = list(entered)
        for i in variables:
            back = f"{name}/next_iteration_{i}", 0
            held[i] = self._emit(
                node,
                "Merge",
                f"{name}/merge_{i}",
                [entered[i], back],
                {"N": 2},
                shapes=[shapes[i], SCALAR],
            )
        first = variables[0]
        # The test runs once more than the body.
        tested = self._inline(node, test, held, f"{name}/cond/", held[first][0])
        going_on = self._emit(
            node,
            "LoopCond",
            f"{name}/loop_cond",
            tested.results,
            {},
            control=tested.effects,
            shapes=[SCALAR],
        )
        self._add_body(node, body, held, going_on, variables, shapes)

    def _add_body(
        self,
        node: Node,
        body: FunctionIR,
        held: Sequence[Edge],
        going_on: Edge,
        variables: Sequence[int],
        shapes: Sequence[TensorShape],
    ) -> None:
        """The second half of a loop: Switches, the body, NextIterations and Exits."""
        name = node.name
        arguments, exits = list(held), []
        for i in variables:
            switch, _ = self._emit(
                node,
                "Switch",
                f"{name}/switch_{i}",
                [held[i], going_on],
                {},
                shapes=[shapes[i]] * 2,
                count=2,
            )
            arguments[i] = switch, 1
            exits.append(switch)
        pivot, _ = self._emit(
            node, "Identity", f"{name}/body_pivot", [arguments[variables[0]]], {}
        )
        ungated = frozenset(
            arg for i, arg in enumerate(body.arg_names) if i not in set(variables)
        )
        inlined = self._inline(node, body, arguments, f"{name}/body/", pivot, ungated)
        for i in variables:
            self._emit(
                node,
                "NextIteration",
                f"{name}/next_iteration_{i}",
                [inlined.results[i]],
                {},
                # Not in the last iteration, whatever the value is.
                control=[pivot, *inlined.effects],
                shapes=[shapes[i]],
            )
        ends = []
        for i, switch in zip(variables, exits, strict=True):
            shape = None if node.output_shapes is None else [node.output_shapes[i]]
            end = self._emit(
                node, "Exit", f"{name}/exit_{i}", [(switch, 0)], {}, shapes=shape
            )
            self.moved[name, i] = end
            ends.append(end[0])
        for i, edge in enumerate(node.inputs):
            if i not in set(variables):
                self.passed[name, i] = edge
        self._done(node, ends)

    # --- branches ----------------------------------------------------------------

    def _lower_branches(self, node: Node, branches: Sequence[FunctionIR]) -> None:
        name, count = node.name, len(branches)
        chooser = self._chooser(node)
        skipped = skipped_inputs(node)

        def switch(text: str, edge: Edge) -> str:
            is_case = node.op in _CASES
            op = "_SwitchN" if is_case else "Switch"
            if op == "Switch" and self._type(edge)._is_ref_dtype:
                # It stays with the variable: branches read it where it is, if at all.
                op = "RefSwitch"
            shape = (self.nodes[edge[0]].output_shapes or {edge[1]: UNKNOWN})[edge[1]]
            made, _ = self._emit(
                node,
                op,
                f"{name}/{text}",
                [edge, chooser],
                {"num_outs": count} if is_case else {},
                control=node.control_inputs,
                shapes=[shape] * count,
                count=count,
            )
            return made

        switches = [
            switch(f"switch_{i}", edge) for i, edge in enumerate(node.inputs[skipped:])
        ]
        chosen = switch("switch_pred", chooser)
        results: list[list[Edge]] = []
        ends: list[Edge] = []
        for index, branch in enumerate(branches):
            pivot, _ = self._emit(
                node, "Identity", f"{name}/pivot_{index}", [(chosen, index)], {}
            )
            inlined = self._inline(
                node,
                branch,
                [(made, index) for made in switches],
                f"{name}/branch_{index}/",
                pivot,
            )
            end = self._emit(
                node,
                "Identity",
                f"{name}/done_{index}",
                [(pivot, 0)],
                {},
                control=inlined.effects,
            )
            ends.append(end)
            results.append(self._after(node, inlined, f"{name}/result_{index}", end))
        self._merge_branches(node, results, ends)

    def _chooser(self, node: Node) -> Edge:
        """The predicate as a bool, or the index of a Case."""
        edge = node.inputs[0]
        if node.op in _CASES or node.attrs["Tcond"] is dtypes.bool:
            return edge
        dtype = node.attrs["Tcond"]
        attrs = {"SrcT": dtype, "DstT": dtypes.bool, "Truncate": False}
        name = f"{node.name}/pred"
        self.add(
            Node(
                name, "Cast", (edge,), (), node.device, attrs, (dtypes.bool,), (SCALAR,)
            )
        )
        return name, 0

    def _after(
        self, node: Node, inlined: _Inlined, prefix: str, end: Edge
    ) -> list[Edge]:
        """The results of a branch once its effects are over."""
        if not inlined.effects:
            return inlined.results
        return [
            self._emit(node, "Identity", f"{prefix}_{i}", [edge], {}, control=[end[0]])
            for i, edge in enumerate(inlined.results)
        ]

    def _merge_branches(
        self, node: Node, results: Sequence[Sequence[Edge]], ends: Sequence[Edge]
    ) -> None:
        name, count = node.name, len(results)
        shapes = node.output_shapes
        merged = []
        for i in range(len(node.output_types)):
            edge = self._emit(
                node,
                "Merge",
                f"{name}/merge_{i}",
                [branch[i] for branch in results],
                {"N": count},
                shapes=None if shapes is None else [shapes[i], SCALAR],
            )
            self.moved[name, i] = edge
            merged.append(edge[0])
        over, _ = self._emit(
            node, "Merge", f"{name}/branch_executed", ends, {"N": count}
        )
        self._done(node, [*merged, over])

    # --- calls -------------------------------------------------------------------

    def _lower_call(self, node: Node, function: FunctionIR) -> None:
        name = node.name
        entry = f"{name}/entry"
        waits = (*node.control_inputs, *(n for n, _ in node.inputs))
        self.nodes[entry] = Node(
            entry,
            "NoOp",
            (),
            tuple(dict.fromkeys(waits)),
            node.device,
            {},
            (),
            (),
            node.source,
        )
        arguments = list(node.inputs)
        if node.control_inputs:
            arguments = [
                self._emit(
                    node, "Identity", f"{name}/arg_{i}", [edge], {}, control=[entry]
                )
                for i, edge in enumerate(arguments)
            ]
        inlined = self._inline(node, function, arguments, f"{name}/", entry)
        for i, edge in enumerate(inlined.results):
            self.moved[name, i] = edge
        ends = [*inlined.effects, *(n for n, _ in inlined.results)]
        self._done(node, ends or [entry])


def _is_stateful(node: Node, functions: Mapping[str, FunctionIR]) -> bool:
    """Whether whoever calls a body runs this node of it, needed or not."""
    if node.op in functions:
        return functions[node.op].is_stateful
    return is_stateful(node)


def _beside(
    node: Node, function: FunctionIR, names: Mapping[str, Edge], prefix: str
) -> tuple[list[bytes], bool]:
    """The `_class` of a body's node in the graph; whether it alone says the place.

    Beside a resource the node goes where the resource is, whatever the argument's
    device was in the body. The value of another argument is wherever it is used.
    """
    beside, is_fixed = [], False
    types = dict(zip(function.arg_names, function.arg_types, strict=True))
    for group in node.attrs.get("_class", ()):
        leader = group.removeprefix(b"loc:@").decode()
        if leader in names and group.startswith(b"loc:@"):
            if types[leader] is not dtypes.resource and not types[leader]._is_ref_dtype:
                continue
            group, is_fixed = f"loc:@{names[leader][0]}".encode(), True
        elif leader in function.nodes and group.startswith(b"loc:@"):
            group = f"loc:@{prefix}{leader}".encode()
        beside.append(group)
    return beside, is_fixed
