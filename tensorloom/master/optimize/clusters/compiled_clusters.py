"""Nodes that are to be compiled become calls of functions: `_CompiledCluster`.

before: b = Mul(a, a);  c = Exp(b);  d = Sum(c, axis)         marked, or all are
after:  d = _CompiledCluster(a) [f = their function]

Which nodes those are: `jit_scope` and `xla.compile` mark them, and
`OptimizerOptions.global_jit_level` asks for all. The worker calls the function as any
other until it has the machine code of it (`worker/compiled/`).
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import Edge, FunctionIR, Node
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.runtime.stage_journal import Rewrite
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.master.optimize.clusters.compilable import (
    is_arithmetic,
    is_compilable,
    wish_of,
)
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import Rewriting, shows_variable
from tensorloom.master.optimize.rewritten_order import epochs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.master.optimize.target import OptimizeTarget

# Arithmetic nodes from which on a cluster is worth its call: where the program marked
# them, and where it asks for all.
_LEAST_MARKED: Final = 2
_LEAST: Final = 4
# Constants of so many elements are part of the function; larger ones are arguments.
_MOST_EMBEDDED: Final = 64

# What nodes of one cluster have in common: their wish, device, depth and epoch.
_Class = tuple[bytes, str, int, int]


def compile_clusters(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with what is to be compiled as calls of functions."""
    compiles_all = target.config.compiles_all
    nodes = graph.nodes
    if not compiles_all and all(wish_of(n, False) is None for n in nodes.values()):
        return graph
    if any(node.op in CONTROL_FLOW for node in nodes.values()):
        return graph
    clusters = _connected(nodes, _classes(graph, target))
    made = [
        _Cluster(graph, target, members)
        for (wish, *_), members in clusters
        if sum(map(is_arithmetic, members)) >= (_LEAST_MARKED if wish else _LEAST)
    ]
    return _with_clusters(graph, target, made) if made else graph


def _classes(graph: GraphIR, target: OptimizeTarget) -> dict[str, _Class]:
    """The class of each node that may be in a cluster.

    The depth grows along each edge that leaves or enters a class. So nodes of one class
    and depth have no path among them that leads through others: they can be one node.
    Small constants do not count, but what they wait for does.
    """
    nodes = graph.nodes
    compiles_all = target.config.compiles_all
    rewriting = Rewriting(graph, target)
    rewriting.nodes = nodes
    order = epochs(list(nodes.values()), nodes)
    classes: dict[str, _Class] = {}
    depths: dict[str, int] = {}
    for node in nodes.values():
        wish = wish_of(node, compiles_all)
        if wish is not None and not _may_be_member(node, rewriting):
            wish = None
        key = None if wish is None else (wish, node.device, order[node.name])
        depth = 0
        for name in _waited_for(node, nodes):
            other = classes.get(name)
            same = other is not None and (other[0], other[1], other[3]) == key
            same = same or (other is None and key is None)
            depth = max(depth, depths[name] + (0 if same else 1))
        depths[node.name] = depth
        if key is not None:
            classes[node.name] = (key[0], key[1], depth, key[2])
    return classes


def _may_be_member(node: Node, rewriting: Rewriting) -> bool:
    nodes = rewriting.nodes
    if "_class" in node.attrs or not is_compilable(node, nodes):
        return False
    if len(node.output_types) != 1 and node.name in rewriting.target.preserve:
        return False  # its name cannot stay
    # What shows a variable is read by who computes with it, when that runs.
    return not rewriting.changes_references or not any(
        shows_variable(nodes, edge) for edge in node.inputs
    )


