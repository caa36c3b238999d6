"""Adds control loops, which keep the parts of a distributed loop in step.

A frame of classic control flow runs on every place that has nodes of it. Where the
place has no loop variable of its own, a *control loop* that only follows the test
starts its iterations:

before: LoopCond@A     x@B in the same frame
after:  LoopCond@A     x@B     Const -> Enter -> Merge -> Switch(., LoopCond)
                                                  Merge <- NextIteration <- Switch:1

A tensor that a place receives inside a frame is received once in each iteration. In the
last iteration it is dead, and so is its Send.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
)
from tensorloom.framework.graph.graph_ir import GraphIR, Node, sort_topologically
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR

PlaceOf = Callable[[Node], str]
_Path = tuple[bytes, ...]  # the frames around a node, the outermost first

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.\-/]")


@dataclass(frozen=True, slots=True)
class Frames:
    """Where the outputs of nodes live, and what starts the iterations of each place."""

    paths: Mapping[str, _Path] = field(default_factory=dict)
    #: By (frame, place): a Merge that is there once in each iteration.
    heads: Mapping[tuple[bytes, str], str] = field(default_factory=dict)

    def trigger(self, source: str, place: str) -> tuple[str, ...]:
        """What a Recv of a node's output waits for at a place: control inputs."""
        path = self.paths.get(source)
        return (self.heads[path[-1], place],) if path else ()


def has_frames(graph: GraphIR) -> bool:
    """Whether there is a loop of classic control flow."""
    return any(node.op in ENTERS for node in graph.nodes.values())


def has_dead_tensors(graph: GraphIR) -> bool:
    """Whether a branch or an iteration of classic control flow may not be taken."""
    return any(
        node.op in SWITCHES or node.op == "_SwitchN" for node in graph.nodes.values()
    )


def with_control_loops(graph: GraphIR, place_of: PlaceOf) -> tuple[GraphIR, Frames]:
    """The graph with control loops where a frame spans places.

    Args:
      graph: placed, in topological order.
      place_of: the part that a node belongs to.

    Raises:
      errors.InvalidArgumentError: a node has inputs from different frames, or a loop
        that spans places has no condition.
    """
    if not has_frames(graph):
        return graph, Frames()
    graph = _with_local_constants(_gathered(graph), place_of)
    builder = _Builder(graph, place_of)
    added = builder.add()
    nodes = sort_topologically({n.name: n for n in (*graph.nodes.values(), *added)})
    return graph.with_nodes(nodes), Frames(builder.paths, builder.heads)


def _gathered(graph: GraphIR) -> GraphIR:
    """Each primitive at the place of the loop variable that it belongs to.

    before: Enter@A -> Merge@B <- NextIteration@A     Switch@B -> Exit@A
    after:  Enter@B -> Merge@B <- NextIteration@B     Switch@B -> Exit@B
    """
    devices: dict[str, str] = {}
    for node in graph.nodes.values():
        if node.op in MERGES:
            for name, _ in node.inputs:
                if graph.nodes[name].op in ENTERS | NEXT_ITERATIONS:
                    devices[name] = node.device
        elif node.op in EXITS:
            devices[node.name] = graph.nodes[node.inputs[0][0]].device
    return graph.with_nodes(
        node.replace(device=devices[node.name])
        if devices.get(node.name, node.device) != node.device
        else node
        for node in graph.nodes.values()
    )


def _with_local_constants(graph: GraphIR, place_of: PlaceOf) -> GraphIR:
    """What all iterations share goes over once, and enters the frame at each place.

    before: Enter(is_constant)@A -> x@B
    after:  Enter(is_constant)@B -> x@B
    """
    shared = {
        node.name: node
        for node in graph.nodes.values()
        if node.op == "Enter"
        and node.attrs["is_constant"]
        and node.output_types[0] is not dtypes.resource
    }
    if not shared:
        return graph
    copies: dict[tuple[str, str], Node] = {}
    nodes: list[Node] = []
    for node in graph.nodes.values():
        inputs = list(node.inputs)
        for slot, (name, _) in enumerate(node.inputs):
            enter = shared.get(name)
            place = place_of(node)
            if enter is None or place_of(enter) == place:
                continue
            copy = copies.get((name, place))
            if copy is None:
                copy = enter.replace(
                    name=f"{name}/copy_{len(copies)}", device=node.device
                )
                copies[name, place] = copy
                nodes.append(copy)
            inputs[slot] = copy.name, 0
        nodes.append(node.replace(inputs=tuple(inputs)) if copies else node)
    return graph.with_nodes(nodes)


