"""Fused batch normalization: ops, gradients and builder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

# cuDNN takes no smaller epsilon; TensorFlow raises it on every device.
_MIN_EPSILON = 1.001e-5

# --- shape functions ---------------------------------------------------------


def _channel_axis(data_format: bytes) -> int:
    return data_format.index(b"C")


def _merge_channels(
    c: InferenceContext, channels: int | None, inputs: range
) -> int | None:
    """Checks that each of these inputs is a vector of `channels` elements."""
    for index in inputs:
        dims = c.with_rank(index, 1).dims_tuple
        assert dims is not None
        channels = c.merge_dim(channels, dims[0])
    return channels


def _with_channels(
    dims: tuple[int | None, ...], axis: int, channels: int | None
) -> TensorShape:
    return TensorShape.of((*dims[:axis], channels, *dims[axis + 1 :]))


def _batch_norm_shape(c: InferenceContext) -> list[TensorShape]:
    data_format = c.attrs["data_format"]
    dims = c.with_rank(0, len(data_format)).dims_tuple
    assert dims is not None
    axis = _channel_axis(data_format)
    vectors = range(1, 3 if c.attrs["is_training"] else 5)
    channels = _merge_channels(c, dims[axis], vectors)
    shapes = [_with_channels(dims, axis, channels)]
    shapes += [TensorShape.of((channels,))] * 4
    # The third reserve space has no shape that all devices share.
    return shapes if c.num_outputs == 5 else [*shapes, UNKNOWN]


def _batch_norm_grad_shape(c: InferenceContext) -> list[TensorShape]:
    data_format = c.attrs["data_format"]
    rank = len(data_format)
    dims, x_dims = c.with_rank(0, rank).dims_tuple, c.with_rank(1, rank).dims_tuple
    assert dims is not None
    assert x_dims is not None
    axis = _channel_axis(data_format)
    channels = c.merge_dim(dims[axis], x_dims[axis])
    channels = _merge_channels(c, channels, range(2, 5))
    vector = TensorShape.of((channels,))
    unused = TensorShape.of((0,)) if c.attrs["is_training"] else vector
    return [_with_channels(dims, axis, channels), vector, vector, unused, unused]


# --- gradients ---------------------------------------------------------------


def _batch_norm_grad(version: str) -> Any:
    op_type = f"FusedBatchNormGrad{version}"

    def gradient(op: Operation, *grads: Tensor) -> Any:
        inputs = {
            "y_backprop": grads[0],
            "x": op.inputs[0],
            "scale": op.inputs[1],
            "epsilon": op.get_attr("epsilon"),
        }
        if version == "V3":
            inputs["reserve_space_3"] = op.outputs[5]
        if op.get_attr("is_training"):
            results = apply_op(
                op_type,
                **inputs,
                reserve_space_1=op.outputs[3],
                reserve_space_2=op.outputs[4],
                data_format=op.get_attr("data_format"),
                is_training=True,
            )
            return list(results)
        return _inference_grad(op_type, op, inputs)

    return gradient


def _inference_grad(
    op_type: str, op: Operation, inputs: dict[str, Any]
) -> list[Tensor | None]:
    """Without training, mean and variance are constants, and channels come last."""
    data_format = op.get_attr("data_format")
    channels_first = _channel_axis(data_format) == 1
    rank = len(data_format)
    if channels_first:
        for name in ("x", "y_backprop"):
            inputs[name] = array_ops.transpose(inputs[name], [0, *range(2, rank), 1])
    dx, dscale, doffset, _, _ = apply_op(
        op_type,
        **inputs,
        reserve_space_1=op.inputs[3],
        reserve_space_2=op.inputs[4],
        data_format="NHWC" if rank == 4 else "NDHWC",
        is_training=False,
    )
    if channels_first:
        dx = array_ops.transpose(dx, [0, rank - 1, *range(1, rank - 1)])
    return [dx, dscale, doffset, None, None]


class _Normalized:
    """The normalized input of a training op, and the projection of its gradient."""

    def __init__(self, x: Tensor, axes: list[int], epsilon: float) -> None:
        self.axes = axes
        mean = math_ops.reduce_mean(x, axes, keepdims=True)
        squares = math_ops.squared_difference(x, mean)
        variance = math_ops.reduce_mean(squares, axes, keepdims=True)
        self.inverse = math_ops.rsqrt(variance + epsilon)
        self.x_hat = (x - mean) * self.inverse

    def mean(self, value: Tensor) -> Tensor:
        """Over everything but the channels."""
        return math_ops.reduce_mean(value, self.axes, keepdims=True)

    def project(self, value: Tensor) -> Tensor:
        """The gradient of sum(value * x_hat) with respect to x.

        Linear in the value and self-adjoint: dx of the op is scale * project(dy).
        """
        along = self.x_hat * self.mean(value * self.x_hat)
        return self.inverse * (value - self.mean(value) - along)


def _batch_norm_grad_grad(
    op: Operation, grad_dx: Tensor, grad_dscale: Tensor, grad_doffset: Tensor, *_: Any
) -> list[Tensor | None]:
    """The second derivative.

    With a, b, c for the three gradients, it is that of
    sum(a * dx) + sum(b * dscale) + sum(c * doffset) by dy, x and scale.
    """
    dy, x, scale = op.inputs[:3]
    data_format = op.get_attr("data_format")
    channels, rank = _channel_axis(data_format), len(data_format)
    axes = [axis for axis in range(rank) if axis != channels]

    def spread(vector: Tensor) -> Tensor:
        if channels != 1:
            return vector
        ones = [1] * (rank - 2)
        return array_ops.reshape(vector, [1, array_ops.size(vector), *ones])

    wide = [math_ops.cast(v, dtypes.float32) for v in (dy, x, grad_dx)]
    vectors = [spread(v) for v in (scale, grad_dscale, grad_doffset)]
    if op.get_attr("is_training"):
        normalized = _Normalized(wide[1], axes, op.get_attr("epsilon"))
        results = _training_grad_grad(normalized, *wide, *vectors)
    else:
        inverse = math_ops.rsqrt(op.inputs[4] + op.get_attr("epsilon"))
        x_hat = (wide[1] - spread(op.inputs[3])) * spread(inverse)
        results = _inference_grad_grad(x_hat, spread(inverse), *wide, *vectors)
    by_dy, by_x, by_scale = results
    by_scale = math_ops.reduce_sum(by_scale, axes)
    first = [math_ops.cast(by_dy, dy.dtype), math_ops.cast(by_x, x.dtype), by_scale]
    return [*first, *[None] * (len(op.inputs) - 3)]


def _training_grad_grad(
    n: _Normalized,
    dy: Tensor,
    x: Tensor,
    a: Tensor,
    scale: Tensor,
    b: Tensor,
    c: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    projected_dy, projected_a = n.project(dy), n.project(a)
    a_along, dy_along = n.mean(a * n.x_hat), n.mean(dy * n.x_hat)
    by_dy = scale * projected_a + b * n.x_hat + c
    # d(inverse)/dx is -inverse^2 * x_hat / count.
    common = n.mean(a * dy) - n.mean(a) * n.mean(dy) - a_along * dy_along
    by_x = b * projected_dy - scale * n.inverse * (
        common * n.inverse * n.x_hat + projected_a * dy_along + a_along * projected_dy
    )
    return by_dy, by_x, a * projected_dy


def _inference_grad_grad(
    x_hat: Tensor,
    inverse: Tensor,
    dy: Tensor,
    x: Tensor,
    a: Tensor,
    scale: Tensor,
    b: Tensor,
    c: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    by_dy = scale * inverse * a + b * x_hat + c
    return by_dy, b * inverse * dy, a * inverse * dy


# --- ops ---------------------------------------------------------------------


def _register(version: str, types: list[str], u: str) -> None:
    # Volumes are of TensorFlow 2.
    volumes = ", 'NDHWC', 'NCDHW'" if version == "V3" else ""
    layout = f"data_format: {{'NHWC', 'NCHW'{volumes}}} = 'NHWC'"
    reserved = range(1, 4 if version == "V3" else 3)
    register_op(
        f"FusedBatchNorm{version}",
        inputs=[
            "x: T",
            *(f"{n}: {u}" for n in ("scale", "offset", "mean", "variance")),
        ],
        outputs=[
            "y: T",
            f"batch_mean: {u}",
            f"batch_variance: {u}",
            *(f"reserve_space_{i}: {u}" for i in reserved),
        ],
        attrs=[
            *types,
            "epsilon: float = 0.0001",
            layout,
            "is_training: bool = true",
            # Of TensorFlow 2, whose graphs always say it; see `newer_attrs.ADDED`.
            "exponential_avg_factor: float = 1.0",
        ],
        shape_fn=_batch_norm_shape,
        gradient=_batch_norm_grad(version),
        doc="Normalizes each channel by its mean and variance, then scales and shifts.",
    )
    first = 4 if version == "V3" else 3
    register_op(
        f"FusedBatchNormGrad{version}",
        inputs=[
            "y_backprop: T",
            "x: T",
            "scale: float" if u == "U" else "scale: T",
            *(f"reserve_space_{i}: {u}" for i in reserved),
        ],
        outputs=[
            "x_backprop: T",
            f"scale_backprop: {u}",
            f"offset_backprop: {u}",
            f"reserve_space_{first}: {u}",
            f"reserve_space_{first + 1}: {u}",
        ],
        attrs=[*types, "epsilon: float = 0.0001", layout, "is_training: bool = true"],
        shape_fn=_batch_norm_grad_shape,
        gradient=_batch_norm_grad_grad,
        doc="The gradient of fused batch normalization.",
    )


_register("", ["T: {float}"], "T")
_register("V2", ["T: {half, bfloat16, float}", "U: {float}"], "U")
_register("V3", ["T: {half, bfloat16, float}", "U: {float}"], "U")

# --- builder -----------------------------------------------------------------


@export("nn.fused_batch_norm")
def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Batch normalization in one op.

    Returns:
      The normalized x, the batch mean and the batch variance (with Bessel's
      correction); for inference the given mean and variance.

    Raises:
      ValueError: mean or variance are given for training.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError(
            "Both 'mean' and 'variance' must be None if is_training is True."
        )
    if mean is None:
        mean = constant([])
    if variance is None:
        variance = constant([])
    results = apply_op(
        "FusedBatchNormV3",
        x=x,
        scale=scale,
        offset=offset,
        mean=mean,
        variance=variance,
        epsilon=max(epsilon, _MIN_EPSILON),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return results[0], results[1], results[2]
