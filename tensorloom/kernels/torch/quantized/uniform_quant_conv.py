"""Uniformly quantized convolutions over torch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tensorloom.framework.errors import UnimplementedError, invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.convolution_dimensions import (
    AxisWindow,
    ConvolutionDimensions,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.torch.quantized.uniform_quant import (
    OPERANDS,
    Quantization,
    QuantizedOperands,
    quantized_rows,
    rescaled,
)

_Array = NDArray[Any]
# Dimensions that torch convolves.
_MOST_SPATIAL = 3


def _dimensions(
    c: OpKernelConstruction, image: torch.Tensor, filters: torch.Tensor
) -> ConvolutionDimensions:
    """How these tensors are convolved.

    Raises:
      InvalidArgumentError: their shapes or the attrs do not fit.
      UnimplementedError: there are too many spatial dimensions.
    """
    try:
        found = ConvolutionDimensions.of(c.attrs, image.dim())
        found.check(image.shape, filters.shape)
    except ValueError as error:
        raise invalid_argument(str(error)) from None
    if image.dim() - 2 > _MOST_SPATIAL:
        raise UnimplementedError(
            None, None, f"{c.op} of {image.dim() - 2} spatial dimensions"
        )
    return found


def _spread_out(image: torch.Tensor, windows: Sequence[AxisWindow]) -> torch.Tensor:
    """An image (batch, feature, spatial) with the zeros between and around it."""
    for axis, window in enumerate(windows, 2):
        distance, size = window.input_dilation, image.shape[axis]
        if distance > 1 and size:
            shape = list(image.shape)
            shape[axis] = size + (size - 1) * (distance - 1)
            wide = image.new_zeros(shape)
            wide.movedim(axis, 0)[::distance] = image.movedim(axis, 0)
            image = wide
    pads = [pad for w in reversed(windows) for pad in (w.before, w.after)]
    return torch.constant_pad_nd(image, pads)


def _convolved(
    image: torch.Tensor,
    filters: torch.Tensor,
    dimensions: ConvolutionDimensions,
    device: str,
) -> torch.Tensor:
    """The sums of products (batch, feature, spatial), as doubles, which hold them.

    Args:
      image, filters: centered integers, in their own order of dimensions.
    """
    windows = dimensions.windows(image.shape, filters.shape)
    weights = filters.permute(dimensions.filters).double()
    outputs, groups = len(weights), dimensions.batch_groups
    batch = image.shape[dimensions.images[0]] // groups
    shape = (batch, outputs, *(window.outputs for window in windows))
    check_shape(shape, dtypes.float64, device)
    if not image.numel() or not filters.numel() or 0 in shape:
        return image.new_zeros(shape, dtype=torch.float64)
    wide = _spread_out(image.permute(dimensions.images).double(), windows)
    found = torch.convolution(
        wide,
        weights,
        None,
        [window.stride for window in windows],
        [0] * len(windows),
        [window.filter_dilation for window in windows],
        False,
        [0] * len(windows),
        dimensions.feature_groups,
    )
    if groups == 1:
        return found
    # Each part of the outputs is of its own part of the batch.
    parts = zip(found.chunk(groups), range(groups), strict=True)
    return torch.cat([part.chunk(groups, 1)[i] for part, i in parts], 1)


def _in_order(result: torch.Tensor, dimensions: ConvolutionDimensions) -> torch.Tensor:
    """(batch, feature, spatial) in the order that the node asks for."""
    return result.permute(np.argsort(dimensions.results).tolist()).contiguous()


def _check_axis(name: str, axis: int, feature: int) -> None:
    if axis not in (-1, feature):
        raise invalid_argument(
            f"{name}_quantization_axis must be -1 or {feature}, the output features, "
            f"got {axis}"
        )


@kernel("UniformQuantizedConvolution", host_inputs=OPERANDS)
def uniform_quantized_convolution(c: OpKernelConstruction) -> Compute:
    """A convolution of integers."""
    attrs = QuantizedOperands(c)

    def compute(a: torch.Tensor, b: torch.Tensor, *parameters: _Array) -> torch.Tensor:
        dimensions = _dimensions(c, a, b)
        left, right, of_result = attrs.checked(a, b, parameters)
        _check_axis("lhs", left.axis, -1)
        _check_axis("rhs", right.axis, dimensions.filters[0])
        sums = _convolved(left.centered(a), right.centered(b), dimensions, c.device)
        found = _in_order(sums, dimensions).to(torch.int64).to(torch.int32)
        wanted = attrs.out.checked(found.shape, *of_result)
        feature = dimensions.results[1]
        _check_axis("output", wanted.axis, feature)
        factors = left.scales.astype(np.float64) * right.scales / wanted.scales
        scaled = rescaled(found, factors, feature)
        return attrs.out.clamp(scaled + wanted.points_for(found))

    return compute


@kernel(
    "UniformQuantizedConvolutionHybrid", host_inputs=("rhs_scales", "rhs_zero_points")
)
def uniform_quantized_convolution_hybrid(c: OpKernelConstruction) -> Compute:
    """A convolution of floats, each example quantized first, with integers."""
    attrs = Quantization.of(c, "rhs_")

    def compute(
        a: torch.Tensor, b: torch.Tensor, scales: _Array, zero_points: _Array
    ) -> torch.Tensor:
        dimensions = _dimensions(c, a, b)
        right = attrs.checked(b.shape, scales, zero_points)
        _check_axis("rhs", right.axis, dimensions.filters[0])
        first = a.movedim(dimensions.images[0], 0)
        rows, steps = quantized_rows(first.flatten(1))
        centered = rows.reshape(first.shape).movedim(0, dimensions.images[0])
        sums = _convolved(centered, right.centered(b), dimensions, c.device)
        # Each part of the outputs is of its own part of the batch.
        groups = dimensions.batch_groups
        by_example = steps.reshape(groups, -1).t()
        by_example = by_example.repeat_interleave(sums.shape[1] // groups, 1)
        by_feature = torch.from_numpy(np.array(right.scales)).to(a.device)
        spatial = (1,) * (a.dim() - 2)
        result = sums.float() * by_example.reshape(sums.shape[:2] + spatial)
        return _in_order(result * by_feature.reshape((1, -1, *spatial)), dimensions)

    return compute
