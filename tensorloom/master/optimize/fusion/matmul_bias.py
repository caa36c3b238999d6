"""Products with the bias and activation behind them, in one call.

before: a = MatMul(x, w);  b = BiasAdd(a, bias);  c = Relu(b)
after:  c = _FusedMatMul(x, w, bias) [fused_ops = BiasAdd, Relu]

The same for Conv2D, and for `Add` of a vector to a matrix product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.master.optimize.target import OptimizeTarget

_FUSED = {"MatMul": "_FusedMatMul", "Conv2D": "_FusedConv2D"}
_BIAS_OPS = frozenset(["BiasAdd", "BiasAddV1", "Add", "AddV2"])
_ACTIVATIONS = frozenset(["Relu", "Relu6", "Elu", "Tanh", "Sigmoid"])
_TYPES = frozenset([dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64])


def fuse_matmul_bias(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such chains fused, where nobody else reads what is between.

    The fused node has the name of the chain's last node and stands in its place.
    """
    if not any(node.op in _FUSED for node in graph.nodes.values()):
        return graph
    readers = _count_readers(graph, target)
    rewriting = Rewriting(graph, target)
    nodes = rewriting.nodes
    for node in graph.nodes.values():
        fused = None
        if node.op in _BIAS_OPS:
            fused = _with_bias(node, nodes, readers)
        elif node.op in _ACTIVATIONS:
            fused = _with_activation(node, nodes, readers)
        if fused is not None:
            inner = nodes[node.inputs[0][0]]
            fused = rewriting.fused(node, fused, (inner,))
            if fused is not None:
                del nodes[inner.name]
                node = fused
        rewriting.keep(node)
    return rewriting.result()


def _count_readers(graph: GraphIR, target: OptimizeTarget) -> dict[str, int]:
    """How many edges leave each product or sum; a fetched one has one more."""
    counts = dict.fromkeys(target.preserve, 1)
    for node in graph.nodes.values():
        for name, _ in node.inputs:
            counts[name] = counts.get(name, 0) + 1
        for name in node.control_inputs:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _only_reader(
    node: Node, nodes: dict[str, Node], readers: dict[str, int]
) -> Node | None:
    """What makes the first input, if nobody but `node` reads it."""
    name, _ = node.inputs[0]
    producer = nodes.get(name)
    if producer is None or readers.get(name) != 1 or producer.device != node.device:
        return None
    return producer


def _with_bias(
    node: Node, nodes: dict[str, Node], readers: dict[str, int]
) -> Node | None:
    product = _only_reader(node, nodes, readers)
    if product is None or product.op not in _FUSED:
        return None
    attrs = product.attrs
    if attrs["T"] not in _TYPES or not _is_bias(node, product, nodes):
        return None
    fused_attrs = {**attrs, "num_args": 1, "fused_ops": [b"BiasAdd"]}
    return _fused(
        node,
        _FUSED[product.op],
        (*product.inputs, node.inputs[1]),
        fused_attrs,
    )


def _is_bias(node: Node, product: Node, nodes: dict[str, Node]) -> bool:
    """Whether the second input has one value for each channel of the product."""
    channels_last: bool = product.attrs.get("data_format", b"NHWC") == b"NHWC"
    if node.op.startswith("BiasAdd"):
        data_format: bytes = node.attrs.get("data_format", b"NHWC")
        return (data_format == b"NHWC") == channels_last
    if product.op != "MatMul":
        return False
    name, index = node.inputs[1]
    bias_shapes, shapes = nodes[name].output_shapes, product.output_shapes
    if bias_shapes is None or shapes is None:
        return False
    bias, dims = bias_shapes[index].dims_tuple, shapes[0].dims_tuple
    return (
        bias is not None
        and dims is not None
        and len(bias) == 1
        and bias[0] is not None
        and bias[0] == dims[1]
    )


def _with_activation(
    node: Node, nodes: dict[str, Node], readers: dict[str, int]
) -> Node | None:
    inner = _only_reader(node, nodes, readers)
    if inner is None or inner.op not in _FUSED.values():
        return None
    if inner.attrs["fused_ops"] != [b"BiasAdd"]:
        return None
    fused_ops = [b"BiasAdd", node.op.encode()]
    attrs = {**inner.attrs, "fused_ops": fused_ops}
    return _fused(node, inner.op, inner.inputs, attrs)


def _fused(
    last: Node,
    op: str,
    inputs: tuple[tuple[str, int], ...],
    attrs: dict[str, Any],
) -> Node:
    return Node(
        last.name,
        op,
        inputs,
        last.control_inputs,
        last.device,
        attrs,
        last.output_types,
        last.output_shapes,
        last.source,
    )
