"""The gradient of a weight that many steps share: one product for all of them.

before: p1 = MatMul(a1, b1, transpose_a), ..., pn;  s = AddN(p1, ..., pn)
after:  s = _SumOfMatMuls(a1, ..., an, b1, ..., bn)

Rows of all steps stand under each other then: there are no n results of the weight's
size to be written and added, and the product is large enough for the library's best.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

# Below that there is nothing to be gained.
_LEAST: Final = 3
_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])


def sum_products(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such sums replaced, where nobody else reads the products."""
    sums = [n for n in graph.nodes.values() if n.op == "AddN" and _is_candidate(n)]
    if not sums:
        return graph
    readers = Counter(target.preserve)
    for node in graph.nodes.values():
        readers.update(name for name, _ in node.inputs)
        readers.update(node.control_inputs)
    rewriting = Rewriting(graph, target)
    wanted = {node.name for node in sums}
    for node in graph.nodes.values():
        fused = None
        if node.name in wanted:
            products = [graph.nodes[name] for name, _ in node.inputs]
            if all(readers[p.name] == 1 and _is_product(p, node) for p in products):
                fused = rewriting.fused(node, _sum(node, products), products)
                for product in products if fused else ():
                    del rewriting.nodes[product.name]
        rewriting.keep(fused or node)
    return rewriting.result()


def _is_candidate(node: Node) -> bool:
    return len(node.inputs) >= _LEAST and node.output_types[0] in _TYPES


def _is_product(product: Node, total: Node) -> bool:
    """Whether it is a product over rows, of the sum's shape and on its device.

    With control inputs it waits for something that the sum should not wait for.
    """
    if product.op != "MatMul" or product.device != total.device:
        return False
    if product.control_inputs or not product.attrs["transpose_a"]:
        return False
    if product.attrs["transpose_b"]:
        return False
    ours, its = product.output_shapes, total.output_shapes
    if ours is None or its is None:
        return False
    return ours[0].is_fully_defined() and ours[0].dims_tuple == its[0].dims_tuple


def _sum(node: Node, products: list[Node]) -> Node:
    inputs = [p.inputs[0] for p in products] + [p.inputs[1] for p in products]
    attrs = {"N": len(products), "T": node.attrs["T"]}
    return node.replace(op="_SumOfMatMuls", inputs=tuple(inputs), attrs=attrs)
