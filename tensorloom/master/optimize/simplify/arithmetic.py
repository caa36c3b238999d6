"""Leaving out arithmetic that changes nothing.

before: a = Mul(x, 1);  b = Identity(a);  c = Neg(b);  d = Neg(c);  e = Exp(d)
after:  e = Exp(x)

A rule looks at one node and what makes its inputs, and names the output that may stand
in for the node's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, RESHAPES
from tensorloom.master.optimize.redirection import Redirection, with_inputs
from tensorloom.master.optimize.symbolic_dims import SymbolicDims

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.master.optimize.target import OptimizeTarget

# From a node to the output that equals its own, a changed node, or None.
Rule = Callable[["_View", Node], "Edge | Node | None"]


def simplify_arithmetic(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph without neutral operations, inverse pairs and plain identities.

    Kept: fetched nodes and targets, nodes with control inputs, reads of references,
    copies to another device, identities of classic control flow.
    """
    view = _View(graph)
    redirection = Redirection()
    for node in graph.nodes.values():
        node = redirection.apply(node)
        rule = _RULES.get(node.op)
        if rule is not None:
            result = rule(view, node)
            if isinstance(result, Node):
                node = result
            elif result is not None and _may_stand_in(view, node, result, target):
                redirection.replace_output((node.name, 0), result)
                redirection.replace_control(node.name, (result[0],))
                continue
        view.add(node)
    return graph.with_nodes(view.nodes.values())


class _View:
    """The nodes so far, as rules see them."""

    __slots__ = ("_symbolic", "nodes")

    def __init__(self, graph: GraphIR) -> None:
        self.nodes: dict[str, Node] = {}
        # Unknown sizes matter only to those who ask for shapes.
        asks = any(node.op == "Shape" for node in graph.nodes.values())
        self._symbolic = SymbolicDims(self.nodes) if asks else None

    def add(self, node: Node) -> None:
        self.nodes[node.name] = node
        if self._symbolic is not None:
            self._symbolic.note(node)

    def has_shape_in(self, edge: Edge, shape_edge: Edge) -> bool:
        """Whether `shape_edge` holds the shape of `edge`, be it known or not."""
        if self._symbolic is None:
            return False
        wanted = self._symbolic.constant_shape(shape_edge)
        return wanted is not None and wanted == self._symbolic.of(edge)

    def producer(self, edge: Edge) -> Node:
        return self.nodes[edge[0]]

    def constant(self, edge: Edge) -> Any:
        """The value of a constant output, else None."""
        node = self.nodes[edge[0]]
        return node.attrs["value"] if node.op == "Const" else None

    def shape(self, edge: Edge) -> TensorShape | None:
        shapes = self.nodes[edge[0]].output_shapes
        return None if shapes is None else shapes[edge[1]]


def _may_stand_in(view: _View, node: Node, edge: Edge, target: OptimizeTarget) -> bool:
    if node.name in target.preserve or node.control_inputs:
        return False
    producer = view.producer(edge)
    dtype = producer.output_types[edge[1]]
    return (
        dtype is node.output_types[0]  # so it is no reference
        and producer.device == node.device
        and producer.op not in CONTROL_FLOW
    )


def _known_shape(view: _View, edge: Edge) -> tuple[int, ...] | None:
    shape = view.shape(edge)
    if shape is None or not shape.is_fully_defined():
        return None
    return shape.dims_tuple  # type: ignore[return-value]


def _output_shape(node: Node) -> tuple[int, ...] | None:
    shapes = node.output_shapes
    if shapes is None or not shapes[0].is_fully_defined():
        return None
    return shapes[0].dims_tuple  # type: ignore[return-value]


def _keeps_shape(view: _View, node: Node, edge: Edge, other: Any) -> bool:
    """Whether broadcasting with the constant `other` leaves the shape of `edge`."""
    if other.ndim == 0:
        return True
    shape = _known_shape(view, edge)
    return shape is not None and shape == _output_shape(node)


# --- rules --------------------------------------------------------------------------


def _itself(view: _View, node: Node) -> Edge | None:
    return node.inputs[0]


def _with_column(rule: Rule) -> Rule:
    """First `rule`; then x op MatMul(column, ones) -> x op column

    Such products are the gradient of a sum along rows that was written as a product
    with ones. The operation itself repeats the column.
    """

    def rule_of_both(view: _View, node: Node) -> Edge | Node | None:
        found = rule(view, node)
        if found is not None:
            return found
        x, y = node.inputs
        shape = _output_shape(node)
        if shape is None or shape != _known_shape(view, x):
            return None
        if shape != _known_shape(view, y):
            return None
        if (product := _repeated_column(view, node, x)) is not None:
            return with_inputs(node, (product.inputs[0], y), _waits(node, product))
        if (product := _repeated_column(view, node, y)) is not None:
            return with_inputs(node, (x, product.inputs[0]), _waits(node, product))
        return None

    return rule_of_both


def _repeated_column(view: _View, reader: Node, edge: Edge) -> Node | None:
    """The product of a column with ones, a matrix of equal columns, if it is one."""
    node = view.producer(edge)
    if node.op != "MatMul" or node.device != reader.device:
        return None
    column, ones = node.inputs
    shape = _known_shape(view, column)
    if node.attrs["transpose_a"] or shape is None or shape[1] != 1:
        return None
    if not _is_all(view.constant(ones), 1) or _shows_variable(view, column):
        return None  # the reader would see what is assigned after the product
    return node


def _shows_variable(view: _View, edge: Edge) -> bool:
    """Whether an output may be the buffer of a reference variable, and change."""
    node = view.producer(edge)
    while not node.output_types[edge[1]]._is_ref_dtype:
        if node.op != "Identity" and node.op not in RESHAPES:
            return False
        edge = node.inputs[0]
        node = view.producer(edge)
    return True


