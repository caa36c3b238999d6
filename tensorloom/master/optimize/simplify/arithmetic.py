"""Removes arithmetic with neutral elements, and casts and reshapes without effect.

before: a = Mul(x, 1);  b = Identity(a);  c = Neg(b);  d = Neg(c);  e = Exp(d)
after:  e = Exp(x)

A rule looks at one node and what makes its inputs, and names the output that may stand
in for the node's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.master.optimize.node_facts import RESHAPES
from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import Rewriting
from tensorloom.master.optimize.symbolic_dims import SymbolicDims

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape
    from tensorloom.master.optimize.target import OptimizeTarget

# The output that equals a node's own, and the nodes between both.
Equal = tuple[Edge, tuple[Node, ...]]
# From a node to what equals it, a changed node, or None.
Rule = Callable[["_View", Node], "Equal | Node | None"]


def simplify_arithmetic(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph without neutral operations, inverse pairs and plain identities.

    Kept: fetched nodes and targets, identities that wait, reads of references, copies
    to another device, identities of classic control flow.
    """
    view = _View(graph, target)
    rewriting = view.rewriting
    for node in graph.nodes.values():
        node = rewriting.current(node)
        rule = _RULES.get(node.op)
        if rule is not None:
            if target.journal is not None:
                rewriting.rule = rule.__qualname__.partition(".")[0].strip("_")
            result = rule(view, node)
            if isinstance(result, Node):
                node = result
            elif result is not None and rewriting.replace(node, *result):
                view.note(node)
                continue
        view.add(node)
    return rewriting.result()


class _View:
    """The nodes so far, as rules see them."""

    __slots__ = ("_symbolic", "nodes", "rewriting")

    def __init__(self, graph: GraphIR, target: OptimizeTarget) -> None:
        self.rewriting = Rewriting(graph, target)
        self.nodes = self.rewriting.nodes
        # Unknown sizes matter only to those who ask for shapes.
        asks = any(node.op == "Shape" for node in graph.nodes.values())
        self._symbolic = SymbolicDims(self.nodes) if asks else None

    def add(self, node: Node) -> None:
        self.rewriting.keep(node)
        if self._symbolic is not None:
            self._symbolic.note(node)

    def note(self, node: Node) -> None:
        """Learns of what was left in a node's place, if anything was."""
        if self._symbolic is not None and node.name in self.nodes:
            self._symbolic.note(self.nodes[node.name])

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


def _itself(view: _View, node: Node) -> Equal | None:
    # One that waits is there for that; `dependency` may hand it on to few readers.
    return None if node.control_inputs else (node.inputs[0], ())


def _with_column(rule: Rule) -> Rule:
    """First `rule`; then x op MatMul(column, ones) -> x op column

    Such products are the gradient of a sum along rows that was written as a product
    with ones. The operation itself repeats the column.
    """

    @wraps(rule)
    def rule_of_both(view: _View, node: Node) -> Equal | Node | None:
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
            inputs = product.inputs[0], y
        elif (product := _repeated_column(view, node, y)) is not None:
            inputs = x, product.inputs[0]
        else:
            return None
        new = with_inputs(node, inputs, node.control_inputs)
        return view.rewriting.fused(node, new, (product,))

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
    return node if _is_all(view.constant(ones), 1) else None


def _neutral_right(neutral: int) -> Rule:
    """x op neutral -> x"""

    def rule(view: _View, node: Node) -> Equal | None:
        x, y = node.inputs
        value = view.constant(y)
        if _is_all(value, neutral) and _keeps_shape(view, node, x, value):
            return x, ()
        return None

    return rule


def _neutral(neutral: int) -> Rule:
    """x op neutral -> x, and neutral op x -> x"""
    right = _neutral_right(neutral)

    def rule(view: _View, node: Node) -> Equal | Node | None:
        found = right(view, node)
        if found is not None:
            return found
        x, y = node.inputs
        value = view.constant(x)
        if _is_all(value, neutral) and _keeps_shape(view, node, y, value):
            return y, ()
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


def _inverse(view: _View, node: Node) -> Equal | None:
    """f(f(x)) -> x for a function that is its own inverse"""
    inner = view.producer(node.inputs[0])
    if inner.op == node.op:
        return inner.inputs[0], (inner,)
    return None


def _cast(view: _View, node: Node) -> Equal | None:
    """Cast(x) to its own dtype -> x"""
    if node.attrs["SrcT"] is node.attrs["DstT"]:
        return node.inputs[0], ()
    return None


def _reshape(view: _View, node: Node) -> Equal | Node | None:
    """Reshape to the shape that it has -> x

    Reshape(Reshape(x, a), b) -> Reshape(x, b), of other reshapes too;
    Reshape(x, Shape(y)) -> x, where y has the shape of x whatever the step's batch
    size is.
    """
    x = node.inputs[0]
    shape = _known_shape(view, x)
    if shape is not None and shape == _output_shape(node):
        return x, ()
    if view.has_shape_in(x, node.inputs[1]):
        return x, ()
    inner = view.producer(x)
    if (
        inner.op in RESHAPES
        and inner.device == node.device
        # Of unknown shapes, other reshapes may have to refuse what they get.
        and (inner.op == "Reshape" or _known_shape(view, inner.inputs[0]) is not None)
    ):
        x = inner.inputs[0]
        shape = _known_shape(view, x)
        if shape is not None and shape == _output_shape(node):
            return x, (inner,)
        new = with_inputs(node, (x, node.inputs[1]), node.control_inputs)
        return view.rewriting.fused(node, new, (inner,))
    return None


def _transpose(view: _View, node: Node) -> Equal | None:
    """Transpose by the identity, or twice back and forth -> x"""
    outer = view.constant(node.inputs[1])
    if outer is None:
        return None
    if np.array_equal(outer, np.arange(outer.size)):
        return node.inputs[0], ()
    inner = view.producer(node.inputs[0])
    if inner.op != "Transpose":
        return None
    first = view.constant(inner.inputs[1])
    if first is None or first.size != outer.size:
        return None
    if np.array_equal(first[outer], np.arange(outer.size)):
        return inner.inputs[0], (inner,)
    return None


def _reduction(view: _View, node: Node) -> Equal | None:
    """Sum(x, []) -> x;  Sum over axes of size 1 with keep_dims -> x"""
    axes = view.constant(node.inputs[1])
    if axes is None:
        return None
    if axes.size == 0:
        return node.inputs[0], ()
    shape = _known_shape(view, node.inputs[0])
    if shape is None or not node.attrs["keep_dims"]:
        return None
    if all(shape[a] == 1 for a in axes.ravel()):
        return node.inputs[0], ()
    return None


def _same_shape(view: _View, node: Node) -> Equal | None:
    """BroadcastTo, Tile, Pad, Slice to the shape it has -> x"""
    shape = _known_shape(view, node.inputs[0])
    if shape is not None and shape == _output_shape(node):
        return node.inputs[0], ()
    return None


def _single(view: _View, node: Node) -> Equal | None:
    """AddN(x) -> x;  ConcatV2(x, axis) -> x"""
    return (node.inputs[0], ()) if node.attrs["N"] == 1 else None


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
