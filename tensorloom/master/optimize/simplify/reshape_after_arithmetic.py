"""Arithmetic on values that were reshaped alike, done before the reshape.

before: a = ExpandDims(x, 1);  b = Reshape(y, [m, 1, n])          x and y are [m, n]
        p = Mul(a, b);  r = Reshape(p, [m, n]);  e = Exp(r)
after:  q = Mul(x, y);  e = Exp(q)

The operation's own name is left to a reshape of the result, which nobody need read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.master.optimize.node_facts import RESHAPES
from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.simplify.arithmetic import simplify_arithmetic

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_ARITHMETIC: Final = frozenset(
    {*("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum")}
)


def reshape_after_arithmetic(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such operations done first, where their result is reshaped.

    What that makes superfluous is left out as by `simplify_arithmetic`.
    """
    reshaped = {n.inputs[0] for n in graph.nodes.values() if n.op == "Reshape"}
    rewriting = Rewriting(graph, target)
    nodes = rewriting.nodes
    moved: dict[str, str] = {}  # the new names of such operations
    for node in graph.nodes.values():
        if moved and not moved.keys().isdisjoint(node.control_inputs):
            # Who waited for the operation need not wait for the reshape, too.
            waits = tuple([moved.get(name, name) for name in node.control_inputs])
            node = with_inputs(node, node.inputs, waits)
        if node.op in _ARITHMETIC and (node.name, 0) in reshaped:
            first, second = (_reshape_of(nodes, node, edge) for edge in node.inputs)
            if first and second and _dims(nodes, first) == _dims(nodes, second):
                name = f"{node.name}/before_reshape"
                while name in graph.nodes:
                    name += "_"
                new = rewriting.fused(
                    node, _of_sources(nodes, name, node, first, second), (first, second)
                )
                if new is not None:
                    moved[node.name] = name
                    rewriting.keep(new)
                    node = first.replace(
                        name=node.name,
                        inputs=((name, 0), *first.inputs[1:]),
                        control_inputs=(),
                        source=node.source,
                    )
        rewriting.keep(node)
    if not moved:
        return graph
    return simplify_arithmetic(rewriting.result(), target)


def _of_sources(
    nodes: Mapping[str, Node], name: str, node: Node, first: Node, second: Node
) -> Node:
    """The operation on what is reshaped."""
    source = first.inputs[0]
    shapes = nodes[source[0]].output_shapes
    assert shapes is not None
    return node.replace(
        name=name,
        inputs=(source, second.inputs[0]),
        output_shapes=(shapes[source[1]],),
    )


def _reshape_of(nodes: Mapping[str, Node], reader: Node, edge: Edge) -> Node | None:
    """What reshapes an input that has the shape of its reader's result already.

    None also where it does not change a shape or is elsewhere.
    """
    node = nodes[edge[0]]
    if node.op not in RESHAPES:
        return None
    ours, its = node.output_shapes, reader.output_shapes
    if node.device != reader.device or ours is None or its is None:
        return None
    dims = ours[0].dims_tuple
    if not ours[0].is_fully_defined() or dims != its[0].dims_tuple:
        return None
    return None if _dims(nodes, node) in (None, dims) else node


def _dims(nodes: Mapping[str, Node], reshape: Node) -> tuple[int | None, ...] | None:
    """The static shape of what is reshaped, if it is known."""
    name, index = reshape.inputs[0]
    shapes = nodes[name].output_shapes
    if shapes is None or not shapes[index].is_fully_defined():
        return None
    return shapes[index].dims_tuple
