"""A bias and an activation on a product that was reshaped, done before the reshape.

before: m = MatMul(x, w);  r = Reshape(m, s);  y = BiasAdd(r, b);  z = Relu(y)
after:  p = BiasAdd(m, b);  q = Relu(p);  z = Reshape(q, s)

So dense layers over more than two axes end: the last one stays as it is, and what is
before it is fused with the product (`fusion/matmul_bias.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_BIAS: Final = ("BiasAdd", "BiasAddV1")
_ACTIVATIONS: Final = frozenset(["Relu", "Relu6", "Elu", "Tanh", "Sigmoid"])


def bias_before_reshape(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such operations moved, where nobody else reads what is between.

    An operation's own name is left to the reshape of its result.
    """
    if not any(node.op == "MatMul" for node in graph.nodes.values()):
        return graph
    readers = _count_readers(graph, target)
    rewriting = Rewriting(graph, target)
    moved: dict[str, str] = {}  # the new names of such operations
    for node in graph.nodes.values():
        if moved and not moved.keys().isdisjoint(node.control_inputs):
            # Who waited for the operation need not wait for the reshape, too.
            waits = tuple([moved.get(name, name) for name in node.control_inputs])
            node = with_inputs(node, node.inputs, waits)
        reshape = _reshape_of_product(rewriting.nodes, node, readers, moved)
        if reshape is not None:
            name = f"{node.name}/before_reshape"
            while name in graph.nodes:
                name += "_"
            source = reshape.inputs[0]
            first = node.replace(
                name=name,
                inputs=(source, *node.inputs[1:]),
                output_shapes=rewriting.nodes[source[0]].output_shapes,
            )
            new = rewriting.fused(node, first, (reshape,))
            if new is not None:
                del rewriting.nodes[reshape.name]
                moved[node.name] = name
                readers[name] = 1
                rewriting.keep(new)
                node = reshape.replace(
                    name=node.name,
                    inputs=((name, 0), *reshape.inputs[1:]),
                    control_inputs=(),
                    output_shapes=node.output_shapes,
                    source=node.source,
                )
        rewriting.keep(node)
    return rewriting.result() if moved else graph


def _reshape_of_product(
    nodes: Mapping[str, Node],
    node: Node,
    readers: Mapping[str, int],
    moved: Mapping[str, str],
) -> Node | None:
    """The Reshape of a product that an operation alone reads, if it may come first."""
    if node.op in _BIAS:
        if node.attrs.get("data_format", b"NHWC") != b"NHWC":
            return None
    elif node.op not in _ACTIVATIONS:
        return None
    reshape = nodes[node.inputs[0][0]]
    if reshape.op != "Reshape" or reshape.device != node.device:
        return None
    product = nodes[reshape.inputs[0][0]]
    is_moved = moved.get(reshape.name) == product.name
    if (
        product.device != node.device
        or not (is_moved or (product.op == "MatMul" and node.op in _BIAS))
        or readers.get(reshape.name) != 1
        or readers.get(product.name) != 1
    ):
        return None
    columns = _last_size(product)
    return reshape if columns is not None and columns == _last_size(reshape) else None


def _last_size(node: Node) -> int | None:
    dims = None if node.output_shapes is None else node.output_shapes[0].dims_tuple
    return dims[-1] if dims else None


def _count_readers(graph: GraphIR, target: OptimizeTarget) -> dict[str, int]:
    """How many edges leave each node; a fetched one has one more."""
    counts = dict.fromkeys(target.preserve, 1)
    for node in graph.nodes.values():
        for name in (*(n for n, _ in node.inputs), *node.control_inputs):
            counts[name] = counts.get(name, 0) + 1
    return counts
