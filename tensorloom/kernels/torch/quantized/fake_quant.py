"""Fake quantization over torch tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.kernels.torch.quantized.quantize_range import WORTHWHILE


class _Nudged(NamedTuple):
    """A range moved so that zero is a level: bounds and the distance of levels."""

    low: torch.Tensor
    high: torch.Tensor
    scale: torch.Tensor


def _levels(c: OpKernelConstruction) -> tuple[int, int]:
    """The lowest and highest integer of a node."""
    bits = c["num_bits"]
    if not 2 <= bits <= 16:
        raise invalid_argument("num_bits must be between 2 and 16, inclusive")
    return int(c["narrow_range"]), (1 << bits) - 1


def _nudge(low: torch.Tensor, high: torch.Tensor, bottom: int, top: int) -> _Nudged:
    scale = (high - low) / (top - bottom)
    zero = bottom - low / scale
    # Halves go up: the numbers are not negative.
    zero = torch.floor(zero.clamp(bottom, top) + 0.5)
    return _Nudged((bottom - zero) * scale, (top - zero) * scale, scale)


def _fake_quantize(value: torch.Tensor, to: _Nudged) -> torch.Tensor:
    # One range multiplies by the reciprocal, many divide; it shows in the last bit.
    if value.is_cpu:
        from tensorloom.kernels.loops.quantized import quantization as loops

        low, high, scale = _arrays(to)
        if to.scale.dim():
            return _by_ranges(
                lambda x, out: loops.fake_quantize_rows(x, low, high, scale, out),
                _rows(value),
            ).view(value.shape)
        inverse = (1 / to.scale).numpy()[()]
        return _by_ranges(
            lambda x, out: loops.fake_quantize(x, low, high, scale, inverse, out),
            _flat(value),
        ).view(value.shape)
    steps = torch.minimum(value, to.high)
    steps = torch.maximum(steps, to.low, out=steps).sub_(to.low)
    if to.scale.dim():
        steps.div_(to.scale)
    else:
        steps.mul_(1 / to.scale)
    return steps.add_(0.5).floor_().mul_(to.scale).add_(to.low)


def _by_ranges(run: Callable[..., None], *inputs: Any) -> torch.Tensor:
    """What `run` fills in, its last argument: float32, of the first input's shape.

    It is called by several threads, each with some rows of all of them.
    """
    out = np.empty(inputs[0].shape, np.float32)

    def fill(begin: int, end: int) -> None:
        run(*(x[begin:end] for x in inputs), out[begin:end])

    width = out.size // max(len(out), 1)
    in_ranges(fill, len(out), max(1, WORTHWHILE // max(width, 1)))
    return torch.from_numpy(out)


def _flat(value: torch.Tensor) -> Any:
    return value.reshape(-1).contiguous().numpy()


def _rows(value: torch.Tensor) -> Any:
    """[n, channels]"""
    return _flat(value).reshape(math.prod(value.shape[:-1]), value.shape[-1])


def _arrays(to: _Nudged) -> list[Any]:
    """float32 scalars or vectors, as the loops take them."""
    return [x.contiguous().numpy()[()] for x in to]


def _check_gradient(grad: torch.Tensor, value: torch.Tensor) -> None:
    if grad.shape != value.shape:
        raise invalid_argument("gradient and input must be the same size")


def _gradient_inside(
    grad: torch.Tensor, value: torch.Tensor, to: _Nudged
) -> torch.Tensor:
    """What of the gradient lies in the range, its bounds included."""
    if value.is_cpu and not to.low.dim():
        from tensorloom.kernels.loops.quantized import quantization as loops

        low, high, _ = _arrays(to)
        return _by_ranges(
            lambda grad, x, out: loops.gradient_inside(grad, x, low, high, out),
            *(_flat(grad), _flat(value)),
        ).view(value.shape)
    inside = torch.minimum(value, to.high)
    torch.maximum(inside, to.low, out=inside)
    return inside.eq_(value).mul_(grad)  # one where a value is as it was


# One range counts as so many channels, whose sums are added up in the end.
_CHANNELS: Final = 256
_MOST_BLOCKS: Final = 16


def _gradients(
    grad: torch.Tensor, value: torch.Tensor, to: _Nudged
) -> tuple[torch.Tensor, ...]:
    """The gradient inside of the range, and its sums below and above: one a channel."""
    _check_gradient(grad, value)
    if value.is_cpu:
        return _gradients_by_loop(grad, value, to)
    below = (value < to.low).to(grad.dtype).mul_(grad)
    above = (value > to.high).to(grad.dtype).mul_(grad)
    others = list(range(value.dim() - to.low.dim()))
    sums = (x.sum(others) if others else x for x in (below, above))
    return _gradient_inside(grad, value, to), *sums


def _gradients_by_loop(
    grad: torch.Tensor, value: torch.Tensor, to: _Nudged
) -> tuple[torch.Tensor, ...]:
    from tensorloom.kernels.loops.quantized import quantization as loops

    out, is_one = torch.empty(value.shape), not to.low.dim()
    flat = [_flat(grad), _flat(value), _flat(out)]
    depth = _CHANNELS if is_one else value.shape[-1]
    low, high = (np.resize(bound, depth) for bound in _arrays(to)[:2])
    # Whole rows in blocks that depend on their number alone, as their sums round; then
    # what is left of the last row.
    rows, left = divmod(value.numel(), max(depth, 1))
    height = max(-(-rows // _MOST_BLOCKS), WORTHWHILE // max(depth, 1), 1)
    blocks = -(-rows // height)
    sums = np.zeros((blocks + 1, 2, depth))
    wide = [x[: rows * depth].reshape(rows, depth) for x in flat]

    def split(first: int, end: int) -> None:
        for block in range(first, end):
            part = slice(block * height, (block + 1) * height)
            some = [x[part] for x in wide]
            below, above = sums[block]
            loops.split_gradient(some[0], some[1], (low, high), some[2], (below, above))

    in_ranges(split, blocks, 1)
    if left:
        last = [x[rows * depth :].reshape(1, left) for x in flat]
        below, above = sums[blocks, :, :left]
        bounds = low[:left], high[:left]
        loops.split_gradient(last[0], last[1], bounds, last[2], (below, above))
    total = sums.sum((0, 2)) if is_one else sums.sum(0)
    return out, *torch.from_numpy(total.astype(np.float32))


def _fixed_range(c: OpKernelConstruction) -> Any:
    """A function value -> the node's range on its device."""
    bottom, top = _levels(c)
    low, high = c["min"], c["max"]
    if not low < high:
        raise invalid_argument(
            f"min has to be smaller than max, was: {low:g} >= {high:g}"
        )
    nudged = _nudge(torch.tensor(low), torch.tensor(high), bottom, top)
    return lambda value: _Nudged(*(x.to(value.device) for x in nudged))


