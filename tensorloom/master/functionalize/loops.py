"""Loops of Enter, Merge, Switch, NextIteration and Exit as While nodes.

before: e = Enter(x);  m = Merge(e, n);  c = LoopCond(Less(m, limit))
        s = Switch(m, c);  n = NextIteration(Add(s:1, one));  y = Exit(s:0)
after:  w = While(x, limit, one, cond=..., body=...);  y = Identity(w)

A frame that has another form (a value is fetched out of its middle, a Merge that no
iteration leads back to) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
)
from tensorloom.framework.graph.graph_ir import (
    GRAPH_NAMES,
    LOWERED,
    Edge,
    FunctionIR,
    GraphIR,
    Node,
    sort_topologically,
)
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.master.functionalize.identity import as_identity
from tensorloom.master.functionalize.liveness import Liveness
from tensorloom.master.optimize.node_facts import is_pure

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@dataclass(slots=True, eq=False)
class _Frame:
    """The nodes of one loop."""

    name: bytes
    enters: list[Node] = field(default_factory=list)
    inner: list[Node] = field(default_factory=list)  # all but the Enters


@dataclass(slots=True, eq=False)
class _Loop:
    """A frame whose form is understood."""

    variables: list[Node]  # the Merges
    starts: list[Node]  # their Enters
    switches: list[Node | None]
    ends: list[Node | None]  # their NextIterations
    constants: list[Node]  # Enters that all iterations share
    condition: Node  # LoopCond
    exits: list[tuple[Node, int]]  # with the variable's index


def functionalize_loops(graph: GraphIR) -> GraphIR:
    """The graph with While nodes in place of its loops, inner loops first."""
    failed: set[bytes] = set()
    while True:
        frames = _innermost_frames(graph, failed)
        if not frames:
            return graph
        liveness = Liveness(graph)
        for frame in frames:
            changed = _functionalize(graph, frame, liveness)
            if changed is None:
                failed.add(frame.name)
            else:
                graph = changed


# --- frames --------------------------------------------------------------------------


def _innermost_frames(graph: GraphIR, failed: set[bytes]) -> list[_Frame]:
    """Frames that have no other frame inside, without those that failed."""
    paths: dict[str, tuple[bytes, ...]] = {}
    frames: dict[bytes, _Frame] = {}
    parents: set[bytes] = set()
    for node in graph.nodes.values():
        path = _path_into(node, paths)
        if path is None:
            return []  # the interpreter says what is wrong
        if node.op in ENTERS:
            name = node.attrs["frame_name"]
            if not name:
                return []
            frames.setdefault(name, _Frame(name)).enters.append(node)
            parents.update(path)
            path = (*path, name)
        elif path:
            frames[path[-1]].inner.append(node)
            if node.op in EXITS:
                path = path[:-1]
        paths[node.name] = path
    return [
        f for f in frames.values() if f.name not in failed and f.name not in parents
    ]


def _path_into(
    node: Node, paths: Mapping[str, tuple[bytes, ...]]
) -> tuple[bytes, ...] | None:
    """The frames around a node: those of all its inputs; None if they differ."""
    # What comes back from the iteration before has no path yet.
    found = {paths[name] for name in node.producers if name in paths}
    if len(found) > 1:
        return None
    return found.pop() if found else ()


# --- the form of a loop --------------------------------------------------------------


def _understand(graph: GraphIR, frame: _Frame) -> _Loop | None:
    nodes = graph.nodes
    merges = [n for n in frame.inner if n.op in MERGES]
    conditions = [n for n in frame.inner if n.op == "LoopCond"]
    if len(conditions) != 1:
        return None
    enters = {n.name: n for n in frame.enters}
    loop = _Loop([], [], [], [], [], conditions[0], [])
    for merge in merges:
        names = [name for name, _ in merge.inputs]
        starts = [n for n in names if n in enters]
        ends = [n for n in names if nodes[n].op in NEXT_ITERATIONS]
        if not starts:
            continue  # the end of a cond in the body
        if len(names) != 2 or len(starts) != 1 or len(ends) != 1:
            return None
        loop.variables.append(merge)
        loop.starts.append(enters[starts[0]])
        loop.ends.append(nodes[ends[0]])
    started = {n.name for n in loop.starts}
    loop.constants = [n for n in frame.enters if n.name not in started]
    if not all(n.attrs["is_constant"] for n in loop.constants):
        return None
    index_of = {n.name: i for i, n in enumerate(loop.variables)}
    loop.switches = [None] * len(loop.variables)
    for node in frame.inner:
        if node.op in SWITCHES and node.inputs[1][0] == (loop.condition.name):
            index = index_of.get(node.inputs[0][0])
            if index is None or loop.switches[index] is not None:
                return None
            loop.switches[index] = node
    return loop if _find_exits(loop, frame) else None


def _find_exits(loop: _Loop, frame: _Frame) -> bool:
    by_switch = {s.name: i for i, s in enumerate(loop.switches) if s is not None}
    for node in frame.inner:
        if node.op in EXITS:
            name, output = node.inputs[0]
            if name not in by_switch or output != 0:
                return False
            loop.exits.append((node, by_switch[name]))
    return True


# --- the functions -------------------------------------------------------------------


class _Body:
    """Collects the nodes that some results inside a frame need."""

    def __init__(self, graph: GraphIR, ends: Mapping[Edge, str]) -> None:
        self.graph = graph
        self.ends = ends  # values that are arguments
        self.rims = {name for name, _ in ends}
        self.nodes: dict[str, Node] = {}
        self.understood = True

    def collect(self, roots: Iterable[str]) -> None:
        """Adds the nodes of these names and what they need."""
        stack = [name for name in roots if name not in self.rims]
        while stack:
            name = stack.pop()
            if name in self.nodes:
                continue
            node = self.graph.nodes[name]
            if node.op in ENTERS | EXITS | NEXT_ITERATIONS:
                self.understood = False
                return
            for edge in node.inputs:
                if edge[0] in self.rims and edge not in self.ends:
                    self.understood = False
                    return
            control = tuple(c for c in node.control_inputs if c not in self.rims)
            inputs = tuple(
                (self.ends[e], 0) if e in self.ends else e for e in node.inputs
            )
            self.nodes[name] = node.replace(inputs=inputs, control_inputs=control)
            stack += [e[0] for e in node.inputs if e not in self.ends]
            stack += control


# --- what enters late ----------------------------------------------------------------


def _late_enters(graph: GraphIR, frame: _Frame) -> dict[str, Node]:
    """The Enters that wait, by way of other nodes, for what leaves the same loop.

    The counter that a gradient adds to a loop is one, when the gradient is taken under
    `control_dependencies` on the loop's results. The primitives run so, as the other
    variables do not wait for it; a While would wait for itself.
    """
    after = _after_exits(graph, frame)
    return {n.name: n for n in frame.enters if not after.isdisjoint(n.producers)}


def _after_exits(graph: GraphIR, frame: _Frame) -> set[str]:
    after = {n.name for n in frame.inner if n.op in EXITS}
    for node in graph.nodes.values():  # in topological order
        if not after.isdisjoint(node.producers):
            after.add(node.name)
    return after


def _without_waits(
    graph: GraphIR, frame: _Frame, late: Mapping[str, Node]
) -> tuple[GraphIR, _Frame] | None:
    """The graph with copies of the late constants that do not wait; None if others are.

    The results of the loop that they wait for must be alive whenever the loop runs.
    """
    after = _after_exits(graph, frame)
    nodes = dict(graph.nodes)
    for enter in late.values():
        constant = nodes[enter.inputs[0][0]]
        if constant.op != "Const" or not after.isdisjoint(enter.control_inputs):
            return None
        name = _unused_name(graph, constant.name + "/now")
        waits = tuple(c for c in constant.control_inputs if c not in after)
        nodes[name] = constant.replace(name=name, control_inputs=waits)
        nodes[enter.name] = enter.replace(inputs=((name, 0),))
    enters = [nodes[n.name] for n in frame.enters]
    changed = graph.with_nodes(sort_topologically(nodes))
    return changed, _Frame(frame.name, enters, frame.inner)


# --- the loop as a node --------------------------------------------------------------


def _functionalize(graph: GraphIR, frame: _Frame, liveness: Liveness) -> GraphIR | None:
    loop = _understand(graph, frame)
    if loop is None or not liveness.outlives(loop.constants, loop.starts):
        return None
    alone = liveness.outliving(loop.starts)
    if alone and _are_read(graph, [n for n, i in loop.exits if i in alone]):
        return None
    late = _late_enters(graph, frame)
    if late:
        punctual = [n for n in loop.starts if n.name not in late]
        if not punctual or not liveness.outlives(late.values(), punctual):
            return None
        sooner = _without_waits(graph, frame, late)
        return None if sooner is None else _functionalize(*sooner, Liveness(sooner[0]))
    inputs = [*loop.starts, *loop.constants]
    types = [graph.nodes[n.inputs[0][0]].output_types[n.inputs[0][1]] for n in inputs]
    if any(t._is_ref_dtype for t in types[: len(loop.starts)]):
        return None
    args = [f"arg_{i}" for i in range(len(inputs))]
    test = _make_test(graph, loop, args)
    step = _make_step(graph, loop, args)
    if test is None or step is None:
        return None
    known = {
        *test.nodes,
        *step.nodes,
        *(n.name for n in [*loop.variables, loop.condition]),
        *(n.name for n in loop.switches if n is not None),
        *(n.name for n in loop.ends if n is not None),
        *(n.name for n, _ in loop.exits),
    }
    shared = test.nodes.keys() & step.nodes.keys()
    # In a function there may be nodes that nothing needs.
    rest = [n for n in frame.inner if n.name not in known]
    if not all(map(is_pure, rest)) or not all(
        is_pure(graph.nodes[name]) for name in shared
    ):
        return None
    return _with_while(graph, frame, loop, types, args, (test.nodes, step.nodes))


def _are_read(graph: GraphIR, nodes: Iterable[Node]) -> bool:
    names = {node.name for node in nodes}
    return any(not names.isdisjoint(n.producers) for n in graph.nodes.values())


def _constant_ends(loop: _Loop, args: list[str]) -> dict[Edge, str]:
    first = len(loop.starts)
    return {(n.name, 0): args[first + i] for i, n in enumerate(loop.constants)}


def _make_test(graph: GraphIR, loop: _Loop, args: list[str]) -> _Body | None:
    ends = _constant_ends(loop, args)
    ends.update({(n.name, 0): args[i] for i, n in enumerate(loop.variables)})
    body = _Body(graph, ends)
    body.collect([loop.condition.inputs[0][0]])
    return body if body.understood else None


def _make_step(graph: GraphIR, loop: _Loop, args: list[str]) -> _Body | None:
    ends = _constant_ends(loop, args)
    ends.update({(n.name, 0): args[i] for i, n in enumerate(loop.variables)})
    for index, switch in enumerate(loop.switches):
        if switch is not None:
            ends[switch.name, 1] = args[index]
    body = _Body(graph, ends)
    for end in loop.ends:
        assert end is not None
        # What the NextIteration waits for ends before the next iteration begins.
        name = end.name
        value = as_identity(end)
        edge = end.inputs[0]
        control = tuple(c for c in end.control_inputs if c not in body.rims)
        if edge in ends:
            value = value.replace(inputs=((ends[edge], 0),), control_inputs=control)
        else:
            value = value.replace(control_inputs=control)
            body.collect([edge[0]])
        body.collect(control)
        body.nodes[name] = value
    return body if body.understood else None


def _function(
    name: str,
    args: list[str],
    types: list[DType],
    results: list[tuple[Edge, DType]],
    nodes: Mapping[str, Node],
) -> FunctionIR:
    ordered = sort_topologically(nodes, args)
    return FunctionIR(
        name,
        tuple(args),
        tuple(types),
        tuple([f"result_{i}" for i in range(len(results))]),
        tuple([dtype for _, dtype in results]),
        {n.name: n.replace(output_shapes=None) for n in ordered},
        tuple([edge for edge, _ in results]),
        attrs={GRAPH_NAMES: True},
        is_stateful=not all(is_pure(n) for n in ordered),
        arg_shapes=(UNKNOWN,) * len(args),
    )


def _with_while(
    graph: GraphIR,
    frame: _Frame,
    loop: _Loop,
    types: list[DType],
    args: list[str],
    bodies: tuple[Mapping[str, Node], Mapping[str, Node]],
) -> GraphIR:
    name = _unused_name(graph, frame.name.decode() + "/While")
    edge = loop.condition.inputs[0]
    variables = {(n.name, 0): args[i] for i, n in enumerate(loop.variables)}
    variables.update(_constant_ends(loop, args))
    if edge in variables:
        edge = variables[edge], 0
    test = _function(
        f"{name}_cond", args, types, [(edge, loop.condition.output_types[0])], bodies[0]
    )
    results: list[tuple[Edge, DType]] = [
        ((end.name, 0), end.output_types[0]) for end in loop.ends if end is not None
    ]
    first = len(loop.starts)
    results += [
        ((args[first + i], 0), types[first + i]) for i in range(len(args) - first)
    ]
    step = _function(f"{name}_body", args, types, results, bodies[1])
    inputs = [*loop.starts, *loop.constants]
    control = dict.fromkeys(c for n in inputs for c in n.control_inputs)
    stateful = test.is_stateful or step.is_stateful
    while_node = Node(
        name,
        "While" if stateful else "StatelessWhile",
        tuple([n.inputs[0] for n in inputs]),
        tuple(control),
        loop.starts[0].device,
        {
            "T": list(types),
            "cond": NameAttrList(test.name),
            "body": NameAttrList(step.name),
            "output_shapes": [],
            "parallel_iterations": loop.starts[0].attrs["parallel_iterations"],
            LOWERED: True,
        },
        tuple(types),
        None,
        loop.condition.source,
    )
    gone = {n.name for n in [*frame.enters, *frame.inner]}
    exits = {
        node.name: as_identity(node).replace(inputs=((name, index),))
        for node, index in loop.exits
    }
    nodes: dict[str, Node] = {}
    for key, node in graph.nodes.items():
        if key in exits:
            nodes.setdefault(name, while_node)  # where it is most often in order
            nodes[key] = exits[key]
        elif key not in gone:
            nodes[key] = node
    nodes.setdefault(name, while_node)
    functions = {**graph.functions, test.name: test, step.name: step}
    changed = GraphIR(nodes, functions, graph.producer, graph.min_consumer)
    return changed.with_nodes(sort_topologically(nodes))


def _unused_name(graph: GraphIR, name: str) -> str:
    while name in graph.nodes or f"{name}_body" in graph.functions:
        name += "_"
    return name
