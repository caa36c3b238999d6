"""Depthwise convolutions one place of the filter at a time, over all channels.

oneDNN, which computes those of float32, knows no float64. What torch has for it goes
through the channels and images one by one, as a convolution and a product of matrices
each. Multiplying shifted views of the whole image by one place of all filters is a pass
over vectors for each place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tensorloom.kernels.torch.convolution.conv_plan import Plan

# With fewer in the output, the calls for each place cost more than torch's.
_FEWEST_ELEMENTS: Final = 4096


def is_by_taps(
    batch: int, filters: Sequence[int], values: torch.Tensor, plan: Plan
) -> bool:
    """Whether this is the faster way for values of that dtype and device."""
    rows, columns = plan.outputs
    return (
        values.is_cpu
        and values.dtype is torch.float64
        and plan.groups > 1
        and batch * rows * columns * filters[2] * filters[3] >= _FEWEST_ELEMENTS
    )


def forward(
    image: torch.Tensor, filters: torch.Tensor, bias: torch.Tensor | None, plan: Plan
) -> torch.Tensor:
    """Images [n, h, w, c] with filters [kh, kw, c, m] to [n, rows, columns, c * m]."""
    channels = filters.shape[2] * filters.shape[3]
    rows, columns = plan.outputs
    weights = _weights(filters, columns)
    out = image.new_zeros(image.shape[0], rows, columns * channels)
    phases = _phases(_widened(image, filters.shape[3], plan), plan)
    for place, view in _views(phases, filters.shape, plan):
        out.addcmul_(view, weights[place])
    result = out.view(-1, rows, columns, channels)
    return result if bias is None else result.add_(bias)


def filter_gradient(
    image: torch.Tensor, grad: torch.Tensor, shape: Sequence[int], plan: Plan
) -> torch.Tensor:
    """The gradient with respect to filters of `shape` from that of the output."""
    channels = grad.shape[-1]
    flat = grad.reshape(*grad.shape[:2], -1)
    result = grad.new_empty(shape[0], shape[1], channels)
    product = torch.empty_like(flat)
    phases = _phases(_widened(image, shape[3], plan), plan)
    for place, view in _views(phases, shape, plan):
        torch.mul(view, flat, out=product)
        torch.sum(product.view(-1, channels), 0, out=result[place])
    return result.view(*shape)


def input_gradient(
    filters: torch.Tensor, grad: torch.Tensor, shape: Sequence[int], plan: Plan
) -> torch.Tensor:
    """The gradient with respect to images of `shape` from that of the output."""
    batch, height, width, depth = shape
    left, right, top, bottom = plan.margins
    weights = _weights(filters, plan.outputs[1])
    flat = grad.reshape(*grad.shape[:2], -1)
    padded = grad.new_zeros(
        batch, top + height + bottom, left + width + right, grad.shape[-1]
    )
    phases = _phases(padded, plan)
    for place, view in _views(phases, filters.shape, plan):
        view.addcmul_(flat, weights[place])
    step = plan.stride[1]
    if step > 1:
        for first, phase in enumerate(phases):
            padded[:, :, first::step] = phase
    inner = padded[:, top : top + height, left : left + width]
    if filters.shape[3] == 1:
        return inner.contiguous()
    return inner.reshape(batch, height, width, depth, -1).sum(-1)


def _widened(image: torch.Tensor, multiplier: int, plan: Plan) -> torch.Tensor:
    """The padded image with a channel for each channel of the output."""
    padded = torch.constant_pad_nd(image, (0, 0, *plan.margins))
    return padded if multiplier == 1 else padded.repeat_interleave(multiplier, 3)


def _weights(filters: torch.Tensor, columns: int) -> torch.Tensor:
    """[kh, kw, columns * channels]: each place of the filters for a row of windows."""
    height, width, depth, multiplier = filters.shape
    places = filters.reshape(height, width, 1, depth * multiplier)
    return places.expand(-1, -1, columns, -1).reshape(height, width, -1)


def _phases(padded: torch.Tensor, plan: Plan) -> list[torch.Tensor]:
    """For each remainder of a column by the stride the columns that have it.

    What windows side by side read then lies side by side.
    """
    step = plan.stride[1]
    if step == 1:
        return [padded]
    return [padded[:, :, first::step].contiguous() for first in range(step)]


def _views(
    phases: list[torch.Tensor], filters: Sequence[int], plan: Plan
) -> Iterator[tuple[tuple[int, int], torch.Tensor]]:
    """Each place of the filter and what it is multiplied by, [n, rows, columns * c]."""
    rows, columns = plan.outputs
    row_step, column_step = plan.stride
    channels = phases[0].shape[-1]
    flat = [phase.reshape(*phase.shape[:2], -1) for phase in phases]
    for y in range(filters[0]):
        top = y * plan.dilation[0]
        bottom = top + (rows - 1) * row_step + 1
        for x in range(filters[1]):
            left, phase = divmod(x * plan.dilation[1], column_step)
            first, last = left * channels, (left + columns) * channels
            yield (y, x), flat[phase][:, top:bottom:row_step, first:last]
