"""Reports of what a graph costs: time by op and by node, and memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorloom.grappler.clusters import Cluster
from tensorloom.grappler.item_graph import item_graph
from tensorloom.grappler.items import Item
from tensorloom.grappler.op_costs import estimate
from tensorloom.protos.op_performance_data_pb2 import OpPerformanceList

if TYPE_CHECKING:
    from tensorloom.grappler.item_graph import ItemGraph


@dataclass(slots=True)
class _OpCosts:
    """What all nodes of an op take, in nanoseconds."""

    name: str
    count: int = 0
    measured: int = 0
    compute: int = 0
    memory: int = 0
    #: Arithmetic and memory traffic one after the other, and beside each other.
    upper: int = 0
    lower: int = 0

    def add(self, cost: Any) -> None:
        self.count += 1
        self.measured += cost.compute_cost
        self.compute += cost.compute_time
        self.memory += cost.memory_time
        self.upper += cost.compute_time + cost.memory_time
        self.lower += max(cost.compute_time, cost.memory_time)


def GenerateCostReport(
    metagraph: Any,
    per_node_report: bool = False,
    verbose: bool = False,
    cluster: Cluster | None = None,
) -> bytes:
    """What the ops of a graph take: measured, and what they should take.

    Args:
      metagraph: a MetaGraphDef; its collection `train_op` names what is run.
      per_node_report: also tells of each node.
      verbose: of each node the whole message.
      cluster: where to measure; None: on this machine.

    Returns:
      Text: totals, a line for each op, and for each node if asked for.
    """
    if cluster is None:
        cluster = Cluster(disable_detailed_stats=False)
    item = item_graph(metagraph)
    if item is None:
        return b"Error: failed to preprocess metagraph: check your log file for errors"
    costs, seconds, _ = cluster.MeasureCosts(Item(metagraph))
    _add_estimates(costs, item)
    lines = _totals(costs, seconds)
    lines += _by_op(costs)
    if per_node_report and verbose:
        lines.append("Below is the full per-node report:")
        lines.append(str(OpPerformanceList(op_performance=costs)))
    elif per_node_report:
        lines.append("Below is the per-node report summary:")
        lines += _by_node(costs)
    return "".join(f"{line}\n" for line in lines).encode()


def _add_estimates(costs: Sequence[Any], item: ItemGraph) -> None:
    operations = {operation.name: operation for operation in item.operations()}
    for cost in costs:
        expected = estimate(operations[cost.node], cost.op.device)
        cost.compute_time = int(expected.compute_ns)
        cost.memory_time = int(expected.memory_ns)
        cost.compute_efficiency = _efficiency(cost.compute_time, cost.compute_cost)
        cost.memory_efficiency = _efficiency(cost.memory_time, cost.compute_cost)


def _efficiency(expected: int, measured: int) -> float:
    """Minus infinity where nothing is expected."""
    if not expected:
        return -math.inf
    return expected / measured if measured else math.inf


def _summed(costs: Iterable[Any]) -> list[_OpCosts]:
    """By op, the longest first."""
    by_op: dict[str, _OpCosts] = {}
    for cost in costs:
        by_op.setdefault(cost.op.op, _OpCosts(cost.op.op)).add(cost)
    ordered = sorted(by_op.values(), key=lambda op: op.name)
    return sorted(ordered, key=lambda op: -op.measured)


def _totals(costs: Sequence[Any], seconds: float) -> list[str]:
    ops = _summed(costs)
    actual = int(seconds * 1e9)
    upper, lower = sum(op.upper for op in ops), sum(op.lower for op in ops)
    rows: list[tuple[str, object]] = [
        ("Total time measured in ns (serialized): ", sum(op.measured for op in ops)),
        ("Total time measured in ns (actual): ", actual),
        ("Total time analytical in ns (upper bound): ", upper),
        ("Total time analytical in ns (lower bound): ", lower),
        ("Overall efficiency (analytical upper/actual): ", _ratio(upper, actual)),
        ("Overall efficiency (analytical lower/actual): ", _ratio(lower, actual)),
    ]
    return ["", *[f"{text:<50}{value:>20}" for text, value in rows], ""]


def _ratio(part: float, whole: float) -> str:
    if not whole:
        return "nan" if not part else "inf"
    return f"{part / whole:.6g}"


def _percent(part: float, whole: float) -> str:
    if not whole:
        return _ratio(part, whole)
    return f"{part / whole * 100:.2g}"


def _by_op(costs: Sequence[Any]) -> list[str]:
    ops = _summed(costs)
    total = sum(op.measured for op in ops)
    header = (
        f"{'Op,':>36}{'Count,':>16}{'Measured time (ns),':>21}{'Time percent,':>17}"
        f"{'Acc percent,':>17}{'Analytical upper,':>21}{'Analytical lower,':>21}"
        f"{'Overall eff':>17}{'Compute eff':>17}{'Memory eff':>17}"
    )
    lines, so_far = [header], 0
    for op in ops:
        so_far += op.measured
        lines.append(
            f"{op.name:>35},{op.count:>15},{op.measured:>20},"
            f"{_percent(op.measured, total):>15}%,{_percent(so_far, total):>15}%,"
            f"{op.upper:>20},{op.lower:>20},"
            f"{_percent(op.upper, op.measured):>15}%,"
            f"{_percent(op.compute, op.measured):>15}%,"
            f"{_percent(op.memory, op.measured):>15}%,"
        )
    return [*lines, ""]


def _by_node(costs: Sequence[Any]) -> list[str]:
    lines = [
        f"{'Op,':>36}{'Measured time (ns),':>21}{'Compute time (ns),':>21}"
        f"{'Memory time (ns),':>21}{'Compute eff,':>17}{'Memory eff,':>17}    Inputs"
    ]
    for cost in costs:
        shapes = [
            f"({', '.join(str(dim.size) for dim in each.shape.dim)})"
            for each in cost.op.inputs
            if each.shape.dim
        ]
        lines.append(
            f"{cost.op.op:>35},{cost.compute_cost:>20},{cost.compute_time:>20},"
            f"{cost.memory_time:>20},{cost.compute_efficiency * 100:>15.2g}%,"
            f"{cost.memory_efficiency * 100:>15.2g}%,    [{', '.join(shapes)}]"
        )
    return [*lines, ""]


def GenerateMemoryReport(
    metagraph: Any, detailed_report: bool = True, cluster: Cluster | None = None
) -> str:
    """How much memory a graph's tensors take at most, by device.

    Args:
      metagraph: a MetaGraphDef; its collection `train_op` names what is run.
      detailed_report: also tells which tensors are there then.
      cluster: the devices; None: those of this machine.

    Raises:
      errors.InvalidArgumentError: nothing is named to be run.
    """
    if cluster is None:
        cluster = Cluster(disable_detailed_stats=True, disable_timeline=True)
    lines: list[str] = []
    usage = cluster.DeterminePeakMemoryUsage(Item(metagraph))
    for device, (peak, tensors) in usage.items():
        lines.append(f"Peak usage for device {device}: {peak} bytes")
        if detailed_report:
            lines += [f"  {t.node}:{t.output} uses {t.bytes} bytes" for t in tensors]
    return "".join(f"{line}\n" for line in lines)
