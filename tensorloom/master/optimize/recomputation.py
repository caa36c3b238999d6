"""Values that gradients read, computed again there instead of kept until then.

before: a = Relu(x);  b = MatMul(a, w);  ...;  da = MatMul(db, w)
                                              dw = MatMul(a, db)
after:  a = Relu(x);  b = MatMul(a, w);  ...;  da = MatMul(db, w)
                                              a' = Relu(x, ^db);  dw = MatMul(a', db)

A session asks for it: `memory_optimization` of its `RewriterConfig`. MANUAL takes the
operations that a program has marked (`_recompute_hint`); with RECOMPUTATION_HEURISTICS
or HEURISTICS cheap ones, too, where more is saved than kept instead. Operations that
stand on one another are cut into parts of about the root of n, the number of values
that gradients read: a chain takes the memory of about two roots of n values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.master.optimize.node_facts import is_pure
from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import Rewriting, shows_variable

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

#: The attr by which a program marks operations.
HINT: Final = "_recompute_hint"
# The scopes of `tf.gradients`; TensorFlow knows the first one alone.
_GRADIENTS: Final = re.compile(r"(^|/)gradients(_\d+)?/")
_CHEAP: Final = frozenset(
    {
        *("Add", "AddN", "AddV2", "BiasAdd", "Cast", "Elu", "Fill", "FloorDiv"),
        *("FloorMod", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"),
        *("LeakyRelu", "Maximum", "Minimum", "Mul", "Neg", "RealDiv", "Reciprocal"),
        *("Relu", "Relu6", "Reshape", "Rsqrt", "Selu", "Sigmoid", "Softplus", "Sqrt"),
        *("Square", "SquaredDifference", "Sub", "Tanh", "Tile", "Transpose"),
    }
)
# They read how large a value is: while it is there, instead of keeping it for them.
_SIZES: Final = frozenset({"Rank", "Shape", "ShapeN", "Size"})


def recompute(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with copies of operations before the gradients that read them.

    A copy has the control inputs of what it copies, and waits for a gradient besides.
    What reads a variable through a reference is not copied: it would read later.
    """
    scope = target.config.recomputation_scope
    found = re.compile(f"(^|/){re.escape(scope)}") if scope else _GRADIENTS

    def is_gradient(name: str) -> bool:
        return found.search(name) is not None

    rewriting = Rewriting(graph, target)
    chosen = _chosen(rewriting, is_gradient)
    read = _read_by_gradients(graph, chosen, is_gradient)
    if not read:
        return graph
    groups = [
        members
        for members in _connected(graph, chosen)
        if any(HINT in graph.nodes[m].attrs for m in members)
        or _saves(graph, members, read, is_gradient)
    ]
    names = {name for name, _ in read}
    count = sum(name in names for members in groups for name in members)
    length = math.isqrt(max(count - 1, 0)) + 1
    parts = [part for m in groups for part in _parts(graph, m, names, length)]
    order = list(graph.nodes.values())
    place = {node.name: number for number, node in enumerate(order)}
    first = _first_readers(order, read, is_gradient)
    copies: dict[str, Node] = {}  # by what they copy
    before: dict[str, list[Node]] = {}  # by the node in front of which they come
    for part in parts:
        at = min(first[name] for name in part if name in first)
        trigger = _trigger(graph, order, at, is_gradient)
        made = {name: _copy(graph, name, part, trigger) for name in part}
        copies.update(made)
        before.setdefault(order[at].name, []).extend(made.values())
    early = _sizes_of(graph, copies, is_gradient)
    after: dict[str, list[Node]] = {}  # by the last of their producers
    for reader in early.values():
        after.setdefault(max(reader.producers, key=place.__getitem__), []).append(
            reader
        )

    def keep(node: Node) -> None:
        rewriting.keep(node)
        for reader in after.get(node.name, ()):
            keep(reader)

    for node in order:
        for copy in before.get(node.name, ()):
            rewriting.keep(copy)
        if node.name not in early:
            keep(_reading(node, copies) if is_gradient(node.name) else node)
    return rewriting.result()


def _reading(node: Node, copies: dict[str, Node]) -> Node:
    """A gradient that reads copies."""
    inputs = tuple(
        (copies[name].name, index) if name in copies else (name, index)
        for name, index in node.inputs
    )
    return with_inputs(node, inputs, node.control_inputs)


# --- what is computed again -----------------------------------------------------------


def _chosen(rewriting: Rewriting, is_gradient: Callable[[str], bool]) -> set[str]:
    """The operations that may be computed again."""
    graph, target = rewriting.graph, rewriting.target
    cheap = _CHEAP if target.config.recomputes_cheap else frozenset()
    behind: set[str] = set()  # gradients, and what is computed of them
    for node in graph.nodes.values():
        if is_gradient(node.name) or not behind.isdisjoint(node.producers):
            behind.add(node.name)
    return {
        node.name
        for node in graph.nodes.values()
        if (node.op in cheap or HINT in node.attrs)
        and is_pure(node)
        and node.inputs
        and node.name not in behind
        and node.name not in target.preserve
        and not any(
            rewriting.changes_references and shows_variable(graph.nodes, edge)
            for edge in node.inputs
        )
    }


