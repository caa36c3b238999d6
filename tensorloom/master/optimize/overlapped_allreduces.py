"""Allreduces that begin as soon as their value is there, and end where they stood.

before: a = MatMul(...);  b = MatMul(...);  x = HorovodAllreduce(a)
                                            y = HorovodAllreduce(b)
after:  a = MatMul(...);  p = _AllreduceStart(a)
        b = MatMul(...);  q = _AllreduceStart(b);  x = _AllreduceWait(p)
                                                   y = _AllreduceWait(q)

A gradient travels while the next is computed, and those that wait travel together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import SCALAR, UNKNOWN

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_OP = "HorovodAllreduce"


def overlap_allreduces(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with each allreduce of a value in two parts.

    One that reads a variable through a reference stays: it reads when it runs.
    """
    if not any(node.op == _OP for node in graph.nodes.values()):
        return graph
    place = {name: number for number, name in enumerate(graph.nodes)}
    starts: dict[str, list[Node]] = {}  # by the node after which they come
    waits: dict[str, Node] = {}
    for node in graph.nodes.values():
        if node.op != _OP or _reads_reference(graph, node):
            continue
        start = _start(node, graph)
        sources = [name for name, _ in node.inputs] + [*node.control_inputs]
        starts.setdefault(max(sources, key=lambda n: place[n]), []).append(start)
        shape = node.output_shapes[0] if node.output_shapes else UNKNOWN
        waits[node.name] = node.replace(
            op="_AllreduceWait",
            inputs=((start.name, 0),),
            control_inputs=(),
            attrs={**_kept(node), "T": node.attrs["T"], "shape": shape},
        )
    nodes = []
    for node in graph.nodes.values():
        nodes.append(waits.get(node.name, node))
        nodes.extend(starts.get(node.name, ()))
    return graph.with_nodes(nodes)


def _reads_reference(graph: GraphIR, node: Node) -> bool:
    ((name, index),) = node.inputs
    return graph.nodes[name].output_types[index]._is_ref_dtype


def _start(node: Node, graph: GraphIR) -> Node:
    name = f"{node.name}/start"
    while name in graph.nodes:
        name += "_"
    return node.replace(
        name=name,
        op="_AllreduceStart",
        attrs={
            **_kept(node),
            "T": node.attrs["T"],
            "reduce_op": node.attrs["reduce_op"],
            "collective": node.name.encode(),
        },
        output_types=(dtypes.variant,),
        output_shapes=(SCALAR,),
    )


def _kept(node: Node) -> dict[str, object]:
    """The attrs that say things of any node, such as its classes."""
    return {key: value for key, value in node.attrs.items() if key.startswith("_")}