@kernel("FakeQuantWithMinMaxArgs")
def _args(c: OpKernelConstruction) -> Compute:
    to = _fixed_range(c)
    return lambda value: _fake_quantize(value, to(value))


@kernel("FakeQuantWithMinMaxArgsGradient")
def _args_gradient(c: OpKernelConstruction) -> Compute:
    to = _fixed_range(c)

    def compute(grad: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        _check_gradient(grad, value)
        return _gradient_inside(grad, value, to(value))

    return compute


def _check_scalars(low: torch.Tensor, high: torch.Tensor) -> None:
    for bound, name in ((low, "min"), (high, "max")):
        if bound.numel() != 1:
            raise invalid_argument(f"`{name}` must be rank 0 but is rank {bound.dim()}")


def _is_empty(low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return (low == 0) & (high == 0)


@kernel("FakeQuantWithMinMaxVars")
def _vars(c: OpKernelConstruction) -> Compute:
    bottom, top = _levels(c)

    def compute(
        value: torch.Tensor, low: torch.Tensor, high: torch.Tensor
    ) -> torch.Tensor:
        _check_scalars(low, high)
        low, high = low.reshape(()), high.reshape(())
        empty = _is_empty(low, high)
        if empty.is_cpu and empty:
            return torch.zeros_like(value)
        result = _fake_quantize(value, _nudge(low, high, bottom, top))
        return result if empty.is_cpu else torch.where(empty, 0.0, result)

    return compute


@kernel("FakeQuantWithMinMaxVarsGradient")
def _vars_gradient(c: OpKernelConstruction) -> Compute:
    bottom, top = _levels(c)

    def compute(
        grad: torch.Tensor, value: torch.Tensor, low: torch.Tensor, high: torch.Tensor
    ) -> Any:
        _check_scalars(low, high)
        low, high = low.reshape(()), high.reshape(())
        inside, below, above = _gradients(grad, value, _nudge(low, high, bottom, top))
        empty = _is_empty(low, high)
        if empty.is_cpu and not empty:
            return inside, below, above
        nothing = torch.zeros_like(below)
        return (
            torch.where(empty, grad, inside),
            torch.where(empty, nothing, below),
            torch.where(empty, nothing, above),
        )

    return compute


def _check_channels(value: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> None:
    depth = value.shape[-1] if value.dim() else 0
    for bound, name in ((low, "min"), (high, "max")):
        if bound.dim() != 1:
            raise invalid_argument(f"`{name}` must be rank 1 but is rank {bound.dim()}")
        if len(bound) != depth:
            raise invalid_argument(
                f"{name} has incorrect size, expected {depth} was {len(bound)}"
            )


@kernel("FakeQuantWithMinMaxVarsPerChannel")
def _per_channel(c: OpKernelConstruction) -> Compute:
    bottom, top = _levels(c)

    def compute(
        value: torch.Tensor, low: torch.Tensor, high: torch.Tensor
    ) -> torch.Tensor:
        _check_channels(value, low, high)
        result, empty = (
            _fake_quantize(value, _nudge(low, high, bottom, top)),
            _is_empty(low, high),
        )
        if empty.is_cpu and not empty.any():
            return result
        return torch.where(empty, 0.0, result)

    return compute


@kernel("FakeQuantWithMinMaxVarsPerChannelGradient")
def _per_channel_gradient(c: OpKernelConstruction) -> Compute:
    bottom, top = _levels(c)

    def compute(
        grad: torch.Tensor, value: torch.Tensor, low: torch.Tensor, high: torch.Tensor
    ) -> Any:
        _check_channels(value, low, high)
        inside, below, above = _gradients(grad, value, _nudge(low, high, bottom, top))
        empty = _is_empty(low, high)
        if empty.is_cpu and not empty.any():
            return inside, below, above
        to_low, to_high = (torch.where(empty, 0.0, x) for x in (below, above))
        return torch.where(empty, grad, inside), to_low, to_high

    return compute
