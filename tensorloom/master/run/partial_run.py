"""Partial runs: one step of a graph, in several calls.

Each call runs the nodes that the feeds so far allow and that have not run yet. What
later calls need of it is kept as values: at each call the graph is cut between what has
run and what has not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.interfaces import PreparedStep, StepSignature
from tensorloom.framework.types import dtypes
from tensorloom.master.run.partial_units import atomic_units

# (a part of the graph with `_Arg` and `_Retval` nodes, its signature) -> its step
PreparePart = Callable[[GraphIR, StepSignature], PreparedStep]


class PartialRun:
    """The state of one partial run."""

    def __init__(
        self, graph: GraphIR, signature: StepSignature, prepare: PreparePart
    ) -> None:
        """Begins a run of a pruned graph that was announced with `signature`."""
        self._graph = graph
        self._prepare = prepare
        arguments = [n for n in graph.nodes.values() if n.op == "_Arg"]
        results = [n for n in graph.nodes.values() if n.op == "_Retval"]
        # `_Arg` and `_Retval` nodes by the tensor that was announced.
        self._arguments = dict(zip(signature.feeds, arguments, strict=True))
        self._results = dict(zip(signature.fetches, results, strict=True))
        self._fed: set[str] = set()
        self._fetched: set[str] = set()
        self._done: set[str] = set()  # names of nodes that have run
        self._values: dict[Edge, Any] = {}  # what later parts need of them
        self._units = atomic_units(graph)

    @property
    def is_complete(self) -> bool:
        """Whether everything that was announced has been fed and fetched."""
        return len(self._fed) == len(self._arguments) and len(self._fetched) == len(
            self._results
        )

    def advance(
        self, feeds: Sequence[tuple[str, Any]], fetches: Sequence[str]
    ) -> list[Any]:
        """Feeds more, runs what can run, and returns the fetches.

        Raises:
          errors.InvalidArgumentError: a feed or fetch was not announced, came before,
            or a fetch needs feeds that have not come yet.
        """
        self._check(feeds, fetches)
        for name, value in feeds:
            argument = self._arguments[name].name
            self._values[argument, 0] = value
            self._done.add(argument)
        self._fed |= {name for name, _ in feeds}
        part = self._ready()
        wanted = self._wanted(part, fetches)
        self._run(part, wanted)
        self._fetched |= set(fetches)
        return [self._values[self._results[name].inputs[0]] for name in fetches]

    # --- checks --------------------------------------------------------------------

    def _check(self, feeds: Sequence[tuple[str, Any]], fetches: Sequence[str]) -> None:
        for name, _ in feeds:
            if name not in self._arguments:
                raise invalid_argument(
                    f"The feed {name} was not specified in partial_run_setup."
                )
            if name in self._fed:
                raise invalid_argument(f"The feed {name} has already been fed.")
        for name in fetches:
            if name not in self._results:
                raise invalid_argument(
                    f"The fetch {name} was not specified in partial_run_setup."
                )
            if name in self._fetched:
                raise invalid_argument(f"The fetch {name} has already been fetched.")
        fed = self._fed | {name for name, _ in feeds}
        missing = {a.name: n for n, a in self._arguments.items() if n not in fed}
        for name in fetches:
            blocked = self._ancestors(self._results[name]) & missing.keys()
            if blocked:
                raise invalid_argument(
                    f"Fetch {name} can't be computed from the feeds that have been fed "
                    f"so far: it needs {missing[min(blocked)]}."
                )

    def _ancestors(self, node: Node) -> set[str]:
        nodes = self._graph.nodes
        found = {node.name}
        stack = [node]
        while stack:
            for name in stack.pop().producers:
                if name not in found:
                    found.add(name)
                    stack.append(nodes[name])
        return found

    # --- the next part ---------------------------------------------------------------

    def _ready(self) -> list[Node]:
        """The nodes that can run now and have not, in order."""
        available = set(self._done)
        found: set[str] = set()
        grows = True
        while grows:  # a unit may be ready only after a node that stands behind it
            grows = False
            for node in self._graph.nodes.values():
                name = node.name
                if node.op in ("_Arg", "_Retval") or name in available:
                    continue
                unit = self._units.get(name)
                if available.issuperset(
                    node.producers if unit is None else self._needs_of(unit)
                ):
                    new = (name,) if unit is None else unit
                    available.update(new)
                    found.update(new)
                    grows = bool(self._units)
        return [node for name, node in self._graph.nodes.items() if name in found]

    def _needs_of(self, unit: Sequence[str]) -> set[str]:
        """What must have run before a unit does."""
        nodes = self._graph.nodes
        return {name for n in unit for name in nodes[n].producers}.difference(unit)

    def _wanted(self, part: Sequence[Node], fetches: Sequence[str]) -> list[Edge]:
        """The outputs of the part that are fetched, or that later nodes take."""
        inside = {node.name for node in part}
        wanted: dict[Edge, None] = {}
        for node in self._graph.nodes.values():
            if node.name in inside or node.name in self._done:
                continue
            for edge in node.inputs:
                if edge[0] in inside and (
                    node.op == "_Retval" or not self._is_handle(edge)
                ):
                    wanted[edge] = None
        return list(wanted)

    def _is_handle(self, edge: Edge) -> bool:
        """References and resources stay with their node, which later parts repeat.

        So does the `read` of a variable: it shares the variable's memory, and who takes
        it after an update finds the new value.
        """
        node = self._graph.nodes[edge[0]]
        dtype = node.output_types[edge[1]]
        if node.op == "Identity":
            producer, index = node.inputs[0]
            dtype = self._graph.nodes[producer].output_types[index]
        return dtype is dtypes.resource or dtype._is_ref_dtype

    def _run(self, part: Sequence[Node], wanted: Sequence[Edge]) -> None:
        if not part:
            return
        graph, signature, given = self._cut(part, wanted)
        step = self._prepare(graph, signature)
        results = step.run([_as_feed(self._values[edge]) for edge in given])
        self._values.update(zip(wanted, results, strict=True))
        self._done |= {node.name for node in part}

    def _cut(
        self, part: Sequence[Node], wanted: Sequence[Edge]
    ) -> tuple[GraphIR, StepSignature, list[Edge]]:
        """The part as a graph of its own; also which known values it takes."""
        device = next(iter(self._arguments.values()), part[0]).device
        nodes = self._graph.nodes
        inside = {node.name for node in part}
        body: list[Node] = []
        arguments: dict[Edge, Node] = {}
        repeated: dict[str, Node] = {}
        for node in part:
            inputs = []
            for edge in node.inputs:
                if edge[0] in inside:
                    inputs.append(edge)
                elif edge in self._values and not self._is_handle(edge):
                    argument = arguments.get(edge)
                    if argument is None:
                        argument = _argument(edge, nodes, len(arguments), device)
                        arguments[edge] = argument
                    inputs.append((argument.name, 0))
                else:
                    edge = self._holder(edge)
                    self._repeat(edge[0], repeated)
                    inputs.append(edge)
            control = tuple(n for n in node.control_inputs if n in inside)
            body.append(node.replace(inputs=tuple(inputs), control_inputs=control))
        results = [_result(edge, nodes, i, device) for i, edge in enumerate(wanted)]
        graph = self._graph.with_nodes(
            [*arguments.values(), *repeated.values(), *body, *results]
        )
        signature = StepSignature(
            tuple(f"{name}:{index}" for name, index in arguments),
            tuple(f"{name}:{index}" for name, index in wanted),
            tuple(node.name for node in part),
        )
        return graph, signature, list(arguments)

    def _holder(self, edge: Edge) -> Edge:
        """The variable that an update returned: an update must not be repeated."""
        while True:
            node = self._graph.nodes[edge[0]]
            if not node.output_types[edge[1]]._is_ref_dtype or not node.inputs:
                return edge
            producer, index = node.inputs[0]
            if not self._graph.nodes[producer].output_types[index]._is_ref_dtype:
                return edge
            edge = node.inputs[0]

    def _repeat(self, name: str, repeated: dict[str, Node]) -> None:
        """Adds a node that makes a handle, and what it takes, to a later part."""
        node = self._graph.nodes[name]
        inputs = tuple(self._holder(edge) for edge in node.inputs)
        for producer, _ in inputs:
            self._repeat(producer, repeated)
        repeated[name] = node.replace(inputs=inputs, control_inputs=())


def _as_feed(value: Any) -> Any:
    """What a step returned as a step takes it: a string is an array of one."""
    return np.array(value, object) if isinstance(value, bytes) else value


def _argument(edge: Edge, nodes: Mapping[str, Node], index: int, device: str) -> Node:
    producer = nodes[edge[0]]
    dtype = producer.output_types[edge[1]].base_dtype
    shapes = producer.output_shapes
    return Node(
        f"_arg_{edge[0]}_{edge[1]}_{index}",
        "_Arg",
        (),
        (),
        device,
        {"T": dtype, "index": index},
        (dtype,),
        None if shapes is None else (shapes[edge[1]],),
        producer.source,
    )


def _result(edge: Edge, nodes: Mapping[str, Node], index: int, device: str) -> Node:
    dtype = nodes[edge[0]].output_types[edge[1]].base_dtype
    return Node(
        f"_retval_{edge[0]}_{edge[1]}_{index}",
        "_Retval",
        (edge,),
        (),
        device,
        {"T": dtype, "index": index},
        (),
        (),
        nodes[edge[0]].source,
    )
