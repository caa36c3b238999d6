"""What one op costs on a device, from the shapes of its tensors.

An op takes the time of its arithmetic and, after that, of its memory traffic. The
counts are those of TensorFlow 1.15; for ops that it does not know arithmetic is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.grappler.tensor_properties import byte_count, element_count, is_known

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

# Arithmetic for each element of the largest operand.
_ELEMENTWISE: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        [
            *("Add", "BiasAdd", "Cast", "Ceil", "Erf", "Erfc", "Floor", "InvGrad"),
            *("Lgamma", "Maximum", "Minimum", "Mul", "Neg", "Relu", "ReluGrad"),
            *("Rint", "Round", "Square", "Sub", "ApproximateEqual", "Equal"),
            *("Greater", "GreaterEqual", "Less", "LessEqual", "LogicalAnd"),
            *("LogicalNot", "LogicalOr", "NotEqual"),
        ],
        1,
    ),
    "Sign": 3,
    **dict.fromkeys(["Acos", "Asin", "Atan", "Cos", "Rsqrt", "Sin", "Tan"], 5),
    **dict.fromkeys(["FloorMod", "Mod", "Sqrt", "TruncateMod"], 8),
    **dict.fromkeys(
        ["Div", "FloorDiv", "Inv", "RealDiv", "Reciprocal", "TruncateDiv"], 14
    ),
    "Atan2": 19,
    **dict.fromkeys(["Exp", "Expm1"], 34),
    "Tanh": 36,
    "Sigmoid": 37,
    **dict.fromkeys(["Log", "Log1p"], 50),
}
# They hand on what they get, or tell what is known.
_FREE: Final = frozenset(
    [
        *("Const", "Identity", "IdentityN", "NoOp", "Placeholder", "PreventGradient"),
        *("Rank", "RefIdentity", "Reshape", "Shape", "ShapeN", "Size", "Squeeze"),
        *("StopGradient", "VarHandleOp", "Variable", "VariableV2", "_Recv", "_Send"),
    ]
)
_RSQRT: Final = 5
# By compute capability: cores of a multiprocessor, each with two operations a cycle.
_CORES: Final = ((3, 32), (4, 192), (6, 128))
_NEWEST_CORES: Final = 64
_CPU_BANDWIDTH: Final = 32.0  # bytes in a nanosecond
_GPU_BANDWIDTH: Final = 100.0


@dataclass(frozen=True, slots=True)
class DeviceSpeed:
    """What a device does in a nanosecond."""

    operations: float
    #: How many bytes are read or written.
    bytes: float


@dataclass(frozen=True, slots=True)
class OpCost:
    """What one run of an op takes."""

    compute_ns: float = 0.0
    memory_ns: float = 0.0
    #: Whether a shape was not known, and dims counted as 1.
    is_inaccurate: bool = False

    @property
    def total_ns(self) -> int:
        """Arithmetic and memory traffic do not overlap."""
        return int(self.compute_ns + self.memory_ns)


def device_speed(properties: Any) -> DeviceSpeed:
    """The speed of a device, from its `DeviceProperties`.

    Raises:
      errors.InvalidArgumentError: a GPU's architecture is not told.
    """
    clock = properties.num_cores * properties.frequency * 1e-3
    bandwidth = properties.bandwidth / 1e6
    if properties.type != "GPU":
        return DeviceSpeed(clock, bandwidth or _CPU_BANDWIDTH)
    architecture = properties.environment.get("architecture", "")
    major, _, _ = architecture.partition(".")
    if not major.isdigit():
        raise errors.InvalidArgumentError(
            None,
            None,
            "The environment of a GPU's DeviceProperties must have its 'architecture', "
            f"such as '7.0'; got {architecture!r}",
        )
    cores = next((n for below, n in _CORES if int(major) < below), _NEWEST_CORES)
    return DeviceSpeed(clock * cores * 2, bandwidth or _GPU_BANDWIDTH)


def estimate(operation: Operation, properties: Any) -> OpCost:
    """What an operation costs on a device with those properties."""
    tensors = [*operation.inputs, *operation.outputs]
    inaccurate = not all(is_known(tensor) for tensor in tensors)
    if operation.type in _FREE:
        return OpCost(is_inaccurate=inaccurate)
    speed = device_speed(properties)
    operations, traffic = _counts(operation)
    compute = operations / speed.operations if operations else 0.0
    return OpCost(compute, traffic / speed.bytes, inaccurate)


def _counts(operation: Operation) -> tuple[float, float]:
    """How many operations, and how many bytes read and written."""
    special = _SPECIAL.get(operation.type)
    traffic = sum(map(byte_count, [*operation.inputs, *operation.outputs]))
    if special is not None:
        return special(operation, traffic)
    each = _ELEMENTWISE.get(operation.type, 0)
    if not each:
        return 0.0, traffic
    return each * max(map(element_count, operation.outputs), default=0), traffic


def _dims(tensor: Any) -> list[int]:
    if tensor.shape.rank is None:
        return []
    return [1 if dim is None else dim for dim in tensor.shape.as_list()]


def _matmul(operation: Operation, traffic: float) -> tuple[float, float]:
    first = _dims(operation.inputs[0])
    is_turned = "transpose_a" if operation.type == "MatMul" else "adj_x"
    if len(first) < 2:
        return 0.0, traffic
    inner = first[-2] if operation.get_attr(is_turned) else first[-1]
    return 2.0 * element_count(operation.outputs[0]) * inner, traffic


def _convolution(result: int | None, filters: int | None) -> Any:
    """By where the convolved images and the filters are; None: the output."""

    def counts(operation: Operation, traffic: float) -> tuple[float, float]:
        def tensor(index: int | None) -> Any:
            return operation.outputs[0] if index is None else operation.inputs[index]

        size = _dims(tensor(filters))
        if len(size) != 4:
            return 0.0, traffic
        height, width, depth, _ = size
        if operation.type.startswith("Depthwise"):
            depth = 1
        each = 2.0 * height * width * depth
        return each * element_count(tensor(result)), traffic

    return counts


@dataclass(frozen=True, slots=True)
class _Pooling:
    """The sizes of a pooling op: of its images, and of a window."""

    images: int  # elements of the larger side
    pooled: int
    window: int
    is_overlapping: bool

    @staticmethod
    def of(operation: Operation, images: Any, pooled: Any) -> _Pooling:
        size: Sequence[int] = operation.get_attr("ksize")
        strides: Sequence[int] = operation.get_attr("strides")
        overlaps = any(k > s for k, s in zip(size, strides, strict=True))
        window = 1
        for extent in size:
            window *= extent
        return _Pooling(element_count(images), element_count(pooled), window, overlaps)


def _max_pool(operation: Operation, traffic: float) -> tuple[float, float]:
    pool = _Pooling.of(operation, operation.inputs[0], operation.outputs[0])
    return pool.pooled * max(1, pool.window - 1), traffic


def _max_pool_gradient(operation: Operation, traffic: float) -> tuple[float, float]:
    pool = _Pooling.of(operation, operation.inputs[0], operation.inputs[2])
    # The pooled values are not read again: where the maximum was is looked for.
    traffic -= byte_count(operation.inputs[1])
    if pool.window == 1:
        return pool.images, traffic
    images = pool.images * (2 if pool.is_overlapping else 1)
    return pool.pooled * (pool.window - 1) + images, traffic


def _average_pool(operation: Operation, traffic: float) -> tuple[float, float]:
    pool = _Pooling.of(operation, operation.inputs[0], operation.outputs[0])
    return pool.pooled * pool.window, traffic


def _average_pool_gradient(operation: Operation, traffic: float) -> tuple[float, float]:
    pool = _Pooling.of(operation, operation.outputs[0], operation.inputs[1])
    each = pool.window + 1 if pool.is_overlapping else 1
    return pool.images + pool.pooled * each, traffic


def _batch_norm(operation: Operation, traffic: float) -> tuple[float, float]:
    images, scale = operation.inputs[0], operation.inputs[1]
    size, channels = element_count(images), element_count(scale)
    if not operation.get_attr("is_training"):
        moved = 2 * byte_count(images) + 4 * byte_count(scale)
        return 2.0 * size, moved
    # The mean and the variance take a pass over the images of their own.
    moved = 3 * byte_count(images) + 6 * byte_count(scale)
    return 4.0 * size + channels * (6 + _RSQRT), moved


def _batch_norm_gradient(operation: Operation, traffic: float) -> tuple[float, float]:
    images, scale = operation.inputs[1], operation.inputs[2]
    size, channels = element_count(images), element_count(scale)
    moved = 4 * byte_count(images) + 4 * byte_count(scale)
    return 11.0 * size + channels * (5 + _RSQRT), moved


def _slice(operation: Operation, traffic: float) -> tuple[float, float]:
    """Only what is taken is read, and then written."""
    result = operation.outputs[0]
    places = sum(map(byte_count, operation.inputs[1:]))
    return element_count(result), 2 * byte_count(result) + places


_SPECIAL: Final[Mapping[str, Callable[[Any, float], tuple[float, float]]]] = {
    "MatMul": _matmul,
    "BatchMatMul": _matmul,
    "Conv2D": _convolution(None, 1),
    "Conv2DBackpropInput": _convolution(2, 1),
    "Conv2DBackpropFilter": _convolution(2, None),
    "DepthwiseConv2dNative": _convolution(None, 1),
    "DepthwiseConv2dNativeBackpropInput": _convolution(2, 1),
    "DepthwiseConv2dNativeBackpropFilter": _convolution(2, None),
    "MaxPool": _max_pool,
    "MaxPoolGrad": _max_pool_gradient,
    "AvgPool": _average_pool,
    "AvgPoolGrad": _average_pool_gradient,
    "FusedBatchNorm": _batch_norm,
    "FusedBatchNormGrad": _batch_norm_gradient,
    "Gather": _slice,
    "GatherV2": _slice,
    "ResourceGather": _slice,
    "Slice": _slice,
}
