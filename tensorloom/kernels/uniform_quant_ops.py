"""Uniformly quantized tensors over torch tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.math_ops_errors import shape_text
from tensorloom.kernels.math_ops_dtypes import TORCH_DTYPES

_PARAMETERS = ("scales", "zero_points")
_OPERANDS = tuple(
    f"{operand}_{name}" for operand in ("lhs", "rhs", "output") for name in _PARAMETERS
)
# What the rows of a hybrid product are quantized to.
_LEAST, _GREATEST = -128, 127


@dataclass(frozen=True)
class _Attrs:
    """How a tensor is quantized, as far as the node tells."""

    axis: int
    least: int
    greatest: int

    @classmethod
    def of(cls, c: OpKernelConstruction, prefix: str = "") -> _Attrs:
        """The attrs of one of the node's tensors."""
        names = ("quantization_axis", "quantization_min_val", "quantization_max_val")
        return cls(*[c[prefix + name] for name in names])

    def check(self, shape: tuple[int, ...], scales: Any, zero_points: Any) -> None:
        """Checks scales and zero points of a tensor of that shape.

        Raises:
          InvalidArgumentError: they are no scalars, or no vectors of its size.
        """
        if not -1 <= self.axis < len(shape):
            raise invalid_argument(
                f"quantization_axis must be -1 or in [0, {len(shape)}), got {self.axis}"
            )
        wanted = () if self.axis == -1 else (shape[self.axis],)
        if scales.shape != wanted or zero_points.shape != wanted:
            raise invalid_argument(
                f"Expected scales and zero_points of shape {shape_text(wanted)} for "
                f"quantization_axis {self.axis}, got {shape_text(scales.shape)} and "
                f"{shape_text(zero_points.shape)}"
            )

    def clamp(self, value: torch.Tensor) -> torch.Tensor:
        """Integers kept in the range; the least one wins over the greatest."""
        return value.clamp(max=self.greatest).clamp(min=self.least)

    def spread(self, parameter: Any, value: torch.Tensor) -> torch.Tensor:
        """Scales or zero points, so that they broadcast with the tensor."""
        return _spread(parameter, self.axis, value)


def _spread(parameter: Any, axis: int, value: torch.Tensor) -> torch.Tensor:
    tensor = torch.from_numpy(np.array(parameter)).to(value.device)
    if not tensor.dim():
        return tensor
    shape = [1] * value.dim()
    shape[axis] = -1
    return tensor.reshape(shape)


def _integers(
    value: torch.Tensor, inverse: torch.Tensor, zero_points: torch.Tensor
) -> torch.Tensor:
    """Floats as int32; halves are rounded up."""
    return (value * inverse + 0.5).floor().to(torch.int32) + zero_points


@kernel("UniformQuantize", host_inputs=_PARAMETERS)
def uniform_quantize(c: OpKernelConstruction) -> Compute:
    """Floats as integers."""
    attrs, dtype = _Attrs.of(c), TORCH_DTYPES[c["Tout"]]

    def compute(value: torch.Tensor, scales: Any, zero_points: Any) -> torch.Tensor:
        attrs.check(value.shape, scales, zero_points)
        inverse = 1 / attrs.spread(scales, value)
        found = _integers(value, inverse, attrs.spread(zero_points, value))
        return attrs.clamp(found).to(dtype)

    return compute


@kernel("UniformDequantize", host_inputs=_PARAMETERS)
def uniform_dequantize(c: OpKernelConstruction) -> Compute:
    """The floats that integers stand for."""
    attrs = _Attrs.of(c)

    def compute(value: torch.Tensor, scales: Any, zero_points: Any) -> torch.Tensor:
        attrs.check(value.shape, scales, zero_points)
        centered = value.to(torch.int32) - attrs.spread(zero_points, value)
        return centered.float() * attrs.spread(scales, value)

    return compute


# --- from scale to scale -------------------------------------------------------------


