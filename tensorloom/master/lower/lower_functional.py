"""Loops, branches and calls that span tasks as classic control flow.

before: y = While(...), y = If(...) or y = f(...)     with nodes on several tasks
after:  see `lower_loop.py` and `lower_branches.py`; a call becomes its body

The primitives go where the functional node was; the nodes of bodies go where they ask
to, and to the resources that they work on. `y` itself stays as a NoOp that waits for
all that the functional node would have done. The partitioner then gives each task its
share of every frame. What does not span tasks stays a function: its worker compiles it,
unless it would wait for itself (`interdependent_bodies.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.framework.functions.functional_op_types import BRANCHES, IFS, LOOPS
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.partition.waiting_ops import may_wait
from tensorloom.framework.types import dtypes
from tensorloom.master.lower.interdependent_bodies import interdependent_nodes
from tensorloom.master.lower.lower_branches import lower_branches
from tensorloom.master.lower.lower_loop import lower_loop
from tensorloom.master.lower.task_spans import (
    TaskSpans,
    functions_of,
    has_variant,
    inside,
    is_variable,
)
from tensorloom.master.optimize.node_facts import is_stateful

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, FunctionIR
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.master.place.placer import Placer


def lower_functional(
    graph: GraphIR, placer: Placer, everything: bool = False
) -> GraphIR:
    """The graph with what spans tasks as classic control flow.

    Args:
      graph: in topological order.
      placer: knows the nodes of the graph; learns of the new ones.
      everything: also what does not span tasks, where classic nodes can say it.
    """
    if not any(functions_of(n, graph.functions) for n in graph.nodes.values()):
        return graph
    lowering = Lowering(graph, placer, everything)
    for node in graph.nodes.values():
        lowering.add(node)
    if not lowering.has_lowered:
        return graph
    return graph.with_nodes(lowering.nodes.values())


@dataclass(slots=True)
class Inlined:
    """A function's body among the nodes of the graph."""

    results: list[Edge]
    effects: list[str]  # what must run though no result needs it


class Lowering:
    """A graph that is being rewritten, node after node."""

    def __init__(
        self, graph: GraphIR, placer: Placer, everything: bool = False
    ) -> None:
        self.functions = graph.functions
        self._everything = everything
        self.placer = placer
        self.spans = TaskSpans(graph.functions, placer)
        self.nodes: dict[str, Node] = {}
        self.moved: dict[Edge, Edge] = {}  # of lowered nodes: where a value is now
        # Outputs of a loop that are its inputs: made only where they are read.
        self.passed: dict[Edge, Edge] = {}
        self.has_lowered = False
        self.interdependent = interdependent_nodes(graph)
        self.is_interdependent = False  # what is being inlined
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
            or not (
                self._everything
                or self.spans.spans(node, self.nodes)
                or self._waits_for_itself(node)
            )
        ):
            self.nodes[node.name] = node
            return
        self.has_lowered = True
        outer, self.path = self.path, (*self.path, *(f.name for f in called))
        was_interdependent = self.is_interdependent
        self.is_interdependent = self._waits_for_itself(node)
        if node.op in LOOPS:
            lower_loop(self, node, called[0], called[1])
        elif node.op in BRANCHES:
            lower_branches(self, node, called)
        else:
            self._lower_call(node, called[0])
        self.path, self.is_interdependent = outer, was_interdependent

    def _waits_for_itself(self, node: Node) -> bool:
        if self.is_interdependent:
            return may_wait(node, self.functions)
        return node.name in self.interdependent

    def _keep(self, node: Node) -> None:
        if self.has_lowered:  # what came before is known already
            self.placer.extend([node])
        self.nodes[node.name] = node

    @staticmethod
    def _is_understood(node: Node, called: Sequence[FunctionIR]) -> bool:
        if node.op in LOOPS:
            return bool(node.inputs) and called[0].output_types[0] is dtypes.bool
        if node.op in IFS:
            dtype: DType = node.attrs["Tcond"]
            return dtype is dtypes.bool or dtype.is_integer or dtype.is_floating
        return True

    def resolve(self, edge: Edge) -> Edge:
        """Where the value of an edge comes from now."""
        source = self.passed.pop(edge, None)
        if source is not None:
            name = f"{edge[0]}/passed_{edge[1]}"
            at = self.nodes[edge[0]]
            new = self.emit(at, "Identity", name, [source], {}, control=[edge[0]])
            self.moved[edge] = new
        return self.moved.get(edge, edge)

    def type_of(self, edge: Edge) -> DType:
        """The dtype of an edge."""
        return self.nodes[edge[0]].output_types[edge[1]]

    def brings_variable(self, edge: Edge, argument: DType) -> bool:
        """Whether a function that is given an edge as an argument gets a reference."""
        return argument._is_ref_dtype and self.type_of(edge)._is_ref_dtype

    def waits_of_argument(self, node: Node, edge: Edge) -> tuple[str, ...]:
        """What has to be over before an argument comes into the functions of a node.

        What they do to a variable comes after all arguments, as where a worker runs
        them: clients leave control inputs out that an argument implies.
        """
        dtype = self.type_of(edge)
        if (
            dtype is dtypes.resource or dtype._is_ref_dtype
        ) and not self.is_interdependent:
            return (*node.control_inputs, *node.producers)
        return node.control_inputs

    def emit(
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
        """Adds a primitive at the place of `owner`; its first output.

        The output is a value, also of a reference, unless the op is of references.
        """
        dtype = self.type_of(inputs[0])
        if not op.startswith("Ref"):
            dtype = dtype.base_dtype
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

    def finish(self, owner: Node, control: Iterable[str]) -> None:
        """Puts a NoOp in the place of the functional node."""
        self._add_no_op(owner, owner.name, control)

    def _add_no_op(self, owner: Node, name: str, control: Iterable[str]) -> None:
        self.nodes[name] = Node(
            name,
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

    def inline(
        self,
        owner: Node,
        function: FunctionIR,
        arguments: Sequence[Edge],
        prefix: str,
        pivot: str | None,
        ungated: frozenset[str] = frozenset(),
    ) -> Inlined:
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
            if pivot is not None and all(n in ungated for n in node.producers):
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
        return Inlined(results, effects)

    # --- calls -------------------------------------------------------------------

    def _lower_call(self, node: Node, function: FunctionIR) -> None:
        name = node.name
        entry = f"{name}/entry"
        waits = (*node.control_inputs, *(n for n, _ in node.inputs))
        self._add_no_op(node, entry, waits)
        arguments = [
            self.emit(node, "Identity", f"{name}/arg_{i}", [edge], {}, control=[entry])
            if self.waits_of_argument(node, edge)
            else edge
            for i, edge in enumerate(node.inputs)
        ]
        inlined = self.inline(node, function, arguments, f"{name}/", entry)
        for i, edge in enumerate(inlined.results):
            self.moved[name, i] = edge
        ends = [*inlined.effects, *(n for n, _ in inlined.results)]
        self.finish(node, ends or [entry])


def _is_stateful(node: Node, functions: Mapping[str, FunctionIR]) -> bool:
    """Whether a caller of the body runs this node even if no result needs it."""
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