def _waits(*nodes: Node) -> tuple[str, ...]:
    """What any of the nodes waits for."""
    return tuple(dict.fromkeys(name for node in nodes for name in node.control_inputs))


def _neutral_right(neutral: int) -> Rule:
    """x op neutral -> x"""

    def rule(view: _View, node: Node) -> Edge | None:
        x, y = node.inputs
        value = view.constant(y)
        if _is_all(value, neutral) and _keeps_shape(view, node, x, value):
            return x
        return None

    return rule


def _neutral(neutral: int) -> Rule:
    """x op neutral -> x, and neutral op x -> x"""
    right = _neutral_right(neutral)

    def rule(view: _View, node: Node) -> Edge | Node | None:
        found = right(view, node)
        if found is not None:
            return found
        x, y = node.inputs
        value = view.constant(x)
        if _is_all(value, neutral) and _keeps_shape(view, node, y, value):
            return y
        return None

    return rule


def _is_all(value: Any, number: int) -> bool:
    """Whether every element of a numeric constant is `number`."""
    if value is None or value.dtype == object or not value.size:
        return False
    if value.dtype.names is not None:
        return False
    # Subtracting -0.0, or adding 0.0 to -0.0, is not neutral to the last bit; as
    # TensorFlow does, the sign of zero is not kept.
    return bool((value == number).all()) if value.size <= 65536 else False


def _inverse(view: _View, node: Node) -> Edge | None:
    """f(f(x)) -> x for a function that is its own inverse"""
    inner = view.producer(node.inputs[0])
    if inner.op == node.op and not inner.control_inputs:
        return inner.inputs[0]
    return None


def _cast(view: _View, node: Node) -> Edge | None:
    """Cast(x) to its own dtype -> x"""
    if node.attrs["SrcT"] is node.attrs["DstT"]:
        return node.inputs[0]
    return None


def _reshape(view: _View, node: Node) -> Edge | Node | None:
    """Reshape to the shape that it has -> x

    Reshape(Reshape(x, a), b) -> Reshape(x, b), of other reshapes too;
    Reshape(x, Shape(y)) -> x, where y has the shape of x whatever the step's batch
    size is.
    """
    x = node.inputs[0]
    shape = _known_shape(view, x)
    if shape is not None and shape == _output_shape(node):
        return x
    if view.has_shape_in(x, node.inputs[1]):
        return x
    inner = view.producer(x)
    if (
        inner.op in RESHAPES
        and not inner.control_inputs
        and inner.device == node.device
        # Of unknown shapes, other reshapes may have to refuse what they get.
        and (inner.op == "Reshape" or _known_shape(view, inner.inputs[0]) is not None)
    ):
        x = inner.inputs[0]
        shape = _known_shape(view, x)
        is_same = shape is not None and shape == _output_shape(node)
        if is_same and not node.control_inputs:
            return x
        return with_inputs(node, (x, node.inputs[1]), node.control_inputs)
    return None


def _transpose(view: _View, node: Node) -> Edge | None:
    """Transpose by the identity, or twice back and forth -> x"""
    outer = view.constant(node.inputs[1])
    if outer is None:
        return None
    if np.array_equal(outer, np.arange(outer.size)):
        return node.inputs[0]
    inner = view.producer(node.inputs[0])
    if inner.op != "Transpose" or inner.control_inputs:
        return None
    first = view.constant(inner.inputs[1])
    if first is None or first.size != outer.size:
        return None
    if np.array_equal(first[outer], np.arange(outer.size)):
        return inner.inputs[0]
    return None


def _reduction(view: _View, node: Node) -> Edge | None:
    """Sum(x, []) -> x;  Sum over axes of size 1 with keep_dims -> x"""
    axes = view.constant(node.inputs[1])
    if axes is None:
        return None
    if axes.size == 0:
        return node.inputs[0]
    shape = _known_shape(view, node.inputs[0])
    if shape is None or not node.attrs["keep_dims"]:
        return None
    return node.inputs[0] if all(shape[a] == 1 for a in axes.ravel()) else None


def _same_shape(view: _View, node: Node) -> Edge | None:
    """BroadcastTo, Tile, Pad, Slice to the shape it has -> x"""
    shape = _known_shape(view, node.inputs[0])
    if shape is not None and shape == _output_shape(node):
        return node.inputs[0]
    return None


def _single(view: _View, node: Node) -> Edge | None:
    """AddN(x) -> x;  ConcatV2(x, axis) -> x"""
    return node.inputs[0] if node.attrs["N"] == 1 else None


_RULES: dict[str, Rule] = {
    "Identity": _itself,
    "StopGradient": _itself,
    "PreventGradient": _itself,
    "Snapshot": _itself,
    "Mul": _with_column(_neutral(1)),
    "Add": _with_column(_neutral(0)),
    "AddV2": _with_column(_neutral(0)),
    "Sub": _with_column(_neutral_right(0)),
    "Div": _neutral_right(1),
    "RealDiv": _with_column(_neutral_right(1)),
    "Pow": _neutral_right(1),
    "BiasAdd": _neutral_right(0),
    "Neg": _inverse,
    "Conj": _inverse,
    "LogicalNot": _inverse,
    "Invert": _inverse,
    "Cast": _cast,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Sum": _reduction,
    "Prod": _reduction,
    "Max": _reduction,
    "Min": _reduction,
    "Mean": _reduction,
    "All": _reduction,
    "Any": _reduction,
    "BroadcastTo": _same_shape,
    "Tile": _same_shape,
    "Pad": _same_shape,
    "PadV2": _same_shape,
    "Slice": _same_shape,
    "AddN": _single,
    "ConcatV2": _single,
    "ParallelConcat": _single,
}
