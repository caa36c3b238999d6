"""The gradient of a ReLU before a max pool, taken on the pool's smaller side.

before: m = MaxPoolGrad(x, y, g);  d = ReluGrad(m, x)      with y = MaxPool(x)
after:  m' = ReluGrad(g, y);       d = MaxPoolGrad(x, y, m')

Max pooling sends a gradient to the element of `x` that equals `y`, so whether that
element is positive can be asked of `y`, which a 2x2 pool makes four times smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget


def take_relu_gradient_before_pool(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such pairs in the other order, where only the ReLU reads `m`."""
    pool_gradients = {n.name: n for n in graph.nodes.values() if n.op == "MaxPoolGrad"}
    if not pool_gradients:
        return graph
    pairs = _pairs(graph, pool_gradients, target)
    if not pairs:
        return graph
    rewriting = Rewriting(graph, target)
    replaced: dict[str, Node] = {}
    for pool, relu in pairs:
        x, y, grad = pool.inputs
        pooled = graph.nodes[y[0]]
        shapes = pooled.output_shapes
        replaced[pool.name] = relu.replace(
            name=pool.name,
            inputs=(grad, y),
            control_inputs=pool.control_inputs,
            device=pool.device,
            output_shapes=None if shapes is None else (shapes[y[1]],),
            source=pool.source,
        )
        # Nobody else stood on the pool's gradient, so nothing is owed but to the ReLU's
        # readers, who stand on both as before.
        replaced[relu.name] = pool.replace(
            name=relu.name,
            inputs=(x, y, (pool.name, 0)),
            control_inputs=relu.control_inputs,
            source=relu.source,
        )
    for node in graph.nodes.values():
        rewriting.keep(replaced.get(node.name, node))
    return rewriting.result()


def _pairs(
    graph: GraphIR, pool_gradients: dict[str, Node], target: OptimizeTarget
) -> list[tuple[Node, Node]]:
    readers: dict[str, list[Node]] = {name: [] for name in pool_gradients}
    for node in graph.nodes.values():
        for name in node.producers:
            if name in readers:
                readers[name].append(node)
    return [
        (pool, relu)
        for name, pool in pool_gradients.items()
        if name not in target.preserve and len(readers[name]) == 1
        for relu in readers[name]
        if relu.op == "ReluGrad"
        and relu.device == pool.device
        and relu.inputs == ((name, 0), pool.inputs[0])
    ]
