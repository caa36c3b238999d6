"""Subgraphs that look like a pattern, and others in their place.

The order in which matches are found, and which of two that overlap is taken, are the
Graph Transform Tool's, so that the results are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tensorloom.tools.graph_transforms.nodes import by_name, node_of, with_nodes
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef


@dataclass(frozen=True)
class Pattern:
    """Ops with `|` between them, or `*`; and the inputs, if they matter."""

    op: str
    inputs: tuple[Pattern, ...] = ()

    def fits(self, op: str) -> bool:
        """Whether a node of an op can be the head of this pattern."""
        return self.op == "*" or op in self.op.split("|")


def pattern(op: str, *inputs: Pattern | str) -> Pattern:
    """A Pattern; inputs that are plain strings have any inputs themselves."""
    return Pattern(op, tuple(Pattern(i) if isinstance(i, str) else i for i in inputs))


@dataclass
class Match:
    """A node that fits, and those before it."""

    node: NodeDef
    inputs: list[Match] = field(default_factory=list)

    def nodes(self) -> list[NodeDef]:
        """All nodes of the match, each once, nearest first."""
        found: dict[str, NodeDef] = {}
        level = [self]
        while level:
            following: list[Match] = []
            for match in level:
                if match.node.name not in found:
                    found[match.node.name] = match.node
                    following += match.inputs
            level = following
        return list(found.values())


#: Makes the nodes in the place of a match, or None to leave it as it is. It is told
#: which of its nodes others read.
Replacement = Callable[[Match, set[str]], "list[NodeDef] | None"]
_MERGES: Final = ("Merge", "RefMerge")


def sorted_nodes(graph: Any) -> list[NodeDef]:
    """The nodes, each after those that it reads; the latest that can follow does.

    Raises:
      InvalidArgumentError: the graph has a cycle, or an input is not there.
    """
    found = list(_in_order(graph))
    if len(found) != len(graph.node):
        raise invalid(f"{len(graph.node) - len(found)} nodes in a cycle")
    return found


def _in_order(graph: Any) -> Iterator[NodeDef]:
    """As far as there is an order."""
    places = {node.name: at for at, node in enumerate(graph.node)}
    waiting: list[int] = []
    readers: list[list[int]] = [[] for _ in graph.node]
    ready: list[int] = []
    for at, node in enumerate(graph.node):
        for name in node.input:
            if node_of(name) not in places:
                raise invalid(f"Node '{node.name}': Unknown input node '{name}'")
            readers[places[node_of(name)]].append(at)
        if node.op in _MERGES:
            # A Merge in a loop comes after one of its inputs.
            waiting.append(1 + sum(name.startswith("^") for name in node.input))
        else:
            waiting.append(len(node.input))
        if not node.input:
            ready.append(at)
    while ready:
        done = ready.pop()
        yield graph.node[done]
        for reader in readers[done]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                ready.append(reader)


def matches(graph: Any, wanted: Pattern) -> list[Match]:
    """Where a graph looks like a pattern. Matches share no nodes."""
    ordered = list(_in_order(graph))
    nodes = {node.name: node for node in ordered}
    taken: set[str] = set()
    found = []
    for node in ordered:
        match = _match(node, wanted, nodes, taken)
        if match is not None:
            taken |= {one.name for one in match.nodes()}
            found.append(match)
    return found


def _match(
    node: NodeDef, wanted: Pattern, nodes: dict[str, NodeDef], taken: set[str]
) -> Match | None:
    if node.name in taken or not wanted.fits(node.op):
        return None
    match = Match(node)
    if not wanted.inputs:
        return match
    data = [name for name in node.input if not name.startswith("^")]
    if len(data) != len(wanted.inputs):
        return None
    for name, inner in zip(data, wanted.inputs, strict=True):
        before = nodes.get(node_of(name))
        matched = None if before is None else _match(before, inner, nodes, taken)
        if matched is None:
            return None
        match.inputs.append(matched)
    return match


def replaced(
    graph: Any,
    wanted: Pattern,
    replacement: Replacement,
    *,
    allow_inconsistencies: bool = False,
) -> Any:
    """A graph with other nodes where it looked like a pattern.

    Args:
      graph: GraphDef.
      wanted: the pattern.
      replacement: what stands in the place of a match.
      allow_inconsistencies: nodes may go that others read. Otherwise a match whose
        replacement does not have such a node stays as it is.
    """
    found = matches(graph, wanted)
    heads = {match.node.name: match for match in found}
    inside = {node.name for match in found for node in match.nodes()}
    readers: dict[str, list[str]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(node_of(name), []).append(node.name)
    made: list[NodeDef] = []
    for node in graph.node:
        match = heads.get(node.name)
        if match is None:
            if node.name not in inside:
                made.append(node)
            continue
        old = match.nodes()
        own = {one.name for one in old}
        read = {n for n in own if not own.issuperset(readers.get(n, ()))}
        new = replacement(match, read)
        lost = new is not None and not read <= {one.name for one in new}
        if new is None or (lost and not allow_inconsistencies):
            new = old
        made += new
    return with_nodes(graph, _each_once(made))


def _each_once(nodes: list[NodeDef]) -> Iterator[NodeDef]:
    """A node that two matches hand on is in the graph once."""
    seen: set[str] = set()
    for node in nodes:
        if node.name not in seen:
            seen.add(node.name)
            yield node


def without_unread(graph: Any, kept: set[str]) -> Any:
    """A graph without the nodes that nothing in `kept` needs."""
    nodes = by_name(graph)
    needed: set[str] = set()
    waiting = [name for name in kept if name in nodes]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += [node_of(i) for i in nodes[name].input if node_of(i) in nodes]
    return with_nodes(graph, (node for node in graph.node if node.name in needed))
