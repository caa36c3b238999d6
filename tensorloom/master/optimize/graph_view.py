"""What a pass asks about a whole graph: who reads what, and what follows from what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node


class GraphView:
    """A graph, and who reads what in it."""

    def __init__(self, graph: GraphIR, preserve: Collection[str]) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self._preserve = preserve
        self._readers: dict[str, list[Node]] = {}
        self._waited_for: set[str] = set()
        for node in graph.nodes.values():
            for name, _ in node.inputs:
                self._readers.setdefault(name, []).append(node)
            self._waited_for.update(node.control_inputs)

    def only_readers(self, node: Node) -> list[Node] | None:
        """Who reads a node, if nobody else looks at it."""
        if node.name in self._preserve or node.name in self._waited_for:
            return None
        return self._readers.get(node.name, [])

    def dims(self, edge: Edge) -> tuple[int, ...] | None:
        """The static shape of an output, if it is known."""
        shapes = self.nodes[edge[0]].output_shapes
        if shapes is None or not shapes[edge[1]].is_fully_defined():
            return None
        dims: Any = shapes[edge[1]].dims_tuple
        return dims  # type: ignore[no-any-return]

    def constant(self, edge: Edge) -> Any:
        """The value of a Const as Python numbers, or None; also if it waits."""
        node = self.nodes[edge[0]]
        if node.op != "Const" or node.control_inputs:
            return None  # who does without it would not wait
        return node.attrs["value"].tolist()

    def columns(self, edge: Edge) -> tuple[Edge, Edge] | None:
        """The two matrices that a matrix was put together of, side by side."""
        node = self.nodes[edge[0]]
        if node.op != "ConcatV2" or node.control_inputs or len(node.inputs) != 3:
            return None
        left, right, axis = node.inputs
        if self.constant(axis) not in (1, -1):
            return None
        if any(len(self.dims(e) or ()) != 2 for e in (left, right)):
            return None
        return left, right

    def stacked(
        self, edges: Sequence[Edge], device: str, *, ordered: bool = False
    ) -> Node | None:
        """The node on a device that has these matrices under each other.

        In whatever order, or with `ordered` in this one.
        """
        for node in self._readers.get(edges[0][0], ()):
            if node.op != "ConcatV2" or self.constant(node.inputs[-1]) != 0:
                continue
            if node.control_inputs or node.device != device:
                continue
            pieces = node.inputs[:-1]
            if pieces == tuple(edges) or (
                not ordered and sorted(pieces) == sorted(edges)
            ):
                return node
        return None

    def followers(self, starts: Iterable[str]) -> set[str]:
        """The nodes that wait for any of these, and these."""
        found = set(starts)
        for node in self.nodes.values():
            if any(name in found for name, _ in node.inputs) or any(
                name in found for name in node.control_inputs
            ):
                found.add(node.name)
        return found

    def origins(self, ends: Iterable[str]) -> set[str]:
        """The nodes that any of these waits for, and these."""
        found = set(ends)
        for node in reversed(self.nodes.values()):
            if node.name in found:
                found.update(name for name, _ in node.inputs)
                found.update(node.control_inputs)
        return found