def _multiplier(factor: float) -> tuple[int, int]:
    """(multiplier, shift): a factor is about multiplier / 2^shift.

    As in gemmlowp: the multiplier is an int32 with 31 significant bits.
    """
    fraction, exponent = math.frexp(factor)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = multiplier // 2, exponent + 1
    if exponent < -31:
        return 0, 31
    if exponent > 30:
        return 2**31 - 1, 1
    return multiplier, 31 - exponent


def _rescaled(value: torch.Tensor, factors: Any, axis: int) -> torch.Tensor:
    """Integers times factors, halves rounded up, as int32.

    Args:
      factors: float64, of shape [] or along an axis of the value.
    """
    pairs = [_multiplier(factor) for factor in np.reshape(factors, -1).tolist()]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    shape = np.shape(factors)
    by = _spread(both[:, 0].reshape(shape), axis, value)
    shift = _spread(both[:, 1].reshape(shape), axis, value)
    half = torch.ones_like(shift) << (shift - 1)
    return ((value.to(torch.int64) * by + half) >> shift).to(torch.int32)


def _requantized(
    value: torch.Tensor, given: tuple[_Attrs, Any, Any], wanted: tuple[_Attrs, Any, Any]
) -> torch.Tensor:
    """Integers over the wanted scales and zero points, int32 and not clamped."""
    attrs, scales, zero_points = given
    other, other_scales, other_points = wanted
    centered = value.to(torch.int32) - attrs.spread(zero_points, value)
    axis = other.axis if attrs.axis == -1 else attrs.axis
    factors = scales.astype(np.float64) / other_scales
    return _rescaled(centered, factors, axis) + other.spread(other_points, value)


@kernel(
    "UniformRequantize",
    host_inputs=[
        f"{side}_{name}" for side in ("input", "output") for name in _PARAMETERS
    ],
)
def uniform_requantize(c: OpKernelConstruction) -> Compute:
    """Integers over another scale and zero point."""
    before, after = _Attrs.of(c, "input_"), _Attrs.of(c, "output_")
    dtype = TORCH_DTYPES[c["Tout"]]
    if -1 not in (before.axis, after.axis) and before.axis != after.axis:
        raise invalid_argument(
            "If input and output is both per-axis quantized, the quantization axis "
            "must be same."
        )

    def compute(
        value: torch.Tensor,
        scales: Any,
        zero_points: Any,
        other_scales: Any,
        other_points: Any,
    ) -> torch.Tensor:
        before.check(value.shape, scales, zero_points)
        after.check(value.shape, other_scales, other_points)
        given = before, scales, zero_points
        found = _requantized(value, given, (after, other_scales, other_points))
        return after.clamp(found).to(dtype)

    return compute


# --- arithmetic ----------------------------------------------------------------------


@kernel("UniformQuantizedAdd", host_inputs=_OPERANDS)
def uniform_quantized_add(c: OpKernelConstruction) -> Compute:
    """lhs + rhs, both brought to the scale of the sum first."""
    left, right, out = (_Attrs.of(c, side) for side in ("lhs_", "rhs_", "output_"))

    def compute(a: torch.Tensor, b: torch.Tensor, *parameters: Any) -> torch.Tensor:
        first, second, third = zip(parameters[::2], parameters[1::2], strict=True)
        left.check(a.shape, *first)
        right.check(b.shape, *second)
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise invalid_argument(
                f"Incompatible shapes: {shape_text(a.shape)} vs. {shape_text(b.shape)}"
            ) from None
        out.check(shape, *third)
        # Of the rank of the sum, where its axis is.
        wide = [x.reshape((1,) * (len(shape) - x.dim()) + x.shape) for x in (a, b)]
        terms = [
            _requantized(x, (_moved(attrs, len(shape) - rank), *given), (out, *third))
            for x, attrs, rank, given in zip(
                wide, (left, right), (a.dim(), b.dim()), (first, second), strict=True
            )
        ]
        return out.clamp(terms[0] + terms[1] - out.spread(third[1], terms[0]))

    return compute


def _moved(attrs: _Attrs, by: int) -> _Attrs:
    if attrs.axis == -1:
        return attrs
    return _Attrs(attrs.axis + by, attrs.least, attrs.greatest)