def _waited_for(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """What a node waits for, past constants that go into the function."""
    for name in node.producers:
        if _is_embedded(nodes[name]):
            yield from nodes[name].control_inputs
        else:
            yield name


def _connected(
    nodes: Mapping[str, Node], classes: Mapping[str, _Class]
) -> list[tuple[_Class, list[Node]]]:
    """The nodes of each class that hang together, in the order of the graph."""
    parents = {name: name for name in classes}

    def root(name: str) -> str:
        while parents[name] != name:
            parents[name] = name = parents[parents[name]]
        return name

    for name, its_class in classes.items():
        for producer in _waited_for(nodes[name], nodes):
            if classes.get(producer) == its_class:
                parents[root(name)] = root(producer)
    groups: dict[str, list[Node]] = {}
    for name in classes:
        groups.setdefault(root(name), []).append(nodes[name])
    return [(classes[members[0].name], members) for members in groups.values()]


class _Cluster:
    """Nodes that become one."""

    def __init__(
        self, graph: GraphIR, target: OptimizeTarget, members: Sequence[Node]
    ) -> None:
        nodes = graph.nodes
        self.members = {node.name: node for node in members}
        self.inputs: list[Edge] = []
        self.constants: dict[str, Node] = {}
        waits: dict[str, None] = {}
        for node in members:
            for edge in node.inputs:
                producer = nodes[edge[0]]
                if edge[0] in self.members or edge in self.inputs:
                    continue
                if _is_embedded(producer):
                    self.constants[edge[0]] = producer
                    waits.update(dict.fromkeys(producer.control_inputs))
                else:
                    self.inputs.append(edge)
            waits.update(dict.fromkeys(node.control_inputs))
        taken = {name for name, _ in self.inputs}
        self.waits = tuple(w for w in waits if w not in self.members and w not in taken)
        self.outputs = _read_outside(graph, target, self.members)
        self.name = _unused(nodes, f"{members[-1].name}/compiled")

    def function(self, nodes: Mapping[str, Node]) -> FunctionIR:
        """The function of the members."""
        arguments = {edge: f"x{i}" for i, edge in enumerate(self.inputs)}
        taken = {*self.members, *self.constants}
        for edge, name in arguments.items():
            while name in taken:
                name += "_"
            arguments[edge] = name
        body = {
            name: node.replace(device="", control_inputs=())
            for name, node in self.constants.items()
        }
        for name, node in self.members.items():
            inputs = tuple(
                (arguments[edge], 0) if edge in arguments else edge
                for edge in node.inputs
            )
            body[name] = node.replace(inputs=inputs, control_inputs=(), device="")
        return FunctionIR(
            self.name.replace("/", "_") + "_function",
            tuple(arguments.values()),
            self.input_types(nodes),
            tuple(f"y{i}" for i in range(len(self.outputs))),
            self._output_types(),
            body,
            tuple(self.outputs),
            arg_shapes=tuple(_shape(nodes, edge) for edge in self.inputs),
        )

    def node(self, nodes: Mapping[str, Node], function: FunctionIR) -> Node:
        """The call."""
        first = next(iter(self.members.values()))
        types = self._output_types()
        return Node(
            self.name,
            "_CompiledCluster",
            tuple(self.inputs),
            self.waits,
            first.device,
            {
                "Tin": list(self.input_types(nodes)),
                "Tout": list(types),
                "f": NameAttrList(function.name),
            },
            types,
            tuple(_shape(nodes, edge) for edge in self.outputs),
            first.source,
        )

    def input_types(self, nodes: Mapping[str, Node]) -> tuple[DType, ...]:
        """The dtypes of the arguments."""
        return tuple(nodes[name].output_types[index] for name, index in self.inputs)

    def _output_types(self) -> tuple[DType, ...]:
        return tuple(
            self.members[name].output_types[index] for name, index in self.outputs
        )


def _is_embedded(node: Node) -> bool:
    # Sizes, axes and places, which must be constants of the function, are small.
    return node.op == "Const" and bool(node.attrs["value"].size <= _MOST_EMBEDDED)


def _shape(nodes: Mapping[str, Node], edge: Edge) -> TensorShape:
    shapes = nodes[edge[0]].output_shapes
    return UNKNOWN if shapes is None else shapes[edge[1]]


def _unused(nodes: Mapping[str, Node], name: str) -> str:
    while name in nodes:
        name += "_"
    return name


def _read_outside(
    graph: GraphIR, target: OptimizeTarget, members: Mapping[str, Node]
) -> list[Edge]:
    """The outputs that others take, or that must stay."""
    found: dict[Edge, None] = {}
    for node in graph.nodes.values():
        if node.name in members:
            if node.name in target.preserve:
                found[node.name, 0] = None
        else:
            found.update((e, None) for e in node.inputs if e[0] in members)
    return list(found)


def _with_clusters(
    graph: GraphIR, target: OptimizeTarget, clusters: Sequence[_Cluster]
) -> GraphIR:
    nodes = graph.nodes
    functions = dict(graph.functions)
    moved: dict[Edge, Edge] = {}
    gone: dict[str, str] = {}
    calls: dict[str, Node] = {}
    place = epochs(list(nodes.values()), nodes)
    order = {name: (place[name], i) for i, name in enumerate(nodes)}
    for cluster in clusters:
        function = cluster.function(nodes)
        functions[function.name] = function
        call = cluster.node(nodes, function)
        calls[call.name] = call
        order[call.name] = order[next(iter(cluster.members))]
        moved.update((e, (call.name, i)) for i, e in enumerate(cluster.outputs))
        gone.update(dict.fromkeys(cluster.members, call.name))
    after: dict[str, Node] = {}
    for node in (*nodes.values(), *calls.values()):
        call_name = gone.get(node.name)
        if call_name is not None:
            if target.journal is not None:
                target.journal.rewrite(Rewrite("fused", node.name, (call_name,), ""))
            if node.name not in target.preserve:
                continue
            attrs = {"T": node.output_types[0]}
            edge = (node.name, 0)
            node = node.replace(
                op="Identity", inputs=(edge,), control_inputs=(), attrs=attrs
            )
        after[node.name] = _redirected(node, moved, gone, target)
    ordered = _in_order(after.values(), order)
    result = infer_missing(graph.with_nodes(ordered))
    result.functions = functions
    return result


def _redirected(
    node: Node,
    moved: Mapping[Edge, Edge],
    gone: Mapping[str, str],
    target: OptimizeTarget,
) -> Node:
    inputs = tuple([moved.get(edge, edge) for edge in node.inputs])
    taken = {name for name, _ in inputs}
    waits = dict.fromkeys(
        name if name in target.preserve else gone.get(name, name)
        for name in node.control_inputs
    )
    kept = tuple(name for name in waits if name not in taken)
    if inputs == node.inputs and kept == node.control_inputs:
        return node
    return with_inputs(node, inputs, kept)


def _in_order(
    nodes: Iterable[Node], places: Mapping[str, tuple[int, int]]
) -> list[Node]:
    """Topological order; each node between the writers that it stood between."""
    by_name = {node.name: node for node in nodes}
    waiting = {name: len(set(n.producers)) for name, n in by_name.items()}
    readers: dict[str, list[str]] = {}
    for name, node in by_name.items():
        for producer in set(node.producers):
            readers.setdefault(producer, []).append(name)
    ready = [(places[name], name) for name, count in waiting.items() if not count]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, name = heapq.heappop(ready)
        ordered.append(by_name[name])
        for reader in readers.get(name, ()):
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, (places[reader], reader))
    if len(ordered) < len(by_name):
        left = [name for name, count in waiting.items() if count]
        raise errors.InternalError(None, None, f"Clusters wait for each other: {left}")
    return ordered
