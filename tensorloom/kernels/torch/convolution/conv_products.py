"""Convolutions of images NHWC as products of matrices: windows [n, k], filters [k, o].

Filters HWIO are such a matrix as they are. oneDNN and what else torch has reorder them
first, and a gradient back: of small images with many channels, as in the last layers of
a network, that is more work than the convolution, up to ten times. To copy the windows
side by side is less then; and of filters of one place there is nothing to copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

from tensorloom.kernels.torch.linalg.matrix_product import matrix_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.kernels.torch.convolution.conv_plan import Plan

# With more windows for each channel of the output, copying them takes longer than
# reordering the filters, and than reordering their gradient.
_MOST_WINDOWS: Final = 2
_MOST_OF_GRADIENT: Final = 8

# What a gradient is taken of.
FORWARD: Final = "forward"
FILTERS: Final = "filters"
IMAGES: Final = "images"


def is_by_product(
    batch: int,
    filters: Sequence[int],
    values: torch.Tensor,
    plan: Plan,
    result: str = FORWARD,
) -> bool:
    """Whether this is the faster way for values of that dtype and device.

    Args:
      result: what is computed: `FORWARD`, or the gradient of `FILTERS` or `IMAGES`.
    """
    if plan.groups != 1 or not values.is_cpu:
        return False
    if values.dtype not in (torch.float32, torch.float64):
        return False
    height, width, depth, outputs = filters
    rows, columns = plan.outputs
    if height == width == 1:
        return True
    # oneDNN computes the gradient of images of few channels (words' vectors, letters'
    # pixels) up to twenty times slower than their windows are added up.
    if result == IMAGES and (depth == 1 or height * width * depth <= outputs):
        return True
    most = _MOST_OF_GRADIENT if result == FILTERS else _MOST_WINDOWS
    return batch * rows * columns <= most * outputs


def forward(
    image: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None, plan: Plan
) -> torch.Tensor:
    """Images [n, h, w, c] with filters [kh, kw, c, o] to [n, rows, columns, o]."""
    windows = _windows(image, filters.shape, plan)
    outputs = filters.shape[3]
    result = matrix_product(windows, filters.reshape(-1, outputs), bias)
    return result.view(image.shape[0], *plan.outputs, outputs)


def filter_gradient(
    image: torch.Tensor, grad: torch.Tensor, shape: Sequence[int], plan: Plan
) -> torch.Tensor:
    """The gradient with respect to filters of `shape` from that of the output."""
    windows = _windows(image, shape, plan)
    return matrix_product(windows.t(), grad.reshape(-1, shape[3])).view(*shape)


def input_gradient(
    filters: torch.Tensor, grad: torch.Tensor, shape: Sequence[int], plan: Plan
) -> torch.Tensor:
    """The gradient with respect to images of `shape` from that of the output."""
    kernel_height, kernel_width, depth, outputs = filters.shape
    batch, height, width, _ = shape
    rows, columns = plan.outputs
    of_windows = matrix_product(
        grad.reshape(-1, outputs), filters.reshape(-1, outputs).t()
    ).view(batch, rows, columns, kernel_height, kernel_width, depth)
    if _are_windows_the_image(filters.shape, plan):
        return of_windows.view(*shape)
    left, right, top, bottom = plan.margins
    padded = grad.new_zeros(batch, top + height + bottom, left + width + right, depth)
    if columns == 1 and plan.dilation[1] == 1:  # a window is as wide as the image
        for y in range(kernel_height):
            first_row = y * plan.dilation[0]
            last_row = first_row + (rows - 1) * plan.stride[0]
            padded[:, first_row : last_row + 1 : plan.stride[0], :kernel_width] += (
                of_windows[:, :, 0, y]
            )
        return padded[:, top : top + height, left : left + width].contiguous()
    for y in range(kernel_height):
        first_row = y * plan.dilation[0]
        for x in range(kernel_width):
            first_column = x * plan.dilation[1]
            padded[
                :,
                first_row : first_row + rows * plan.stride[0] : plan.stride[0],
                first_column : first_column + columns * plan.stride[1] : plan.stride[1],
            ][:, :rows, :columns] += of_windows[:, :, :, y, x]
    return padded[:, top : top + height, left : left + width].contiguous()


def _are_windows_the_image(filters: Sequence[int], plan: Plan) -> bool:
    return (
        filters[0] == filters[1] == 1
        and plan.stride == (1, 1)
        and not any(plan.margins)
    )


def _windows(image: torch.Tensor, filters: Sequence[int], plan: Plan) -> torch.Tensor:
    """What the filters are multiplied by, [n * rows * columns, kh * kw * c]."""
    height, width, depth, _ = filters
    if _are_windows_the_image(filters, plan):
        return image.reshape(-1, depth)
    if any(plan.margins):
        image = torch.constant_pad_nd(image, (0, 0, *plan.margins))
    image_step, row_step, column_step, channel_step = image.stride()
    windows = image.as_strided(
        (image.shape[0], *plan.outputs, height, width, depth),
        (
            image_step,
            row_step * plan.stride[0],
            column_step * plan.stride[1],
            row_step * plan.dilation[0],
            column_step * plan.dilation[1],
            channel_step,
        ),
        image.storage_offset(),
    )
    return windows.reshape(-1, height * width * depth)