@kernel("UniformQuantizedClipByValue", host_inputs=_PARAMETERS)
def uniform_quantized_clip_by_value(c: OpKernelConstruction) -> Compute:
    """Integers kept between two bounds."""
    attrs = _Attrs.of(c)

    def compute(
        value: torch.Tensor,
        least: torch.Tensor,
        greatest: torch.Tensor,
        scales: Any,
        zero_points: Any,
    ) -> torch.Tensor:
        attrs.check(value.shape, scales, zero_points)
        bounds = []
        for name, bound in (("min", least), ("max", greatest)):
            if bound.shape != scales.shape:
                raise invalid_argument(
                    f"Expected {name} of shape {shape_text(scales.shape)}, got "
                    f"{shape_text(bound.shape)}"
                )
            shape = [1] * value.dim()
            if bound.dim():
                shape[attrs.axis] = -1
            bounds.append(bound.reshape(shape))
        return value.clamp(max=bounds[1]).clamp(min=bounds[0])

    return compute


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product of two matrices of integers, int32; doubles hold it exactly."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise invalid_argument(
            f"Matrix size-incompatible: lhs: {shape_text(a.shape)}, rhs: "
            f"{shape_text(b.shape)}"
        )
    return (a.double() @ b.double()).to(torch.int64).to(torch.int32)


@kernel("UniformQuantizedDot", host_inputs=_OPERANDS)
def uniform_quantized_dot(c: OpKernelConstruction) -> Compute:
    """The product of two matrices."""
    left, right, out = (_Attrs.of(c, side) for side in ("lhs_", "rhs_", "output_"))

    def compute(a: torch.Tensor, b: torch.Tensor, *parameters: Any) -> torch.Tensor:
        first, second, third = zip(parameters[::2], parameters[1::2], strict=True)
        left.check(a.shape, *first)
        right.check(b.shape, *second)
        found = _product(
            a.to(torch.int32) - left.spread(first[1], a),
            b.to(torch.int32) - right.spread(second[1], b),
        )
        out.check(found.shape, *third)
        factors = first[0].astype(np.float64) * second[0] / third[0]
        rescaled = _rescaled(found, factors, 1)
        return out.clamp(rescaled + out.spread(third[1], found))

    return compute


@kernel("UniformQuantizedDotHybrid", host_inputs=("rhs_scales", "rhs_zero_points"))
def uniform_quantized_dot_hybrid(c: OpKernelConstruction) -> Compute:
    """The product of a matrix of floats and a quantized one."""
    right = _Attrs.of(c, "rhs_")

    def compute(
        a: torch.Tensor, b: torch.Tensor, scales: Any, zero_points: Any
    ) -> torch.Tensor:
        right.check(b.shape, scales, zero_points)
        centered, steps = _quantized_rows(a)
        found = _product(centered, b.to(torch.int32) - right.spread(zero_points, b))
        return found.float() * steps * right.spread(scales, b)

    return compute


def _quantized_rows(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(integers without their zero points, scales [rows, 1]) of the rows of a matrix.

    Each row's range is that of its values and zero, as for TensorFlow Lite.
    """
    if value.dim() != 2:
        raise invalid_argument(f"lhs must have rank 2, got {shape_text(value.shape)}")
    zero = value.new_zeros(())
    low = value.amin(1, keepdim=True).minimum(zero).double()
    high = value.amax(1, keepdim=True).maximum(zero).double()
    is_flat = low == high
    scale = ((high - low) / (_GREATEST - _LEAST)).masked_fill(is_flat, 1)
    # Of the two bounds the one that is told more exactly gives the zero point.
    by_low, by_high = _LEAST - low / scale, _GREATEST - high / scale
    exact = (abs(_LEAST) + (low / scale).abs()) < (
        abs(_GREATEST) + (high / scale).abs()
    )
    points = torch.where(exact, by_low, by_high).round().clamp(_LEAST, _GREATEST)
    points = points.masked_fill(is_flat, 0).to(torch.int32)
    found = _integers(value, (1 / scale).float(), points).clamp(_LEAST, _GREATEST)
    return (found - points).masked_fill(is_flat, 0), scale.float()
