"""What the nodes of a step cost: measured in traced runs, else estimated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices.device_name import parse_full
from tensorloom.framework.functions.called_functions import functions_named, names_of
from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
)
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.place.colocation import parse_device

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.interfaces import NodeStats
    from tensorloom.master.place.placer import Placer

# Of what was not measured: a call, and the bytes that it writes.
_CALL_SECONDS: Final = 2e-6
_BYTES_A_SECOND: Final = 4e9
# Between devices of a task, and between tasks: of each tensor, and of its bytes.
_LATENCY: Final = {True: 100e-6, False: 200e-6}
_TRANSFER_BYTES_A_SECOND: Final = {True: 8e9, False: 1e9}

_CONTROL_FLOW: Final = (
    ENTERS | EXITS | MERGES | NEXT_ITERATIONS | SWITCHES | {"LoopCond"}
)
_ENDS: Final = ("_Arg", "_Retval")


class CostModel:
    """The measured costs of one step's nodes, by their names after optimization.

    The names of nodes in bodies of functions are their own: a body's nodes that are
    called alike in two functions count as one.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._sizes: dict[str, tuple[int, ...]] = {}

    @property
    def is_measured(self) -> bool:
        """Whether a traced step was seen."""
        return bool(self._seconds)

    def observe(self, stats: Iterable[NodeStats]) -> None:
        """Takes note of a traced step: of several the least time of a node counts."""
        found: dict[str, float] = {}
        for one in stats:
            if one.op in ("_Recv", "_HostRecv"):
                continue  # it waits for what it is given
            seconds = (one.end_ns - one.start_ns) / 1e9
            found[one.node_name] = found.get(one.node_name, 0.0) + seconds
            self._sizes[one.node_name] = tuple(size for _, _, size in one.outputs)
        for name, seconds in found.items():
            self._seconds[name] = min(seconds, self._seconds.get(name, seconds))

    def seconds(self, name: str) -> float | None:
        """The measured time of a node in one step; None: it was not seen."""
        return self._seconds.get(name)

    def sizes(self, name: str) -> tuple[int, ...]:
        """The bytes of a node's outputs; fewer than it has where they are unknown."""
        return self._sizes.get(name, ())


class PlacementCosts:
    """What a placer by cost asks about the graph that it places."""

    def __init__(self, model: CostModel, graph: GraphIR, placer: Placer) -> None:
        self._model = model
        self._graph = graph
        self._placer = placer
        self._touching: dict[str, bool] = {}

    @property
    def is_measured(self) -> bool:
        """Whether a step was measured; else all times are estimates."""
        return self._model.is_measured

    def seconds(self, node: Node) -> float:
        """The time of a node in one step, of a call with the functions that it calls.

        What no traced step had is estimated by the bytes that it gives.
        """
        measured = self._model.seconds(node.name)
        if measured is not None:
            return measured
        inside = [
            seconds
            for inner in self._called(node)
            if (seconds := self._model.seconds(inner.name)) is not None
        ]
        if inside:
            return sum(inside)
        outputs = range(len(node.output_types))
        return (
            _CALL_SECONDS + sum(self.size(node, i) for i in outputs) / _BYTES_A_SECOND
        )

    def size(self, node: Node, output: int) -> int:
        """The bytes of an output, as measured or by its static shape; 0: unknown."""
        sizes = self._model.sizes(node.name)
        if output < len(sizes):
            return sizes[output]
        shapes = node.output_shapes
        shape = shapes[output] if shapes is not None and output < len(shapes) else None
        count = shape.num_elements() if shape is not None else None
        width: int = getattr(node.output_types[output], "size", None) or 0
        return (count or 0) * width

    def transfer_seconds(self, size: int, source: str, target: str) -> float:
        """What it takes to bring so many bytes from a device to another one."""
        if source == target:
            return 0.0
        one, other = parse_full(source), parse_full(target)
        near = (one.job, one.replica, one.task) == (
            other.job,
            other.replica,
            other.task,
        )
        return _LATENCY[near] + size / _TRANSFER_BYTES_A_SECOND[near]

    @property
    def has_frames(self) -> bool:
        """Whether there are loops or branches of classic control flow."""
        return any(node.op in _CONTROL_FLOW for node in self._graph.nodes.values())

    def devices(self, node: Node) -> Sequence[str]:
        """Where the system lets a node be: the device of its own choice comes first.

        One device for what touches state, for what is colocated and for classic control
        flow; else those that its device field allows and that have its kernel.
        """
        placer = self._placer
        chosen = placer.device_of(node)
        if (
            node.op in _CONTROL_FLOW
            or placer.group_of(node.name) is not None
            or self.touches_state(node)
        ):
            return [chosen]
        others = placer.fitting(node, parse_device(node.device, node.name))
        return [chosen, *(name for name in others if name != chosen)]

    def touches_state(self, node: Node) -> bool:
        """Whether a node, or what it calls, has state, or reads what others change."""
        known = self._touching.get(node.name)
        if known is None:
            own = node.op not in self._graph.functions and _has_state(node)
            known = own or any(map(_has_state, self._called(node)))
            known = known or any(
                dtype._is_ref_dtype or dtype is dtypes.resource
                for name, output in node.inputs
                for dtype in [self._graph.nodes[name].output_types[output]]
            )
            self._touching[node.name] = known
        return known

    def _called(self, node: Node) -> list[Node]:
        """The nodes of the functions that a node calls, and of those that they call."""
        if not self._graph.functions:
            return []
        called = functions_named(names_of(node), self._graph.functions)
        return [n for function in called.values() for n in function.nodes.values()]


def _has_state(node: Node) -> bool:
    found = op_registry.find(node.op)
    return node.op in _ENDS or (found is not None and found.is_stateful)
