"""Transforms that use earlier forms of ops, for programs that know no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.tools.graph_transforms import nodes

if TYPE_CHECKING:
    from tensorloom.protos.node_def_pb2 import NodeDef
    from tensorloom.tools.graph_transforms.request import Request

_MAKERS: Final = {
    "TensorArrayV3": "TensorArrayV2",
    "TensorArrayGradV3": "TensorArrayGradV2",
}
_USERS: Final = {
    f"TensorArray{what}V3": f"TensorArray{what}V2"
    for what in (
        "Write",
        "Read",
        "Gather",
        "Scatter",
        "Concat",
        "Split",
        "Size",
        "Close",
    )
}


def backport_concatv2(graph: Any, request: Request) -> Any:
    """ConcatV2 becomes Concat, whose dimension comes first."""
    for node in graph.node:
        if node.op == "ConcatV2":
            data = [name for name in node.input if not name.startswith("^")]
            waits = list(node.input[len(data) :])
            node.op = "Concat"
            del node.input[:]
            node.input.extend([data[-1], *data[:-1], *waits])
            node.attr.pop("Tidx", None)
    return graph


def backport_tensor_array_v3(graph: Any, request: Request) -> Any:
    """TensorArrays get their second version; a constant stands in for the flow."""
    made: list[NodeDef] = []
    renamed: dict[str, str] = {}
    for node in graph.node:
        made.append(node)
        if node.op in _MAKERS:
            node.op = _MAKERS[node.op]
            flow = nodes.constant(f"{node.name}/replacement_flow_node", np.float32(1.0))
            made.append(flow)
            renamed[f"{node.name}:1"] = flow.name
        node.op = _USERS.get(node.op, node.op)
    return nodes.with_renamed_inputs(nodes.with_nodes(graph, made), renamed)