def _read_by_gradients(
    graph: GraphIR, chosen: set[str], is_gradient: Callable[[str], bool]
) -> set[Edge]:
    """The outputs of chosen operations that gradients read the values of."""
    return {
        edge
        for node in graph.nodes.values()
        if is_gradient(node.name) and node.op not in _SIZES
        for edge in node.inputs
        if edge[0] in chosen
    }


def _connected(graph: GraphIR, chosen: set[str]) -> Iterable[list[str]]:
    """Chosen operations of one device that read one another, in topological order."""
    group: dict[str, list[str]] = {}
    for node in graph.nodes.values():
        if node.name not in chosen:
            continue
        mine = [node.name]
        for name in dict.fromkeys(name for name, _ in node.inputs):
            other = group.get(name)
            if other is None or other is mine:
                continue
            if graph.nodes[name].device == node.device:
                mine, other = (other, mine) if len(other) > len(mine) else (mine, other)
                mine += other
                for member in other:
                    group[member] = mine
        group[node.name] = mine
    place = {name: number for number, name in enumerate(graph.nodes)}
    for members in {id(m): m for m in group.values()}.values():
        yield sorted(members, key=place.__getitem__)


def _saves(
    graph: GraphIR,
    members: Sequence[str],
    read: set[Edge],
    is_gradient: Callable[[str], bool],
) -> bool:
    """Whether less is kept when the inputs of these are, instead of what is read."""
    own = set(members)
    held = sum(_size(graph, edge) for edge in read if edge[0] in own)
    inputs = {edge for m in members for edge in graph.nodes[m].inputs} - {
        edge
        for node in graph.nodes.values()
        if is_gradient(node.name) and node.op not in _SIZES
        for edge in node.inputs
    }
    kept = [e for e in inputs if e[0] not in own and graph.nodes[e[0]].inputs]
    return held > sum(_size(graph, edge) for edge in kept)


def _size(graph: GraphIR, edge: Edge) -> int:
    """Its bytes; dimensions that are not known count as one."""
    node = graph.nodes[edge[0]]
    dims = node.output_shapes[edge[1]].dims_tuple if node.output_shapes else None
    sizes = [1 if dim is None else dim for dim in dims or ()]
    return math.prod(sizes) * node.output_types[edge[1]].size


def _parts(
    graph: GraphIR, members: Sequence[str], names: set[str], length: int
) -> list[dict[str, None]]:
    """What is copied together, in topological order: so many that gradients read.

    A part reads what the parts before it have computed the first time, which is kept.
    """
    cut: list[list[str]] = [[]]
    for member in members:
        if sum(m in names for m in cut[-1]) >= length:
            cut.append([])
        cut[-1].append(member)
    kept: set[str] = set()
    parts = []
    for part in reversed(cut):
        copied: set[str] = set()
        for name in reversed(part):
            if name not in kept and (name in names or name in copied):
                copied.add(name)
                inputs = {source for source, _ in graph.nodes[name].inputs} - kept
                copied |= inputs.intersection(part)
                kept |= inputs.intersection(members).difference(part)
        if copied:
            parts.append({name: None for name in part if name in copied})
    return parts


# --- copies ---------------------------------------------------------------------------


def _copy(
    graph: GraphIR, name: str, part: dict[str, None], trigger: tuple[str, ...]
) -> Node:
    node = graph.nodes[name]
    inputs = tuple(
        (_copied_name(graph, source) if source in part else source, index)
        for source, index in node.inputs
    )
    starts = not any(source in part for source, _ in node.inputs)
    waits = dict.fromkeys((*node.control_inputs, *(trigger if starts else ())))
    return node.replace(
        name=_copied_name(graph, name),
        inputs=inputs,
        control_inputs=tuple(waits),
        attrs={key: value for key, value in node.attrs.items() if key != HINT},
    )


def _copied_name(graph: GraphIR, name: str) -> str:
    """As TensorFlow calls the copy."""
    name = f"Recomputed/{name}"
    while name in graph.nodes:
        name += "_"
    return name


def _first_readers(
    order: Sequence[Node], read: set[Edge], is_gradient: Callable[[str], bool]
) -> dict[str, int]:
    """Where in the order the first gradient is that reads an operation's value."""
    first: dict[str, int] = {}
    for place, node in enumerate(order):
        if is_gradient(node.name) and node.op not in _SIZES:
            for edge in node.inputs:
                if edge in read:
                    first.setdefault(edge[0], place)
    return first


def _trigger(
    graph: GraphIR, order: Sequence[Node], at: int, is_gradient: Callable[[str], bool]
) -> tuple[str, ...]:
    """What a copy waits for before the first gradient that reads it.

    That gradient's own inputs; else the gradient that is listed before it.
    """
    taken = [
        name
        for name in dict.fromkeys(order[at].producers)
        if is_gradient(name) and graph.nodes[name].inputs
    ]
    if taken:
        return tuple(taken)
    for node in reversed(order[:at]):
        if is_gradient(node.name) and node.inputs and node.device == order[at].device:
            return (node.name,)
    return ()


def _sizes_of(
    graph: GraphIR, copies: dict[str, Node], is_gradient: Callable[[str], bool]
) -> dict[str, Node]:
    """The gradients that read no more than sizes of what is computed again."""
    return {
        node.name: node
        for node in graph.nodes.values()
        if node.op in _SIZES
        and is_gradient(node.name)
        and any(name in copies for name, _ in node.inputs)
    }
