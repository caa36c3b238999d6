"""Shapes with names for the sizes that are not known.

Two outputs whose unknown sizes have the same name have the same size in every step: so
the batch size of a network runs through its layers as one name, and gradients that are
brought to the shape of something have it already.

    x = _Arg[?, 4];  y = Relu(x);  z = MatMul(y, w[4, 3])
    x: ((x, 0), 4)   y: ((x, 0), 4)   z: ((x, 0), 3)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.graph.graph_ir import Node

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge

# A size, or the name of one that is not known.
Dim = int | Hashable
Dims = tuple[Dim, ...]


class SymbolicDims:
    """The dims of outputs, noted node by node in topological order."""

    __slots__ = ("_dims", "_nodes")

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        """Over nodes that the caller adds to the mapping as it goes."""
        self._nodes = nodes
        self._dims: dict[Edge, Dims] = {}

    def of(self, edge: Edge) -> Dims | None:
        """The dims of an output of a noted node; None where the rank is not known."""
        known = self._dims.get(edge)
        if known is not None:
            return known
        shapes = self._nodes[edge[0]].output_shapes
        dims = None if shapes is None else shapes[edge[1]].dims_tuple
        if dims is None:
            return None
        return tuple([(edge, axis) if d is None else d for axis, d in enumerate(dims)])

    def note(self, node: Node) -> None:
        """Works out the dims of a node that does not know all of them statically."""
        rule = _RULES.get(node.op)
        if rule is None or node.output_shapes is None:
            return
        for index, shape in enumerate(node.output_shapes):
            if shape.is_fully_defined():
                continue
            found = rule(self, node, index)
            if found is not None:
                static = shape.dims_tuple
                if static is not None and len(static) == len(found):
                    found = tuple(
                        [
                            f if s is None else s
                            for s, f in zip(static, found, strict=True)
                        ]
                    )
                    self._dims[node.name, index] = found
                elif static is None:
                    self._dims[node.name, index] = found

    def constant_shape(self, edge: Edge) -> Dims | None:
        """The dims that a shape tensor holds, if they are the sizes of something."""
        producer = self._nodes[edge[0]]
        if producer.op in ("Shape", "ShapeN"):
            return self.of(producer.inputs[edge[1]])
        if producer.op == "Const":
            value = producer.attrs["value"]
            if value.ndim != 1 or value.dtype.kind != "i":
                return None
            return tuple(value.tolist())
        if producer.op == "ExpandDims":
            size = self.size(producer.inputs[0])
            return None if size is None else (size,)
        if producer.op == "ConcatV2":
            parts = [self.constant_shape(part) for part in producer.inputs[:-1]]
            if None in parts:
                return None
            return tuple([dim for part in parts for dim in part or ()])
        return None

    def constant(self, edge: Edge) -> Any:
        """The value of a constant as Python numbers, else None."""
        node = self._nodes[edge[0]]
        return node.attrs["value"].tolist() if node.op == "Const" else None

    def size(self, edge: Edge) -> Dim | None:
        """The size of something that a scalar holds."""
        producer = self._nodes[edge[0]]
        if producer.op == "Size":
            dims = self.of(producer.inputs[0])
            return dims[0] if dims is not None and len(dims) == 1 else None
        if producer.op == "StridedSlice" and producer.attrs["shrink_axis_mask"] == 1:
            sizes = self.constant_shape(producer.inputs[0])
            begin = self.constant(producer.inputs[1])
            if sizes is None or begin is None or producer.attrs["begin_mask"]:
                return None
            return sizes[begin[0]] if 0 <= begin[0] < len(sizes) else None
        return None


_Rule = Callable[[SymbolicDims, Node, int], "Dims | None"]


def _like_first(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    return dims.of(node.inputs[0])


def _broadcast(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    a, b = dims.of(node.inputs[0]), dims.of(node.inputs[1])
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    padded_a = (1,) * (rank - len(a)) + a
    padded_b = (1,) * (rank - len(b)) + b
    result: list[Dim] = []
    for axis, (x, y) in enumerate(zip(padded_a, padded_b, strict=True)):
        if x == y or y == 1:
            result.append(x)
        elif x == 1:
            result.append(y)
        elif isinstance(x, int) or isinstance(y, int):
            result.append(x if isinstance(x, int) else y)  # the other is it, or 1
        else:
            result.append(((node.name, index), axis))
    return tuple(result)


def _mat_mul(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    a, b = dims.of(node.inputs[0]), dims.of(node.inputs[1])
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return None
    rows = a[1] if node.attrs["transpose_a"] else a[0]
    return rows, b[0] if node.attrs["transpose_b"] else b[1]


def _batch_of_first(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    """The first axis is that of the input, all others are the node's own."""
    first, shapes = dims.of(node.inputs[0]), node.output_shapes
    assert shapes is not None
    own = shapes[index].dims_tuple
    if not first or own is None:
        return None
    edge = (node.name, index)
    rest = [(edge, axis) if d is None else d for axis, d in enumerate(own)][1:]
    return (first[0], *rest)


