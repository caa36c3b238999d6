"""Grayscale dilation over torch tensors, forward and backward."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.window import AxisWindows, axis_windows
from tensorloom.kernels.torch.indexing.quick_select import where

_NUMBERS = {
    dtypes.float16,
    dtypes.bfloat16,
    dtypes.float32,
    dtypes.float64,
    dtypes.int8,
    dtypes.int16,
    dtypes.int32,
    dtypes.int64,
    dtypes.uint8,
    dtypes.uint16,
}


class _Dilation:
    """The attrs of a node, decoded."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.strides, self.rates, self.padding = c["strides"], c["rates"], c["padding"]
        for values, word in ((self.strides, "stride"), (self.rates, "rate")):
            if len(values) != 4:
                raise invalid_argument(
                    f"Sliding window {word} field must specify 4 dimensions"
                )
            if values[0] != 1 or values[3] != 1:
                raise errors.UnimplementedError(
                    None, None, f"Only support {word} along spatial dimensions."
                )
            if min(values) <= 0:
                raise invalid_argument(f"Sliding window {word}s must be positive")

    def windows(
        self, image: torch.Tensor, filters: torch.Tensor
    ) -> tuple[AxisWindows, AxisWindows]:
        """Checks the shapes; the windows along height and width."""
        if image.dim() != 4:
            raise invalid_argument(f"input must be 4-dimensional: {text(image.shape)}")
        if filters.dim() != 3:
            raise invalid_argument(
                f"filter must be 3-dimensional: {text(filters.shape)}"
            )
        if image.shape[3] != filters.shape[2]:
            raise invalid_argument(
                "input and filter must have the same depth: "
                f"{image.shape[3]} vs {filters.shape[2]}"
            )
        rows, columns = (
            axis_windows(
                image.shape[axis],
                filters.shape[axis - 1],
                self.strides[axis],
                self.rates[axis],
                self.padding,
            )
            for axis in (1, 2)
        )
        return rows, columns

    def places(
        self,
        padded: torch.Tensor,
        filters: torch.Tensor,
        windows: tuple[AxisWindows, ...],
    ) -> Iterator[tuple[int, int, torch.Tensor]]:
        """(y, x, view) of each place of the filter in all windows."""
        height, width = filters.shape[:2]
        for y, x in product(range(height), range(width)):
            part = padded
            for axis, place in ((1, y), (2, x)):
                start, count = place * self.rates[axis], windows[axis - 1].outputs
                step = self.strides[axis]
                index = [slice(None)] * 4
                index[axis] = slice(start, start + (count - 1) * step + 1, step)
                part = part[tuple(index)]
            yield y, x, part


def _pads(rows: AxisWindows, columns: AxisWindows) -> list[int]:
    return [0, 0, columns.before, columns.after, rows.before, rows.after]


def _lowest(dtype: torch.dtype) -> float:
    if dtype.is_floating_point:
        return torch.finfo(dtype).min
    return torch.iinfo(dtype).min


def _best(
    node: _Dilation, image: torch.Tensor, filters: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, tuple[AxisWindows, AxisWindows]]:
    """(maxima, number of the place of each, windows); the first maximum counts."""
    if image.dtype == torch.uint16:  # torch does not compute with it
        best, place, windows = _best(node, image.int(), filters.int())
        return best.to(torch.uint16), place, windows
    windows = node.windows(image, filters)
    rows, columns = (axis.outputs for axis in windows)
    pads, depth = _pads(*windows), image.shape[3]
    is_float = image.dtype.is_floating_point
    # What lies outside is never the largest. Integers have no number that tells.
    padded = torch.constant_pad_nd(image, pads, -torch.inf if is_float else 0)
    inside = torch.constant_pad_nd(
        torch.ones((1, *image.shape[1:]), dtype=torch.bool, device=image.device), pads
    )
    wide = _rows_of(filters, columns)
    best = torch.full(
        (image.shape[0], rows, columns * depth),
        _lowest(image.dtype),
        dtype=image.dtype,
        device=image.device,
    )
    place = torch.zeros(best.shape, dtype=torch.int32, device=image.device)
    masks = node.places(inside, filters, windows)
    for (y, x, part), (_, _, mask) in zip(
        node.places(padded, filters, windows), masks, strict=True
    ):
        value = part.flatten(2) + wide[y, x]
        better = value > best
        if not is_float:
            better &= mask.flatten(2)
        best = where(better, value, best)
        # Places come in ascending order.
        number = better.to(torch.int32).mul_(y * filters.shape[1] + x)
        torch.maximum(place, number, out=place)
    shape = (image.shape[0], rows, columns, depth)
    return best.view(shape), place.view(shape), windows