class _Builder:
    def __init__(self, graph: GraphIR, place_of: PlaceOf) -> None:
        self.graph = graph
        self.place_of = place_of
        self.paths = frame_paths(graph.nodes.values())
        self.heads: dict[tuple[bytes, str], str] = {}
        self.conditions: dict[bytes, Node] = {}
        self.enters: dict[bytes, Node] = {}
        # By frame: its path, and a device for each place that has nodes of it.
        self.chains: dict[bytes, _Path] = {}
        self.places: dict[bytes, dict[str, str]] = {}
        for node in graph.nodes.values():
            self._note(node)

    def _note(self, node: Node) -> None:
        path = self.paths[node.name]
        if node.op in EXITS:
            path = self.paths[node.inputs[0][0]]
        place = self.place_of(node)
        for depth, frame in enumerate(path, 1):
            self.chains.setdefault(frame, path[:depth])
            self.places.setdefault(frame, {}).setdefault(place, node.device)
        if not path:
            return
        if node.op in ENTERS:
            self.enters.setdefault(path[-1], node)
        elif node.op == "LoopCond":
            self.conditions.setdefault(path[-1], node)
        elif node.op in MERGES and self._is_head(node):
            self.heads.setdefault((path[-1], place), node.name)

    def _is_head(self, merge: Node) -> bool:
        return any(
            self.graph.nodes[name].op in NEXT_ITERATIONS for name, _ in merge.inputs
        )

    def add(self) -> list[Node]:
        """The nodes of all control loops that are needed, outer frames first."""
        added: list[Node] = []
        for frame in sorted(self.places, key=lambda f: len(self.chains[f])):
            places = self.places[frame]
            if len(places) == 1:
                continue
            if frame not in self.conditions:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    "A loop that spans several devices must have a LoopCond: frame "
                    f"'{frame.decode(errors='replace')}'",
                )
            for number, (place, device) in enumerate(places.items()):
                if (frame, place) not in self.heads:
                    added += self._control_loop(frame, place, device, number)
        return added

    def _control_loop(
        self, frame: bytes, place: str, device: str, number: int
    ) -> list[Node]:
        chain = self.chains[frame]
        # A loop inside another starts anew in each of the other's iterations.
        waits = (self.heads[chain[-2], place],) if len(chain) > 1 else ()
        condition, enter = self.conditions[frame], self.enters[frame]
        text = _NOT_IN_NAMES.sub("_", frame.decode(errors="replace"))
        prefix = f"{text}/control_loop_{number}"
        t: dict[str, object] = {"T": dtypes.int32}
        int32, shape = (dtypes.int32,), (SCALAR,)
        merge, following = f"{prefix}/merge", f"{prefix}/next_iteration"
        loop_attrs = {
            **t,
            "frame_name": frame,
            "is_constant": False,
            "parallel_iterations": enter.attrs.get("parallel_iterations", 10),
        }
        zero = {"dtype": dtypes.int32, "value": np.zeros([], np.int32)}
        self.heads[frame, place] = merge
        rows: list[tuple[str, str, list[tuple[str, int]], dict[str, object], int]] = [
            ("Const", f"{prefix}/start", [], zero, 1),
            ("Enter", f"{prefix}/enter", [(f"{prefix}/start", 0)], loop_attrs, 1),
            (
                "Merge",
                merge,
                [(f"{prefix}/enter", 0), (following, 0)],
                {**t, "N": 2},
                2,
            ),
            ("Switch", f"{prefix}/switch", [(merge, 0), (condition.name, 0)], t, 2),
            ("NextIteration", following, [(f"{prefix}/switch", 1)], t, 1),
        ]
        nodes = [
            Node(
                name,
                op,
                tuple(inputs),
                waits if op == "Const" else (),
                device,
                dict(attrs),
                int32 * count,
                shape * count,
                condition.source,
            )
            for op, name, inputs, attrs, count in rows
        ]
        path = self.chains[frame]
        self.paths.update({node.name: path for node in nodes[1:]})
        self.paths[nodes[0].name] = path[:-1]
        return nodes


def frame_paths(nodes: Iterable[Node]) -> dict[str, _Path]:
    """The frames around each node's outputs; nodes in topological order.

    Raises:
      errors.InvalidArgumentError: a node has inputs from different frames.
    """
    paths: dict[str, _Path] = {}
    for node in nodes:
        path: _Path = ()
        found: str | None = None
        for name in node.producers:
            known = paths.get(name)
            if known is None:
                continue  # comes back from the iteration before
            if found is not None and known != path:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"{{{{node {node.name}}}}} has inputs from different frames. The "
                    f"input {{{{node {found}}}}} is in frame '{_last(path)}'. The "
                    f"input {{{{node {name}}}}} is in frame '{_last(known)}'.",
                )
            found, path = name, known
        if node.op in ENTERS:
            path = (*path, node.attrs["frame_name"])
        elif node.op in EXITS:
            path = path[:-1]
        paths[node.name] = path
    return paths


def _last(path: _Path) -> str:
    return path[-1].decode(errors="replace") if path else ""