def _cross_entropy(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    """(loss [batch], gradient [batch, classes])"""
    logits = dims.of(node.inputs[0])
    if logits is None or len(logits) != 2:
        return None
    return logits if index == 1 else logits[:1]


def _reshape(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    return dims.constant_shape(node.inputs[1])


def _gather(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    params, indices = dims.of(node.inputs[0]), dims.of(node.inputs[1])
    axis = dims.constant(node.inputs[2])
    if params is None or indices is None or axis != 0 or node.attrs.get("batch_dims"):
        return None
    return indices + params[1:]


def _resource_gather(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    indices, shapes = dims.of(node.inputs[1]), node.output_shapes
    own = None if shapes is None else shapes[0].dims_tuple
    if indices is None or own is None or node.attrs.get("batch_dims"):
        return None
    rest = own[len(indices) :]
    return None if None in rest else indices + rest


def _sized_rows(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    """As many rows as the last input says, such as the first input has."""
    first, size = dims.of(node.inputs[0]), dims.size(node.inputs[-1])
    return None if first is None or size is None else (size, *first[1:])


def _sum_of_rows(dims: SymbolicDims, node: Node, index: int) -> Dims | None:
    ids = dims.of(node.inputs[1])
    return _sized_rows(dims, node, index) if ids is not None and len(ids) == 1 else None


_UNARY: Final = """
    Abs Acos Asin Atan BiasAdd BiasAddV1 Cast Ceil CheckNumerics Cos Cosh Elu EluGrad
    Erf Exp Expm1 Floor Identity Inv LeakyRelu LeakyReluGrad Log Log1p LogSoftmax Neg
    OnesLike PreventGradient Reciprocal Relu Relu6 Relu6Grad ReluGrad Round Rsqrt
    RsqrtGrad Selu SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Softmax Softplus
    SoftplusGrad Softsign SoftsignGrad Sqrt SqrtGrad Square StopGradient Tan Tanh
    TanhGrad ZerosLike
"""
_BINARY: Final = """
    Add AddV2 Div Equal FloorDiv FloorMod Greater GreaterEqual Less LessEqual LogicalAnd
    LogicalOr Maximum Minimum Mod Mul NotEqual Pow RealDiv SquaredDifference Sub
"""
_BATCHED: Final = "AvgPool Conv2D DepthwiseConv2dNative MaxPool"

_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_UNARY.split(), _like_first),
    **dict.fromkeys(_BINARY.split(), _broadcast),
    **dict.fromkeys(_BATCHED.split(), _batch_of_first),
    "AddN": _like_first,
    "GatherV2": _gather,
    "ResourceGather": _resource_gather,
    "SparseSegmentMeanGrad": _sized_rows,
    "SparseSegmentSqrtNGrad": _sized_rows,
    "UnsortedSegmentSum": _sum_of_rows,
    "MatMul": _mat_mul,
    "Reshape": _reshape,
    "SparseSoftmaxCrossEntropyWithLogits": _cross_entropy,
    "SoftmaxCrossEntropyWithLogits": _cross_entropy,
}
