"""Moments and normalization as compositions of simple ops, and LRN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape

# --- moments -----------------------------------------------------------------


@export("nn.moments")
def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over axes; `shift` is not used.

    float16 is computed in float32.
    """
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        half = x.dtype.base_dtype == dtypes.float16
        y = math_ops.cast(x, dtypes.float32) if half else x
        mean = math_ops.reduce_mean(y, axes, keepdims=True, name="mean")
        variance = math_ops.reduce_mean(
            math_ops.squared_difference(y, array_ops.stop_gradient(mean)),
            axes,
            keepdims=True,
            name="variance",
        )
        if not keep_dims:
            mean = array_ops.squeeze(mean, axes)
            variance = array_ops.squeeze(variance, axes)
        if half:
            return (
                math_ops.cast(mean, dtypes.float16),
                math_ops.cast(variance, dtypes.float16),
            )
        return mean, variance


@export("nn.weighted_moments")
def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance over axes, each element counting by its weight."""
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        half = x.dtype.base_dtype == dtypes.float16
        if half:
            x = math_ops.cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = math_ops.cast(weights, x.dtype)
        mean, variance = _weighted_moments(x, axes, weights)
        if not keep_dims:
            mean = array_ops.squeeze(mean, axis=axes)
            variance = array_ops.squeeze(variance, axis=axes)
        if half:
            mean = math_ops.cast(mean, dtypes.float16)
            variance = math_ops.cast(variance, dtypes.float16)
        return mean, variance


def _weighted_moments(x: Tensor, axes: Any, weights: Tensor) -> tuple[Tensor, Tensor]:
    weighted_sum = math_ops.reduce_sum(
        weights * x, axes, name="weighted_input_sum", keepdims=True
    )
    # Weights may broadcast against x; their sum must count each element.
    broadcast = weights + array_ops.zeros_like(x)
    sum_of_weights = math_ops.reduce_sum(
        broadcast, axes, name="sum_of_weights", keepdims=True
    )
    divisor = math_ops.reciprocal(sum_of_weights, name="inv_weight_sum")
    mean = math_ops.multiply(weighted_sum, divisor)
    squares = math_ops.reduce_sum(
        weights * math_ops.squared_difference(x, mean),
        axes,
        name="weighted_distsq",
        keepdims=True,
    )
    return mean, math_ops.multiply(squares, divisor)


@export("nn.sufficient_statistics")
def sufficient_statistics(
    x: Any,
    axes: Sequence[int],
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Count, sum and sum of squares over axes, of x less `shift`; and the shift."""
    axes = list(set(axes))
    keep_dims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        counts = _element_count(x, axes)
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            shifted = math_ops.subtract(x, shift)
            squared = math_ops.squared_difference(x, shift)
        else:
            shifted = x
            squared = math_ops.square(x)
        mean_ss = math_ops.reduce_sum(shifted, axes, keepdims=keep_dims, name="mean_ss")
        var_ss = math_ops.reduce_sum(squared, axes, keepdims=keep_dims, name="var_ss")
    return counts, mean_ss, var_ss, shift


def _element_count(x: Tensor, axes: Sequence[int]) -> Tensor:
    dims = x.shape.dims_tuple
    if dims is not None and all(dims[axis] is not None for axis in axes):
        count = 1
        for axis in axes:
            count *= dims[axis]  # type: ignore[operator]
        return constant(count, dtype=x.dtype)
    sizes = array_ops.gather(math_ops.cast(array_ops.shape(x), x.dtype), axes)
    return math_ops.reduce_prod(sizes, name="count")


@export("nn.normalize_moments")
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Mean and variance from the results of `sufficient_statistics`."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = math_ops.reciprocal(counts, name="divisor")
        if shift is not None:
            shifted_mean = math_ops.multiply(mean_ss, divisor, name="shifted_mean")
            mean = math_ops.add(shifted_mean, shift, name="mean")
        else:
            shifted_mean = math_ops.multiply(mean_ss, divisor, name="mean")
            mean = shifted_mean
        variance = math_ops.subtract(
            math_ops.multiply(variance_ss, divisor),
            math_ops.square(shifted_mean),
            name="variance",
        )
    return mean, variance


# --- normalization -----------------------------------------------------------


@export("nn.batch_normalization")
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, the last two optional."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        inverse = math_ops.rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        # The order of these ops decides their names: multiplication, then the shift.
        scaled = x * math_ops.cast(inverse, x.dtype)
        shift = offset - mean * inverse if offset is not None else -mean * inverse
        return scaled + math_ops.cast(shift, x.dtype)  # type: ignore[no-any-return]


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """`batch_normalization` under older argument names."""
    t = either("input", input, "t", t)
    m = either("mean", mean, "m", m)
    v = either("variance", variance, "v", v)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)


@export("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize")
def l2_normalize(
    x: Any,
    axis: Any = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Any = None,
) -> Tensor:
    """x over its Euclidean norm along axes; squared norms are at least epsilon."""
    axis = either("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as name:
        x = convert_to_tensor(x, name="x")
        square_sum = math_ops.reduce_sum(math_ops.square(x), axis, keepdims=True)
        inverse = math_ops.rsqrt(math_ops.maximum(square_sum, epsilon))
        return math_ops.multiply(x, inverse, name=name)


# --- local response normalization --------------------------------------------


def _image_shape(c: InferenceContext) -> TensorShape:
    return c.with_rank(0, 4)


def _lrn_grad_shape(c: InferenceContext) -> TensorShape:
    shape = c.merge(c.with_rank(0, 4), c.input_shape(1))
    return c.merge(shape, c.input_shape(2))


def _lrn_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    return [
        apply_op(
            "LRNGrad",
            input_grads=grad,
            input_image=op.inputs[0],
            output_image=op.outputs[0],
            **{name: op.get_attr(name) for name in _LRN_NAMES},
        )
    ]


_LRN_NAMES = ("depth_radius", "bias", "alpha", "beta")
_LRN_ATTRS = [
    "depth_radius: int = 5",
    "bias: float = 1.0",
    "alpha: float = 1.0",
    "beta: float = 0.5",
    "T: {half, bfloat16, float} = DT_FLOAT",
]

register_op(
    "LRN",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=_LRN_ATTRS,
    shape_fn=_image_shape,
    gradient=_lrn_grad,
    doc="input / (bias + alpha * sum of squares of neighbouring channels) ** beta",
)

register_op(
    "LRNGrad",
    inputs=["input_grads: T", "input_image: T", "output_image: T"],
    outputs=["output: T"],
    attrs=_LRN_ATTRS,
    shape_fn=_lrn_grad_shape,
    doc="The gradient of LRN.",
)


@export("nn.lrn", "nn.local_response_normalization")
def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divides by a power of the squares of the channels within `depth_radius`."""
    return apply_op(  # type: ignore[no-any-return]
        "LRN",
        input=input,
        depth_radius=depth_radius,
        bias=bias,
        alpha=alpha,
        beta=beta,
        name=name,
    )
