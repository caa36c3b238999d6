"""Fake quantization over torch tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel


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
    steps = torch.minimum(value, to.high)
    steps = torch.maximum(steps, to.low, out=steps).sub_(to.low)
    # One range multiplies by the reciprocal, many divide; it shows in the last bit.
    if to.scale.dim():
        steps.div_(to.scale)
    else:
        steps.mul_(1 / to.scale)
    return steps.add_(0.5).floor_().mul_(to.scale).add_(to.low)


def _check_gradient(grad: torch.Tensor, value: torch.Tensor) -> None:
    if grad.shape != value.shape:
        raise invalid_argument("gradient and input must be the same size")


def _gradient_inside(
    grad: torch.Tensor, value: torch.Tensor, to: _Nudged
) -> torch.Tensor:
    """What of the gradient lies in the range, its bounds included."""
    inside = torch.minimum(value, to.high)
    torch.maximum(inside, to.low, out=inside)
    return inside.eq_(value).mul_(grad)  # one where a value is as it was


def _gradients(
    grad: torch.Tensor, value: torch.Tensor, to: _Nudged
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradient split into inside, below and above the range."""
    _check_gradient(grad, value)
    below = (value < to.low).to(grad.dtype).mul_(grad)
    above = (value > to.high).to(grad.dtype).mul_(grad)
    return _gradient_inside(grad, value, to), below, above


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
        inside, below, above = _gradients(grad, value, _nudge(low, high, bottom, top))
        empty = _is_empty(low, high)
        return (
            torch.where(empty, grad, inside),
            torch.where(empty, 0.0, below.sum()).reshape(()),
            torch.where(empty, 0.0, above.sum()).reshape(()),
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
        result = _fake_quantize(value, _nudge(low, high, bottom, top))
        return torch.where(_is_empty(low, high), 0.0, result)

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
        others = list(range(value.dim() - 1))
        sums = (x.sum(others) if others else x for x in (below, above))
        to_low, to_high = (torch.where(empty, 0.0, x) for x in sums)
        return torch.where(empty, grad, inside), to_low, to_high

    return compute
