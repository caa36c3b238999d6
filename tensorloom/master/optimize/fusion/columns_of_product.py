"""Slices a factor before a matrix product instead of the product after it.

before: p = MatMul(g, w, transpose_b);  y = Slice(p, [0, b], [-1, n])
after:  p = Slice(w, [b, 0], [n, -1]);  y = MatMul(g, p, transpose_b)

A recurrent cell multiplies its input and its state, side by side, by one matrix. Where
nobody asks for the input's gradient, those columns need not be computed. Rows of `w`
are a view of it, and the same in each iteration of a loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.graph_view import GraphView
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget


def multiply_for_columns(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with such slices before the product, where only they read it."""
    products = {
        node.name: node
        for node in graph.nodes.values()
        if node.op == "MatMul" and node.attrs["transpose_b"]
    }
    if not products:
        return graph
    view = GraphView(graph, target.preserve)
    replaced: dict[str, list[Node]] = {}
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        product = products.get(node.name)
        readers = None if product is None else view.only_readers(product)
        if product is not None and readers is not None and len(readers) == 1:
            replaced.update(_exchanged(view, product, readers[0]))
        for new in replaced.get(node.name, [node]):
            if new.name == node.name and new.op == "MatMul" and new is not node:
                waits = rewriting.owed([node], new.inputs)
                new = new.replace(control_inputs=waits)
            rewriting.keep(new)
    return rewriting.result()


def _exchanged(view: GraphView, product: Node, cut: Node) -> dict[str, list[Node]]:
    """What takes the place of a product and of what reads it; nothing: they stay."""
    rows = _rows(view, product, cut)
    names = [f"{product.name}/{end}_of_rows" for end in ("begin", "size")]
    if rows is None or any(name in view.nodes for name in names):
        return {}
    matrix = product.inputs[1]
    of_type = {"dtype": dtypes.int32}
    ends = [
        product.replace(
            name=name,
            op="Const",
            inputs=(),
            attrs={**of_type, "value": np.array([number, other], np.int32)},
            output_types=(dtypes.int32,),
            output_shapes=(TensorShape.of((2,)),),
        )
        for name, number, other in zip(names, rows, (0, -1), strict=True)
    ]
    width = (view.dims(matrix) or ())[1]
    part = cut.replace(
        name=product.name,
        inputs=(matrix, (names[0], 0), (names[1], 0)),
        control_inputs=product.control_inputs,
        device=product.device,
        attrs={**cut.attrs, "Index": dtypes.int32},
        output_shapes=(TensorShape.of((rows[1], width)),),
        source=product.source,
    )
    multiplied = product.replace(
        name=cut.name,
        inputs=(product.inputs[0], (product.name, 0)),
        control_inputs=cut.control_inputs,
        output_shapes=cut.output_shapes,
        source=cut.source,
    )
    return {product.name: [*ends, part], cut.name: [multiplied]}


def _rows(view: GraphView, product: Node, cut: Node) -> tuple[int, int] | None:
    """Which rows of the second factor a slice of the product comes of, if of some."""
    if cut.op != "Slice" or cut.device != product.device or cut.control_inputs:
        return None
    if any(_is_reference(view, edge) for edge in product.inputs):
        return None
    dims, shapes = view.dims(product.inputs[1]), cut.output_shapes
    begin, size = (view.constant(edge) for edge in cut.inputs[1:])
    if dims is None or len(dims) != 2 or begin is None or size is None:
        return None
    if shapes is None or shapes[0].rank != 2 or len(begin) != 2:
        return None
    # All rows of the product, some of its columns, and none that are not there.
    columns = dims[0] - begin[1] if size[1] == -1 else size[1]
    is_part = begin[1] >= 0 < columns < dims[0] and begin[1] + columns <= dims[0]
    if begin[0] != 0 or not _has_all_rows(view, product, size[0]) or not is_part:
        return None
    return begin[1], columns


def _has_all_rows(view: GraphView, product: Node, size: int) -> bool:
    if size == -1:
        return True
    dims = view.dims((product.name, 0))
    return dims is not None and dims[0] == size


def _is_reference(view: GraphView, edge: Edge) -> bool:
    return view.nodes[edge[0]].output_types[edge[1]]._is_ref_dtype
