"""The order of a network's nodes, and the sizes of what they give."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

from tensorloom.contrib.receptive_field.layer_windows import get_layer_params
from tensorloom.framework.export import export

NodeInfo = namedtuple("NodeInfo", ["order", "node", "input_size", "output_size"])


def parse_graph_nodes(graph_def: Any) -> dict[str, Any]:
    """The NodeDefs of a GraphDef by name."""
    return {node.name: node for node in graph_def.node}


def data_inputs(node: Any) -> Iterator[str]:
    """The names of the nodes that a node's data comes from."""
    for name in node.input:
        if not name.startswith("^"):
            yield name.partition(":")[0]


def _size_after(size: Any, window: Any, stride: Any, padding: Any) -> int | None:
    if None in (size, window, stride, padding):
        return None
    return int(-(-(size + padding - window + 1) // stride))


@export("contrib.receptive_field.get_compute_order")
def get_compute_order(
    graph_def: Any,
    input_node_name: str = "",
    input_node_size: Sequence[int] | None = None,
) -> tuple[dict[str, NodeInfo], dict[str, Any]]:
    """The order of a network's nodes, and the sizes of what they give.

    Args:
      graph_def: the network.
      input_node_name: the node of the images.
      input_node_size: their height and width.

    Returns:
      By name, tuples of the order (at least one more than that of what comes in), the
      NodeDef, and heights and widths of what comes in and of the result, as far as they
      are known; and the NodeDefs by name.
    """
    nodes = parse_graph_nodes(graph_def)
    found: dict[str, NodeInfo] = {}
    for start in nodes:
        waiting = [start]
        while waiting:
            name = waiting[-1]
            inputs = [] if name == input_node_name else list(data_inputs(nodes[name]))
            missing = [each for each in inputs if each not in found]
            if name not in found and missing:
                waiting.extend(missing)
                continue
            waiting.pop()
            if name not in found:
                is_input = name == input_node_name
                found[name] = (
                    NodeInfo(0, nodes[name], None, input_node_size)
                    if is_input
                    else _after(nodes[name], [found[each] for each in inputs], nodes)
                )
    return found, nodes


def _after(node: Any, inputs: list[NodeInfo], nodes: dict[str, Any]) -> NodeInfo:
    order = max((each.order + 1 for each in inputs), default=0)
    size = inputs[0].output_size if inputs else None
    if size is None:
        return NodeInfo(order, node, None, None)
    window_x, window_y, stride_x, stride_y, _, _, padding_x, padding_y = (
        get_layer_params(node, nodes, size, force=True)
    )
    # As in TensorFlow, height goes by horizontal windows: most are square.
    after = [
        _size_after(size[0], window_x, stride_x, padding_x),
        _size_after(size[1], window_y, stride_y, padding_y),
    ]
    return NodeInfo(order, node, size, after)
