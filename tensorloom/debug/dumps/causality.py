"""Whether the dumps of a device can have been made in the order of their times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.debug.dumps.debug_graph import get_node_name, get_output_slot

if TYPE_CHECKING:
    from tensorloom.debug.dumps.datum import DebugTensorDatum
    from tensorloom.debug.dumps.debug_graph import DebugGraph

# What follows them does not wait for their dumps.
_NOT_AWAITED: Final = ("Enter", "RefEnter", "NextIteration", "RefNextIteration")

_Slot = tuple[str, int]


def check(
    data: Sequence[DebugTensorDatum],
    graph: DebugGraph,
    watched: Mapping[str, Mapping[int, set[str]]],
) -> None:
    """Checks dumps against their graph.

    Args:
      data: in the order of their times.
      graph: of the device.
      watched: of each node the watched outputs.

    Raises:
      ValueError: a node is not in the graph, or its value came before an input's.
    """
    for datum in data:
        if datum.node_name not in graph.node_inputs:
            raise ValueError(
                f"Node name '{datum.node_name}' is not found in partition graphs of "
                f"device {datum.device_name}."
            )
    pending = {node: _awaited(node, graph, watched) for node in graph.node_inputs}
    for number, datum in enumerate(data):
        missing = pending[datum.node_name]
        missing -= _of_same_time(data, number)
        if missing:
            raise ValueError(
                "Causality violated in timing relations of debug dumps: "
                f"{datum.node_name} ({datum.timestamp}): these input(s) are not "
                f"satisfied: {sorted(missing)!r}"
            )
        slot = datum.node_name, datum.output_slot
        for recipient in graph.node_recipients[datum.node_name]:
            if slot not in pending[recipient]:
                continue
            if graph.node_op_types.get(recipient) == "Merge":
                pending[recipient].clear()  # one input is enough
            else:
                pending[recipient].discard(slot)


def _awaited(
    node: str, graph: DebugGraph, watched: Mapping[str, Mapping[int, set[str]]]
) -> set[_Slot]:
    found = set()
    for element in graph.node_inputs[node]:
        source, slot = get_node_name(element), get_output_slot(element)
        is_awaited = graph.node_op_types.get(source) not in _NOT_AWAITED
        if is_awaited and slot in watched.get(source, {}):
            found.add((source, slot))
    return found


def _of_same_time(data: Sequence[DebugTensorDatum], number: int) -> set[_Slot]:
    """What came later, but at the same time as far as the clock tells."""
    found = set()
    for datum in data[number + 1 :]:
        if datum.timestamp > data[number].timestamp:
            break
        found.add((datum.node_name, datum.output_slot))
    return found
