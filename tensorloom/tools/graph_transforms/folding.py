"""Transforms that compute parts of a graph once and for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework import errors
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.tools import optimize_for_inference_lib
from tensorloom.tools.optimize_for_inference_lib import node_name_from_input

if TYPE_CHECKING:
    from tensorloom.tools.graph_transforms.request import Request

# Larger results stay to be computed.
_LARGEST_BYTES: Final = 10 * 1024 * 1024
# Weights with fewer elements are not rounded.
_FEWEST_WEIGHTS: Final = 15


def fold_old_batch_norms(graph: Any, request: Request) -> Any:
    """Batch normalization ops after convolutions become part of their weights."""
    return optimize_for_inference_lib.fold_batch_norms(graph)


def fold_batch_norms(graph: Any, request: Request) -> Any:
    """A product with a constant after a convolution becomes part of its weights.

    Mul(Conv2D(x, w), scale)  ->  Conv2D(x, w * scale)
    """
    nodes = {node.name: node for node in graph.node}
    readers: dict[str, int] = {}
    for node in graph.node:
        for name in node.input:
            inner = node_name_from_input(name)
            readers[inner] = readers.get(inner, 0) + 1
    gone: set[str] = set()
    for node in graph.node:
        if node.op != "Mul":
            continue
        product, scale = (nodes[node_name_from_input(name)] for name in node.input[:2])
        weights = (
            nodes.get(node_name_from_input(product.input[1]))
            if (product.op in ("Conv2D", "MatMul"))
            else None
        )
        if weights is None or weights.op != "Const" or scale.op != "Const":
            continue
        factors = make_ndarray(scale.attr["value"].tensor)
        values = make_ndarray(weights.attr["value"].tensor)
        shared = readers[product.name] > 1 or readers[weights.name] > 1
        ends = product.name in request.outputs
        if shared or ends or factors.shape != values.shape[-1:]:
            continue
        scaled = make_tensor_proto((values * factors).astype(values.dtype))
        weights.attr["value"].tensor.CopyFrom(scaled)
        gone.add(product.name)
        name = node.name
        node.CopyFrom(product)
        node.name = name
    kept = [node for node in graph.node if node.name not in gone]
    result = type(graph)()
    result.CopyFrom(graph)
    del result.node[:]
    result.node.extend(kept)
    return extract_sub_graph(result, request.outputs)


def fold_constants(graph: Any, request: Request) -> Any:
    """What does not depend on the inputs is computed.

    Parameters: `ignore_errors`: leave it as it is if that fails;
    `clear_output_shapes`: the shapes that nodes say may be wrong afterwards (true).
    """
    if request.one("clear_output_shapes", "true").lower() == "true":
        for node in graph.node:
            node.attr.pop("_output_shapes", None)
    graph = extract_sub_graph(graph, request.outputs)
    names = _to_compute(graph, request)
    try:
        values = _computed(graph, names)
    except (errors.OpError, ValueError):
        if not request.flag("ignore_errors"):
            raise
        return graph
    for node in graph.node:
        value = values.get(node.name)
        if value is not None and value.nbytes <= _LARGEST_BYTES:
            name = node.name
            node.Clear()
            node.op, node.name = "Const", name
            node.attr["dtype"].type = dtypes.as_dtype(value.dtype).as_datatype_enum
            node.attr["value"].tensor.CopyFrom(make_tensor_proto(value))
    return extract_sub_graph(graph, request.outputs)


def _to_compute(graph: Any, request: Request) -> list[str]:
    """Nodes of constants alone that others read which are not, or that are fetched."""
    nodes = {node.name: node for node in graph.node}
    known: dict[str, bool] = {}

    def is_constant(name: str) -> bool:
        if name not in known:
            known[name] = False  # a cycle is no constant
            node = nodes[name]
            op_def = op_registry.find(node.op)
            foldable = (
                op_def is not None
                and not op_def.is_stateful
                and node.op not in ("Placeholder", "PlaceholderWithDefault")
                and name not in request.inputs
                and len(op_def.outputs) == 1
                and not op_def.outputs[0].is_list
            )
            inputs = [node_name_from_input(i) for i in node.input]
            known[name] = foldable and all(map(is_constant, inputs))
        return known[name]

    read = {
        node_name_from_input(name)
        for node in graph.node
        if not is_constant(node.name)
        for name in node.input
        if not name.startswith("^")
    }
    wanted = read | set(request.outputs)
    return [
        n for n in nodes if n in wanted and is_constant(n) and nodes[n].op != "Const"
    ]


def _computed(graph: Any, names: list[str]) -> dict[str, Any]:
    if not names:
        return {}
    with Graph().as_default(), Session() as session:
        import_graph_def(extract_sub_graph(graph, names), name="")
        values = session.run([f"{name}:0" for name in names])
    return {name: np.asarray(v) for name, v in zip(names, values, strict=True)}


def round_weights(graph: Any, request: Request) -> Any:
    """Constants of float32 take one of `num_steps` values each, between their ends.

    The file of the graph compresses well then.
    """
    steps = int(request.one("num_steps", "256"))
    for node in graph.node:
        if (
            node.op != "Const"
            or node.attr["dtype"].type != dtypes.float32.as_datatype_enum
        ):
            continue
        values = make_ndarray(node.attr["value"].tensor)
        if values.size <= _FEWEST_WEIGHTS:
            continue
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        width = ((high - low) or 1.0) / (steps - 1)
        rounded = low + np.floor((values - low) / width) * width
        node.attr["value"].tensor.CopyFrom(
            make_tensor_proto(rounded.astype(np.float32))
        )
    return graph
