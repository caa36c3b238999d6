"""`tf.nn.sigmoid_cross_entropy_with_logits` and its gradient, each as one op.

before: p = GreaterEqual(x, 0);  r = Select(p, x, 0);  n = Select(p, Neg(x), x)
        e = Exp(n);  loss = Add(Sub(r, Mul(x, z)), Log1p(e))
after:  loss = _SigmoidCrossEntropy(x, z)

before: h = Mul(Mul(g, Reciprocal(AddV2(1, e))), e);  y = Mul(Neg(g), z)
        d = AddN(Select(p, g, 0), y, Select(p, 0, h), Neg(Select(p, h, 0)))
after:  d = _SigmoidCrossEntropyGrad(g, x, y)

The nodes before the last one stay for their other readers; without readers they
are dead, and the pass behind this one removes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

_TYPES: Final = frozenset([dtypes.float32, dtypes.float64])
_ADD: Final = ("Add", "AddV2")
_SELECT: Final = ("Select", "SelectV2")


def fuse_sigmoid_cross_entropy(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with the last node of each such pattern replaced by the fused op."""
    if not any(node.op == "GreaterEqual" for node in graph.nodes.values()):
        return graph
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        rewriting.keep(_fused(graph, node, rewriting) or node)
    return rewriting.result()


def _fused(graph: GraphIR, node: Node, rewriting: Rewriting) -> Node | None:
    pattern = _Pattern(graph, node)
    if node.op in _ADD:
        inputs = pattern.loss()
        op = "_SigmoidCrossEntropy"
    elif node.op == "AddN" and len(node.inputs) == 4:
        inputs = pattern.gradient()
        op = "_SigmoidCrossEntropyGrad"
    else:
        return None
    if inputs is None or node.output_types[0] not in _TYPES:
        return None
    new = node.replace(op=op, inputs=inputs, attrs={"T": node.output_types[0]})
    return rewriting.fused(node, new, pattern.inside())


class _Pattern:
    """A match that ends in one node; remembers what lies inside of it."""

    def __init__(self, graph: GraphIR, last: Node) -> None:
        self._graph = graph
        self._last = last
        self._inside: dict[str, Node] = {}

    def loss(self) -> tuple[Edge, ...] | None:
        """(x, z), if the node is the loss of logits x and labels z."""
        difference, logarithm = self._last.inputs
        sub, log1p = self._node(difference, "Sub"), self._node(logarithm, "Log1p")
        if sub is None or log1p is None:
            return None
        positive, product = (
            self._select(sub.inputs[0]),
            self._node(sub.inputs[1], "Mul"),
        )
        if positive is None or product is None:
            return None
        condition, x, zero = positive.inputs
        if not self._is_positive(condition, x) or not self._is_zero(zero):
            return None
        if not self._is_exponential(log1p.inputs[0], condition, x):
            return None
        z = _other(product, x)
        return None if z is None else (x, z)

    def gradient(self) -> tuple[Edge, ...] | None:
        """(g, x, y), if the node is the gradient with respect to the logits."""
        first, rest, third, fourth = self._last.inputs
        passed, low = self._select(first), self._select(third)
        negated = self._node(fourth, "Neg")
        high = None if negated is None else self._select(negated.inputs[0])
        if passed is None or low is None or high is None:
            return None
        condition, g, zero = passed.inputs
        h = low.inputs[2]
        if (low.inputs[0], *high.inputs[:2]) != (condition, condition, h):
            return None
        zeros = (zero, low.inputs[1], high.inputs[2])
        x = self._compared(condition)
        if x is None or not all(self._is_zero(edge) for edge in zeros):
            return None
        return (g, x, rest) if self._is_slope(h, g, condition, x) else None

    def _is_slope(self, h: Edge, g: Edge, condition: Edge, x: Edge) -> bool:
        """h = g * (1 / (1 + e)) * e with e = exp(-abs(x))."""
        outer = self._node(h, "Mul")
        inner = None if outer is None else self._node(outer.inputs[0], "Mul")
        if outer is None or inner is None or not self._is_same(inner.inputs[0], g):
            return False
        reciprocal = self._node(inner.inputs[1], "Reciprocal")
        total = None if reciprocal is None else self._node(reciprocal.inputs[0], *_ADD)
        if total is None or total.inputs[1] != outer.inputs[1]:
            return False
        one = self._graph.nodes[total.inputs[0][0]]
        if one.op != "Const" or one.attrs["value"].tolist() != 1:
            return False
        return self._is_exponential(outer.inputs[1], condition, x)

    def _is_same(self, a: Edge, b: Edge) -> bool:
        """Whether two edges are one, or two constants equal."""
        if a == b:
            return True
        one, other = self._graph.nodes[a[0]], self._graph.nodes[b[0]]
        return one.op == other.op == "Const" and np.array_equal(
            one.attrs["value"], other.attrs["value"]
        )

    def inside(self) -> list[Node]:
        """The nodes whose work the fused node does."""
        return list(self._inside.values())

    # --- what edges are ----------------------------------------------------------

    def _node(self, edge: Edge, *ops: str) -> Node | None:
        """What makes the value, if it is one of these ops on the same device."""
        node = self._graph.nodes[edge[0]]
        if node.op not in ops or node.device != self._last.device:
            return None
        self._inside[node.name] = node
        return node

    def _select(self, edge: Edge) -> Node | None:
        """A choice between values element by element."""
        node = self._node(edge, *_SELECT)
        if node is None or not self._has_shape_of(node.inputs[0], edge):
            return None
        return node

    def _has_shape_of(self, edge: Edge, other: Edge) -> bool:
        """Whether two values have the same rank at least: a vector chooses rows."""
        ours = self._graph.nodes[edge[0]].output_shapes
        its = self._graph.nodes[other[0]].output_shapes
        if ours is None or its is None:
            return False
        rank = ours[edge[1]].rank
        return rank is not None and rank == its[other[1]].rank

    def _compared(self, condition: Edge) -> Edge | None:
        """x, if the condition is x >= 0."""
        node = self._node(condition, "GreaterEqual")
        if node is None or not self._is_zero(node.inputs[1]):
            return None
        return node.inputs[0]

    def _is_positive(self, condition: Edge, x: Edge) -> bool:
        return self._compared(condition) == x

    def _is_exponential(self, edge: Edge, condition: Edge, x: Edge) -> bool:
        """exp(-abs(x))"""
        exp = self._node(edge, "Exp")
        choice = None if exp is None else self._select(exp.inputs[0])
        if choice is None or choice.inputs[0] != condition or choice.inputs[2] != x:
            return False
        minus = self._node(choice.inputs[1], "Neg")
        return minus is not None and minus.inputs[0] == x

    def _is_zero(self, edge: Edge) -> bool:
        node = self._graph.nodes[edge[0]]
        if node.op == "Fill":
            node = self._graph.nodes[node.inputs[1][0]]
        if node.op == "ZerosLike":
            return True
        return node.op == "Const" and not node.attrs["value"].any()


def _other(product: Node, x: Edge) -> Edge | None:
    """The factor that is not x."""
    a, b = product.inputs
    if a == x:
        return b
    return a if b == x else None
