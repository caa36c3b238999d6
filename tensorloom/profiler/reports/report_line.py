"""A line of a report: a name, what it cost itself, and what all below it cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from tensorloom.profiler.node_profile import COSTS, NodeProfile, shape_message
from tensorloom.profiler.reports.report_options import LEAST, ReportOptions

if TYPE_CHECKING:
    from tensorloom.profiler.profile_data import ProfileData
    from tensorloom.protos.tfprof_output_pb2 import GraphNodeProto, MultiGraphNodeProto

ROOT: Final = "_TFProfRoot"
# What a line can be sorted by, beside its name -> the cost.
_ORDERS: Final = {
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "params": "parameters",
    "float_ops": "float_ops",
}


class ReportLine:
    """A scope or node, an op, or a line of Python.

    Attributes:
      own: its `COSTS`, and "run_count".
      totals: the same of it and all below; "definition_count" is how many they are.
      is_counted: whether the account's types include it.
      children: the lines below it.
      shown: those of them that the report shows.
    """

    def __init__(self, name: str, nodes: Iterable[NodeProfile] = ()) -> None:
        self.name = name
        self.nodes = list(nodes)
        self.children: list[Any] = []
        self.own: dict[str, int] = {}
        self.totals: dict[str, int] = {}
        self.is_counted = False
        self.shown: list[Any] = []
        self.text = ""
        self.clear_totals()

    def clear_totals(self) -> None:
        """Forgets what is added up."""
        self.totals = dict.fromkeys((*COSTS, "run_count", "definition_count"), 0)

    def count_itself(self) -> None:
        """The totals are its own costs, from now on."""
        self.totals = {**self.own, "definition_count": 1}

    def add(self, other: ReportLine) -> None:
        """Adds another line's totals."""
        for name, value in other.totals.items():
            self.totals[name] += value

    def account(self, options: ReportOptions) -> None:
        """Takes the costs of a step, and finds whether they are to be counted."""
        raise NotImplementedError

    # What the limits on parameters and operations look at; nodes come one by one.
    limited_by_own: tuple[str, ...] = ()

    def occurrences(self) -> int:
        """How often it is there, for the limit on that."""
        raise NotImplementedError

    def is_shown(self, options: ReportOptions, depth: int) -> bool:
        """Whether its costs, its place and its name are asked for."""
        if self.name == ROOT:
            return True
        for limit, cost in LEAST.items():
            costs = self.own if cost in self.limited_by_own else self.totals
            if costs[cost] < options.limits[limit]:
                return False
        if depth > options.max_depth:
            return False
        if self.occurrences() < options.limits["min_occurrence"]:
            return False
        return options.show.match(self.name) and not options.hide.match(self.name)


class NodeLine(ReportLine):
    """A line for one node, or for a scope of names."""

    limited_by_own = ("parameters", "float_ops")

    def __init__(self, node: NodeProfile, data: ProfileData) -> None:
        super().__init__(node.name, [node])
        self.node = node
        self.input_shapes = data.input_shapes(node)
        self.own = node.costs(-1)

    def account(self, options: ReportOptions) -> None:
        """Takes the costs of a step, and finds whether they are to be counted."""
        self.own = self.node.costs(options.step)
        self.is_counted = options.account.is_everything or any(
            options.account.match(kind) for kind in self.node.types
        )

    def occurrences(self) -> int:
        """How often it ran."""
        return self.own["run_count"]

    def fill(self, message: GraphNodeProto) -> None:
        """Writes the line and those that are shown below it into a message."""
        message.name = self.name
        for name, value in self.own.items():
            setattr(message, name, value)
        for name, value in self.totals.items():
            setattr(message, f"total_{name}", value)
        if self.node.device:
            message.devices.append(self.node.device)
        for index, shape in self.input_shapes.items():
            message.input_shapes[index].CopyFrom(shape_message(shape))
        for child in self.shown:
            child.fill(message.children.add())


class NodesLine(ReportLine):
    """A line for many nodes: those of an op, or those that a line of Python made."""

    def __init__(
        self, name: str, data: ProfileData, nodes: Iterable[NodeProfile] = ()
    ) -> None:
        super().__init__(name, nodes)
        self._data = data
        self.counted: list[NodeProfile] = []
        self.step = -1
        self.own = dict.fromkeys((*COSTS, "run_count"), 0)

    def account(self, options: ReportOptions) -> None:
        """Takes the costs of the nodes whose types are to be counted."""
        self.step = options.step
        everything = options.account.is_everything
        self.counted = [
            node
            for node in sorted(self.nodes, key=lambda node: node.name)
            if everything or any(map(options.account.match, node.types))
        ]
        self.own = dict.fromkeys((*COSTS, "run_count"), 0)
        for node in self.counted:
            for name, value in node.costs(options.step).items():
                self.own[name] += value
        self.is_counted = everything or bool(self.counted)

    def occurrences(self) -> int:
        """How many nodes it stands for."""
        return len(self.counted)

    @property
    def devices(self) -> list[str]:
        """Where its nodes are placed."""
        return sorted({node.device for node in self.counted})

    @property
    def types(self) -> list[str]:
        """Their ops, devices, and what the user calls them."""
        return sorted({kind for node in self.counted for kind in node.types})

    def node_lines(self) -> list[NodeLine]:
        """A line for each of its nodes, with the node's own costs."""
        lines = [NodeLine(node, self._data) for node in self.counted]
        for line in lines:
            line.own = line.node.costs(self.step)
            line.count_itself()
        return lines

    def fill(self, message: MultiGraphNodeProto) -> None:
        """Writes the line and those that are shown below it into a message."""
        message.name = self.name
        for name in COSTS:
            setattr(message, name, self.own[name])
            setattr(message, f"total_{name}", self.totals[name])
        for line in self.node_lines():
            line.fill(message.graph_nodes.add())
        for child in self.shown:
            child.fill(message.children.add())


def ordered(lines: list[Any], order_by: str) -> list[Any]:
    """Lines by what is asked for: by name, or the largest first."""
    if not order_by:
        return lines
    if order_by == "occurrence" and lines and isinstance(lines[0], NodesLine):
        return sorted(lines, key=lambda line: -line.occurrences())
    cost = _ORDERS.get(order_by)
    if cost is None:
        return sorted(lines, key=lambda line: line.name)
    return sorted(lines, key=lambda line: -line.totals[cost])
