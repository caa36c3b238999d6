"""How many floating-point operations the nodes of a graph take, from static shapes.

The counts are TensorFlow 1.15's, which counts a multiplication and an addition as two
(`python/profiler/internal/flops_registry.py` and the modules of the ops). Ops that it
does not count, such as `AddV2`, have no count here either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from tensorloom.framework.registry.op_statistics import OpStats, RegisterStatistics

FLOPS: Final = "flops"

Count = Callable[["Shapes"], float]


class Shapes:
    """The shapes around a node. Raises ValueError where one is not fully defined."""

    def __init__(self, graph: Any, node: Any) -> None:
        self._graph = graph
        self.node = node

    def _shape(self, name: str) -> list[int]:
        name = name.removeprefix("^")
        tensor = self._graph.get_tensor_by_name(name if ":" in name else f"{name}:0")
        tensor.shape.assert_is_fully_defined()
        return [int(size) for size in tensor.shape.as_list()]

    def input(self, index: int) -> list[int]:
        """The shape of an input."""
        return self._shape(self.node.input[index])

    def input_size(self, index: int = 0) -> int:
        """How many elements an input has."""
        return math.prod(self.input(index))

    @property
    def output(self) -> list[int]:
        """The shape of the first output."""
        return self._shape(self.node.name)

    @property
    def output_size(self) -> int:
        """How many elements the first output has."""
        return math.prod(self.output)

    def sizes(self, attr: str) -> list[int]:
        """An attr that is a list of numbers."""
        return list(self.node.attr[attr].list.i)

    def check_layout(self) -> None:
        """Raises ValueError for images with the channels first, as TensorFlow does."""
        if self.node.attr["data_format"].s != b"NHWC":
            raise ValueError("Only NHWC format is supported in flops computations")


def _of_inputs(each: int) -> Count:
    return lambda shapes: shapes.input_size() * each


def _of_outputs(each: int) -> Count:
    return lambda shapes: shapes.output_size * each


def _reduction(finish: int) -> Count:
    """One operation for each element taken in, and `finish` for each result."""
    return lambda shapes: shapes.input_size() + shapes.output_size * (finish - 1)


def _l2_loss(shapes: Shapes) -> float:
    return shapes.input_size() * 3 - 1


def _sum_of_many(shapes: Shapes) -> float:
    count = len(shapes.node.input)
    return shapes.input_size() * (count - 1) if count else 0


def _matrix_product(shapes: Shapes) -> float:
    rows, columns = shapes.input(0)[-2:]
    is_transposed = shapes.node.attr["transpose_a"].b
    return 2 * (rows if is_transposed else columns) * shapes.output_size


def _convolution(shapes: Shapes) -> float:
    *window, depth, _ = shapes.input(1)
    return 2 * math.prod(window) * depth * shapes.output_size


def _separate_channels(shapes: Shapes) -> float:
    height, width = shapes.input(1)[:2]
    return 2 * height * width * shapes.output_size


def _input_gradient(shapes: Shapes) -> float:
    shapes.check_layout()
    strides = shapes.sizes("strides")
    work = 2 * shapes.output_size * shapes.input_size(1)
    return work / (shapes.output[-1] * strides[1] * strides[2])


def _filter_gradient(shapes: Shapes) -> float:
    shapes.check_layout()
    strides = shapes.sizes("strides")
    work = 2 * shapes.input_size(0) * shapes.output_size
    return work / (shapes.input(0)[-1] * strides[1] * strides[2])


def _pooling(shapes: Shapes) -> float:
    shapes.check_layout()
    return math.prod(shapes.sizes("ksize")) * shapes.output_size


def _average_gradient(shapes: Shapes) -> float:
    shapes.check_layout()
    return 2 * math.prod(shapes.sizes("ksize")) * shapes.input_size(1)


def _maximum_gradient(shapes: Shapes) -> float:
    shapes.check_layout()
    outputs = shapes.input_size(1)
    return math.prod(shapes.sizes("ksize")) * outputs + outputs


_COUNTS: Final[dict[str, Count]] = {
    **dict.fromkeys(
        ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd"),
        _of_inputs(1),
    ),
    "Rsqrt": _of_inputs(2),
    "Softmax": _of_inputs(5),
    "L2Loss": _l2_loss,
    **dict.fromkeys(
        (
            *("Add", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow"),
            *("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual"),
        ),
        _of_outputs(1),
    ),
    "RsqrtGrad": _of_outputs(4),
    "SquaredDifference": _of_outputs(2),
    "Mean": _reduction(1),
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), _reduction(0)),
    "AddN": _sum_of_many,
    "MatMul": _matrix_product,
    "BatchMatMul": _matrix_product,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "DepthwiseConv2dNative": _separate_channels,
    "Dilation2D": _separate_channels,
    "Conv2DBackpropInput": _input_gradient,
    "Conv2DBackpropFilter": _filter_gradient,
    "AvgPool": _pooling,
    "MaxPool": _pooling,
    "AvgPoolGrad": _average_gradient,
    "MaxPoolGrad": _maximum_gradient,
}


def _registered(count: Count) -> Callable[[Any, Any], OpStats]:
    return lambda graph, node: OpStats(FLOPS, count(Shapes(graph, node)))


for _op_type, _count in _COUNTS.items():
    RegisterStatistics(_op_type, FLOPS)(_registered(_count))
