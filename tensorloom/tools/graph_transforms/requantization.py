"""A transform that takes ranges from the log of a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.storage.files import filesystem
from tensorloom.tools.graph_transforms import nodes
from tensorloom.tools.graph_transforms.request import invalid

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

# As `insert_logging(op=RequantizationRange, show_name=true,
# message="__requant_min_max:")` makes a graph print it.
_RECORD: Final = re.compile(
    r"(?:^|;)([^;]*)__print__;__requant_min_max:\[([^\]\[]*)\]\[([^\]\[]*)\]"
)


def freeze_requantization_ranges(graph: Any, request: Request) -> Any:
    """Ranges that each step measured become constants: what they mostly were.

        RequantizationRange(x, min, max)  ->  two Consts

    Parameters: `min_max_log_file`, of a graph that logs its ranges; `min_percentile`
    and `max_percentile`, how many percent of outliers count for nothing (5).

    Raises:
      InvalidArgumentError: the file has no ranges, or ranges of other nodes.
    """
    file = request.one("min_max_log_file", "")
    if not file:
        raise invalid("You must pass a file name to min_max_log_file")
    lows, highs = _records(file)
    if not lows:
        raise invalid("No min/max range logs were found in the log file")
    if not lows.keys() <= nodes.by_name(graph).keys():
        raise invalid(
            "Nodes were found in the log file that aren't present in the graph"
        )
    low_share = request.number("min_percentile", 5.0) / 100
    high_share = request.number("max_percentile", 5.0) / 100
    made: list[NodeDef] = []
    renamed: dict[str, str] = {}
    for node in graph.node:
        if node.name not in lows:
            made.append(node)
            continue
        if node.op != "RequantizationRange":
            raise invalid(
                f"Node is expected to be a RequantizationRange op: {node.name}, but "
                f"is: {node.op}"
            )
        ends = (
            ("frozen_min", _at(lows[node.name], low_share)),
            ("frozen_max", _at(highs[node.name], 1 - high_share)),
        )
        for output, (what, value) in enumerate(ends):
            made.append(nodes.constant(f"{node.name}/{what}", np.float32(value)))
            renamed[f"{node.name}:{output}"] = f"{node.name}/{what}:0"
    return nodes.with_renamed_inputs(nodes.with_nodes(graph, made), renamed)


def _records(file: str) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """The least and largest values of each node in a log, in order."""
    lows: dict[str, list[float]] = {}
    highs: dict[str, list[float]] = {}
    for line in filesystem.read_file(file).decode(errors="replace").splitlines():
        found = _RECORD.search(line)
        if found is None:
            continue
        name, low, high = found.groups()
        try:
            ends = float(low), float(high)
        except ValueError:
            continue
        lows.setdefault(name, []).append(ends[0])
        highs.setdefault(name, []).append(ends[1])
    return lows, highs


def _at(values: list[float], share: float) -> float:
    """The value that this share of all is below; halves are rounded up."""
    at = int(np.floor(len(values) * share + 0.5))
    return sorted(values)[min(max(at, 0), len(values) - 1)]
