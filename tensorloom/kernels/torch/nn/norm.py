"""Normalization and L2 kernels over torch tensors."""

from __future__ import annotations

from typing import Final

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.window import from_nchw, nchw_shape, to_nchw
from tensorloom.kernels.torch.math.dtypes import REAL_FLOATS

# Bound once: looking an operator up costs as much as a small kernel.
_native_batch_norm = torch.native_batch_norm
_native_batch_norm_backward = torch.ops.aten.native_batch_norm_backward.default

_DOT_SIZE: Final = 1 << 16


@kernel("L2Loss", types={"T": REAL_FLOATS})
def l2_loss(c: OpKernelConstruction) -> Compute:
    """Half the sum of squares."""

    def compute(t: torch.Tensor) -> torch.Tensor:
        flat = t.reshape(-1)
        if t.dtype.itemsize < 4:
            flat = flat.float()
        # One dot of a large tensor adds millions of squares to numbers that are too
        # large for them.
        dots = [torch.dot(part, part) for part in torch.split(flat, _DOT_SIZE)]
        total = torch.stack(dots).sum() if len(dots) > 1 else dots[0]
        return (total * 0.5).to(t.dtype)

    return compute


# --- batch normalization -----------------------------------------------------


def _of_volumes(planes: Compute, data_format: bytes, inputs: int) -> Compute:
    """A kernel of images as one of volumes: depth and height are one dimension.

    Args:
      inputs: how many of the first inputs are volumes; the first output is one.
    """
    first = data_format.index(b"D")

    def compute(*values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        for volume in values[:inputs]:
            if volume.dim() != 5:
                raise invalid_argument(
                    f"input must be 5-dimensional{text(volume.shape)}"
                )
        flat = [volume.flatten(first, first + 1) for volume in values[:inputs]]
        y, *rest = planes(*flat, *values[inputs:])
        return y.reshape(values[0].shape), *rest

    return compute


@kernel(["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def fused_batch_norm(c: OpKernelConstruction) -> Compute:
    """(y, mean, variance, then what the gradient needs: mean, variance, nothing)."""
    whole, epsilon, training = c["data_format"], c["epsilon"], c["is_training"]
    data_format = whole.replace(b"D", b"")
    extra = c.op.endswith("V3")
    share = c.get("exponential_avg_factor", 1.0)

    def moved(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        # A share of 1 is no average: the old value need not even have a shape.
        return new if share == 1 else torch.lerp(old, new, share)

    def compute(
        x: torch.Tensor,
        scale: torch.Tensor,
        offset: torch.Tensor,
        mean: torch.Tensor,
        variance: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        if share == 1 or not training:
            _check_batch_norm(x, scale, offset, mean, variance, training, data_format)
        else:
            _check_batch_norm(x, scale, offset, mean, variance, False, data_format)
        unused = (scale.new_zeros(()),) if extra else ()
        if not x.numel():
            empty = torch.full_like(scale, float("nan")) if training else mean
            other = empty if training else variance
            return (torch.empty_like(x), empty, other, empty, other, *unused)
        nchw = to_nchw(x, data_format)
        if not training:
            y, _, _ = _native_batch_norm(
                nchw, scale, offset, mean, variance, False, 0.0, epsilon
            )
            y = from_nchw(y, data_format)
            return (y, mean, variance, mean, variance, *unused)
        y, batch_mean, inverse = _native_batch_norm(
            nchw, scale, offset, None, None, True, 0.0, epsilon
        )
        population = inverse.pow(-2).sub_(epsilon).clamp_(min=0)
        count = x.numel() // scale.numel()
        if count == 1:
            # A value alone is its mean. torch's x * a + (b - mean * a) leaves rounding
            # errors, and a relu after it takes half of them for values.
            y.copy_(offset.reshape(y.shape))
        corrected = population * (count / max(count - 1, 1))
        y = from_nchw(y, data_format)
        averages = moved(mean, batch_mean), moved(variance, corrected)
        return (y, *averages, batch_mean, population, *unused)

    return compute if whole == data_format else _of_volumes(compute, whole, 1)


def _check_batch_norm(
    x: torch.Tensor,
    scale: torch.Tensor,
    offset: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    training: bool,
    data_format: bytes,
) -> None:
    if x.dim() != 4:
        raise invalid_argument(f"input must be 4-dimensional{text(x.shape)}")
    vectors = [("scale", scale), ("offset", offset)]
    if not training:
        vectors += [("estimated_mean", mean), ("estimated_variance", variance)]
    channels = nchw_shape(x.shape, data_format)[1]
    # TensorFlow 1.15 wants them to be empty in training; 2.x, which has averages of
    # them as outputs, takes them, and its graphs do not tell.
    for name, vector in (("mean", mean), ("variance", variance)):
        if training and vector.shape not in ((0,), (channels,)):
            raise invalid_argument(
                f"estimated_{name} must be empty for training" + text(vector.shape)
            )
    for name, vector in vectors:
        if vector.dim() != 1:
            raise invalid_argument(f"{name} must be 1-dimensional{text(vector.shape)}")
        if vector.shape[0] != channels:
            raise invalid_argument(
                f"{name} must have the same number of elements as the channels of x, "
                f"got {vector.shape[0]} and {channels}"
            )


@kernel(["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"])
def fused_batch_norm_grad(c: OpKernelConstruction) -> Compute:
    """Gradients of x, scale and offset; then two outputs that hold nothing."""
    whole, epsilon, training = c["data_format"], c["epsilon"], c["is_training"]
    data_format = whole.replace(b"D", b"")

    def compute(
        y_backprop: torch.Tensor,
        x: torch.Tensor,
        scale: torch.Tensor,
        mean: torch.Tensor,
        variance: torch.Tensor,
        *unused: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        _check_batch_norm_grad(y_backprop, x, scale, mean, variance, data_format)
        # A scalar, though the static shape is [0]: TensorFlow's kernel does so.
        empty = scale.new_zeros(()) if training else torch.zeros_like(scale)
        if not x.numel():
            zeros = torch.zeros_like(scale)
            return torch.empty_like(x), zeros, zeros, empty, empty
        dx, dscale, doffset = _native_batch_norm_backward(
            to_nchw(y_backprop, data_format),
            to_nchw(x, data_format),
            scale,
            mean,
            variance,
            mean,
            torch.rsqrt(variance + epsilon),
            training,
            epsilon,
            (True, True, True),
        )
        return from_nchw(dx, data_format), dscale, doffset, empty, empty

    return compute if whole == data_format else _of_volumes(compute, whole, 2)


def _check_batch_norm_grad(
    y_backprop: torch.Tensor,
    x: torch.Tensor,
    scale: torch.Tensor,
    mean: torch.Tensor,
    variance: torch.Tensor,
    data_format: bytes,
) -> None:
    if y_backprop.dim() != 4:
        raise invalid_argument(f"input must be 4-dimensional{text(y_backprop.shape)}")
    if x.shape != y_backprop.shape:
        raise invalid_argument(
            f"x and y_backprop must have the same shape, got {text(x.shape)} and "
            f"{text(y_backprop.shape)}"
        )
    channels = nchw_shape(x.shape, data_format)[1]
    for name, vector in (("scale", scale), ("mean", mean), ("variance", variance)):
        if vector.dim() != 1 or vector.shape[0] != channels:
            raise invalid_argument(
                f"{name} must be a vector of {channels} elements, got shape "
                f"{text(vector.shape)}"
            )


# --- local response normalization --------------------------------------------


def _window_sums(values: torch.Tensor, radius: int) -> torch.Tensor:
    """Sums over the channels within `radius` of each, channels last.

    Sums of 1, 2, 4, ... neighbours follow from each other; those in the binary digits
    of the window's width make up the window.
    """
    channels = values.shape[-1]
    radius = max(0, min(radius, channels - 1))
    whole, width, begin = 2 * radius + 1, 1, 0
    sums = torch.constant_pad_nd(values, (radius, radius))
    total = torch.zeros_like(values)
    while True:
        if whole & width:
            total += sums.narrow(-1, begin, channels)
            begin += width
        if 2 * width > whole:
            return total
        last = sums.shape[-1] - width
        sums = sums.narrow(-1, 0, last) + sums.narrow(-1, width, last)
        width *= 2


@kernel("LRN")
def local_response_normalization(c: OpKernelConstruction) -> Compute:
    """input / (bias + alpha * window sum of input ** 2) ** beta."""
    radius, bias, alpha, beta = _lrn_attrs(c)

    def compute(image: torch.Tensor) -> torch.Tensor:
        if image.dim() != 4:
            raise invalid_argument("in must be 4-dimensional")
        wide = image.float()
        norm = _window_sums(wide.square(), radius).mul_(alpha).add_(bias)
        return norm.pow_(-beta).mul_(wide).to(image.dtype)

    return compute


@kernel("LRNGrad")
def local_response_normalization_grad(c: OpKernelConstruction) -> Compute:
    """The gradient of LRN."""
    radius, bias, alpha, beta = _lrn_attrs(c)

    def compute(
        grads: torch.Tensor, image: torch.Tensor, output: torch.Tensor
    ) -> torch.Tensor:
        for value in (grads, image, output):
            if value.dim() != 4 or value.shape != image.shape:
                raise invalid_argument("inputs must be 4-dimensional and of one shape")
        dtype = image.dtype
        wide, grad, out = image.float(), grads.float(), output.float()
        norm = _window_sums(wide.square(), radius).mul_(alpha).add_(bias)
        neighbours = _window_sums((grad * out).div_(norm), radius).mul_(wide)
        result = norm.pow_(-beta).mul_(grad)
        return result.sub_(neighbours, alpha=2 * alpha * beta).to(dtype)

    return compute


def _lrn_attrs(c: OpKernelConstruction) -> tuple[int, float, float, float]:
    radius: int = c["depth_radius"]
    if not 0 <= radius < 2**31 - 1:
        raise invalid_argument(f"depth_radius = {radius} larger than int max")
    return radius, c["bias"], c["alpha"], c["beta"]