def _rows_of(filters: torch.Tensor, columns: int) -> torch.Tensor:
    """The filter of each place, [height, width, columns * depth], for whole rows.

    Long loops are faster than short ones over channels.
    """
    return filters[:, :, None, :].expand(-1, -1, columns, -1).flatten(2)


def _maxima(
    node: _Dilation, image: torch.Tensor, filters: torch.Tensor
) -> torch.Tensor:
    """What `_best` finds, without the places."""
    if not image.dtype.is_floating_point:
        return _best(node, image, filters)[0]
    windows = node.windows(image, filters)
    # What lies outside is never the largest, and a NaN neither.
    padded = torch.constant_pad_nd(image, _pads(*windows), -torch.inf)
    rows, columns = (axis.outputs for axis in windows)
    wide = _rows_of(filters, columns)
    best = torch.full(
        (image.shape[0], rows, wide.shape[2]),
        _lowest(image.dtype),
        dtype=image.dtype,
        device=image.device,
    )
    # `fmax` passes over NaN, and takes twenty times as long on a CPU.
    finite = image.is_cpu and bool((image.sum() + filters.sum()).isfinite())
    larger = torch.maximum if finite else torch.fmax
    for y, x, part in node.places(padded, filters, windows):
        larger(best, part.flatten(2) + wide[y, x], out=best)
    return best.view(image.shape[0], rows, columns, image.shape[3])


@kernel("Dilation2D", types={"T": _NUMBERS})
def dilation2d(c: OpKernelConstruction) -> Compute:
    """The maximum of image + filter over each window."""
    node = _Dilation(c)
    return lambda image, filters: _maxima(node, image, filters)


def _computable(value: torch.Tensor) -> torch.Tensor:
    return value.int() if value.dtype == torch.uint16 else value


def _check_grad(grad: torch.Tensor, place: torch.Tensor) -> None:
    if grad.shape != place.shape:
        raise invalid_argument(
            f"out_backprop has incompatible size: {text(grad.shape)} vs. "
            f"{text(place.shape)}"
        )


@kernel("Dilation2DBackpropInput", types={"T": _NUMBERS})
def _backprop_input(c: OpKernelConstruction) -> Compute:
    node = _Dilation(c)

    def compute(
        image: torch.Tensor, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        _, place, (rows, columns) = _best(node, image, filters)
        _check_grad(grad, place)
        wide = _computable(grad)
        pads = _pads(rows, columns)
        padded = torch.constant_pad_nd(wide.new_zeros(image.shape), pads)
        nothing = torch.zeros_like(wide)
        width = filters.shape[1]
        for y, x, target in node.places(padded, filters, (rows, columns)):
            target.add_(where(place == y * width + x, wide, nothing))
        result = padded.narrow(1, rows.before, image.shape[1])
        result = result.narrow(2, columns.before, image.shape[2])
        return result.contiguous().to(grad.dtype)

    return compute


@kernel("Dilation2DBackpropFilter", types={"T": _NUMBERS})
def _backprop_filter(c: OpKernelConstruction) -> Compute:
    node = _Dilation(c)

    def compute(
        image: torch.Tensor, filters: torch.Tensor, grad: torch.Tensor
    ) -> torch.Tensor:
        _, place, _ = _best(node, image, filters)
        _check_grad(grad, place)
        wide = _computable(grad)
        result, nothing = wide.new_zeros(filters.shape), torch.zeros_like(wide)
        height, width = filters.shape[:2]
        for y, x in product(range(height), range(width)):
            mine = where(place == y * width + x, wide, nothing)
            result[y, x] = mine.sum((0, 1, 2)).to(result.dtype)
        return result.to(grad.dtype)

    return compute
