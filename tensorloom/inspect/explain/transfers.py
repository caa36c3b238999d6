"""What crosses devices and tasks in a step: the pairs of `_Send` and `_Recv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.interfaces import NodeStats
    from tensorloom.inspect.explain.journal import Part

#: Ops whose time is that of what they receive: they wait for it.
RECEIVES: Final = ("_Recv", "_HostRecv")


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor that goes from one device to another."""

    tensor: str
    source: str  # full device names
    target: str
    recv: str  # the name of the node that receives it
    dtype: str
    shape: str
    size: int | None  # bytes; None where neither the graph nor a trace tells
    seconds: float | None  # that the receiving node took, waiting included


def device_graphs(parts: Iterable[Part]) -> dict[str, GraphIR]:
    """By device: its part of the step; by task, for tasks of other processes."""
    found: dict[str, GraphIR] = {}
    for part in parts:
        by_device: Mapping[str, GraphIR] | None
        by_device = getattr(part.registered, "parts", None)
        found.update(by_device if by_device else {part.task: part.graph})
    return found


def transfers(
    graphs: Mapping[str, GraphIR], stats: Iterable[NodeStats]
) -> list[Transfer]:
    """Every tensor that crosses, in the order of the parts."""
    traced = {(s.node_name, s.device): s for s in stats if s.op in RECEIVES}
    return [
        _transfer(node, traced.get((node.name, _text(node, "recv_device"))))
        for graph in graphs.values()
        for node in graph.nodes.values()
        if node.op in RECEIVES and not node.attrs["client_terminated"]
    ]


def transfer_text(transfer: Transfer) -> str:
    """A transfer in one line."""
    size = "? bytes" if transfer.size is None else f"{transfer.size} bytes"
    return (
        f"{transfer.tensor} from {transfer.source} to {transfer.target}: "
        f"{transfer.dtype} {transfer.shape}, {size}"
    )


def _transfer(node: Node, stats: NodeStats | None) -> Transfer:
    dtype = node.output_types[0]
    shapes = node.output_shapes
    shape = None if shapes is None else shapes[0]
    size: int | None = None
    told = "?" if shape is None else str(shape)
    elements = None if shape is None else shape.num_elements()
    if elements is not None and dtype.size:
        size = elements * dtype.size
    if stats is not None and stats.outputs:
        told, size = str(stats.outputs[0][1]), stats.outputs[0][2]
    return Transfer(
        _text(node, "tensor_name"),
        _text(node, "send_device"),
        _text(node, "recv_device"),
        node.name,
        dtype.name,
        told,
        size,
        None if stats is None else (stats.end_ns - stats.start_ns) / 1e9,
    )


def _text(node: Node, attr: str) -> str:
    value = node.attrs[attr]
    return value.decode() if isinstance(value, bytes) else str(value)
