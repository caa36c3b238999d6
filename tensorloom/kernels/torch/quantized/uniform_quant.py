"""Uniformly quantized tensors over torch tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES

_Array = NDArray[Any]

_PARAMETERS = ("scales", "zero_points")
OPERANDS = tuple(
    f"{operand}_{name}" for operand in ("lhs", "rhs", "output") for name in _PARAMETERS
)
# What the rows of a hybrid product are quantized to.
_LEAST, _GREATEST = -128, 127


@dataclass(frozen=True)
class Quantization:
    """How a tensor is quantized, as far as the node tells."""

    axis: int
    least: int
    greatest: int

    @classmethod
    def of(cls, c: OpKernelConstruction, prefix: str = "") -> Quantization:
        """The attrs of one of the node's tensors."""
        names = ("quantization_axis", "quantization_min_val", "quantization_max_val")
        return cls(*[c[prefix + name] for name in names])

    def checked(
        self, shape: Sequence[int], scales: _Array, zero_points: _Array
    ) -> QuantizationScheme:
        """How a tensor of that shape is quantized.

        Raises:
          InvalidArgumentError: scales and zero points are no scalars, or no vectors of
            its size.
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
        return QuantizationScheme(self.axis, scales, zero_points)

    def clamp(self, value: torch.Tensor) -> torch.Tensor:
        """Integers kept in the range; the least one wins over the greatest."""
        return value.clamp(max=self.greatest).clamp(min=self.least)


@dataclass(frozen=True)
class QuantizationScheme:
    """What the integers of a tensor stand for: (integer - zero point) * scale."""

    axis: int  # that the parameters are along; -1: they are scalars
    scales: _Array  # float32
    zero_points: _Array  # int32, of the shape of the scales

    def scales_for(self, value: torch.Tensor) -> torch.Tensor:
        """The scales, so that they broadcast with the tensor."""
        return _spread(self.scales, self.axis, value)

    def points_for(self, value: torch.Tensor) -> torch.Tensor:
        """The zero points, so that they broadcast with the tensor."""
        return _spread(self.zero_points, self.axis, value)

    def centered(self, value: torch.Tensor) -> torch.Tensor:
        """Integers less their zero points, int32."""
        return value.to(torch.int32) - self.points_for(value)


def _spread(parameter: _Array, axis: int, value: torch.Tensor) -> torch.Tensor:
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
    attrs, dtype = Quantization.of(c), TORCH_DTYPES[c["Tout"]]

    def compute(
        value: torch.Tensor, scales: _Array, zero_points: _Array
    ) -> torch.Tensor:
        scheme = attrs.checked(value.shape, scales, zero_points)
        inverse = 1 / scheme.scales_for(value)
        found = _integers(value, inverse, scheme.points_for(value))
        return attrs.clamp(found).to(dtype)

    return compute


@kernel("UniformDequantize", host_inputs=_PARAMETERS)
def uniform_dequantize(c: OpKernelConstruction) -> Compute:
    """The floats that integers stand for."""
    attrs = Quantization.of(c)

    def compute(
        value: torch.Tensor, scales: _Array, zero_points: _Array
    ) -> torch.Tensor:
        scheme = attrs.checked(value.shape, scales, zero_points)
        return scheme.centered(value).float() * scheme.scales_for(value)

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


def rescaled(value: torch.Tensor, factors: _Array, axis: int) -> torch.Tensor:
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
    value: torch.Tensor, given: QuantizationScheme, wanted: QuantizationScheme
) -> torch.Tensor:
    """Integers over the wanted scales and zero points, int32 and not clamped."""
    axis = wanted.axis if given.axis == -1 else given.axis
    factors = given.scales.astype(np.float64) / wanted.scales
    return rescaled(given.centered(value), factors, axis) + wanted.points_for(value)


@kernel(
    "UniformRequantize",
    host_inputs=[
        f"{side}_{name}" for side in ("input", "output") for name in _PARAMETERS
    ],
)
def uniform_requantize(c: OpKernelConstruction) -> Compute:
    """Integers over another scale and zero point."""
    before, after = Quantization.of(c, "input_"), Quantization.of(c, "output_")
    dtype = TORCH_DTYPES[c["Tout"]]
    if -1 not in (before.axis, after.axis) and before.axis != after.axis:
        raise invalid_argument(
            "If input and output is both per-axis quantized, the quantization axis "
            "must be same."
        )

    def compute(
        value: torch.Tensor,
        scales: _Array,
        zero_points: _Array,
        other_scales: _Array,
        other_points: _Array,
    ) -> torch.Tensor:
        given = before.checked(value.shape, scales, zero_points)
        wanted = after.checked(value.shape, other_scales, other_points)
        return after.clamp(_requantized(value, given, wanted)).to(dtype)

    return compute


# --- arithmetic ----------------------------------------------------------------------


class QuantizedOperands:
    """How the operands and the result of a node are quantized."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self._left, self._right = Quantization.of(c, "lhs_"), Quantization.of(c, "rhs_")
        self.out = Quantization.of(c, "output_")

    def checked(
        self, a: torch.Tensor, b: torch.Tensor, parameters: Sequence[_Array]
    ) -> tuple[QuantizationScheme, QuantizationScheme, tuple[_Array, _Array]]:
        """The schemes of both; of the result, whose shape they tell, the parameters.

        Args:
          parameters: the inputs `OPERANDS`.

        Raises:
          InvalidArgumentError: those of an operand do not fit it.
        """
        first, second, third = zip(parameters[::2], parameters[1::2], strict=True)
        left = self._left.checked(a.shape, *first)
        return left, self._right.checked(b.shape, *second), third


@kernel("UniformQuantizedAdd", host_inputs=OPERANDS)
def uniform_quantized_add(c: OpKernelConstruction) -> Compute:
    """lhs + rhs, both brought to the scale of the sum first."""
    attrs = QuantizedOperands(c)

    def compute(a: torch.Tensor, b: torch.Tensor, *parameters: _Array) -> torch.Tensor:
        left, right, of_sum = attrs.checked(a, b, parameters)
        try:
            shape = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            raise invalid_argument(
                f"Incompatible shapes: {shape_text(a.shape)} vs. {shape_text(b.shape)}"
            ) from None
        wanted = attrs.out.checked(shape, *of_sum)
        first = _widened(a, left, len(shape), wanted)
        found = first + _widened(b, right, len(shape), wanted)
        return attrs.out.clamp(found - wanted.points_for(found))

    return compute


def _widened(
    value: torch.Tensor,
    given: QuantizationScheme,
    rank: int,
    wanted: QuantizationScheme,
) -> torch.Tensor:
    """`_requantized` of a tensor that gets the rank of the sum, where its axis is."""
    added = rank - value.dim()
    axis = given.axis if given.axis == -1 else given.axis + added
    wide = value.reshape((1,) * added + value.shape)
    return _requantized(wide, replace(given, axis=axis), wanted)


@kernel("UniformQuantizedClipByValue", host_inputs=_PARAMETERS)
def uniform_quantized_clip_by_value(c: OpKernelConstruction) -> Compute:
    """Integers kept between two bounds."""
    attrs = Quantization.of(c)

    def compute(
        value: torch.Tensor,
        least: torch.Tensor,
        greatest: torch.Tensor,
        scales: _Array,
        zero_points: _Array,
    ) -> torch.Tensor:
        attrs.checked(value.shape, scales, zero_points)
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


@kernel("UniformQuantizedDot", host_inputs=OPERANDS)
def uniform_quantized_dot(c: OpKernelConstruction) -> Compute:
    """The product of two matrices."""
    attrs = QuantizedOperands(c)

    def compute(a: torch.Tensor, b: torch.Tensor, *parameters: _Array) -> torch.Tensor:
        left, right, of_product = attrs.checked(a, b, parameters)
        found = _product(left.centered(a), right.centered(b))
        wanted = attrs.out.checked(found.shape, *of_product)
        factors = left.scales.astype(np.float64) * right.scales / wanted.scales
        scaled = rescaled(found, factors, 1)
        return attrs.out.clamp(scaled + wanted.points_for(found))

    return compute


@kernel("UniformQuantizedDotHybrid", host_inputs=("rhs_scales", "rhs_zero_points"))
def uniform_quantized_dot_hybrid(c: OpKernelConstruction) -> Compute:
    """The product of a matrix of floats and a quantized one."""
    right = Quantization.of(c, "rhs_")

    def compute(
        a: torch.Tensor, b: torch.Tensor, scales: _Array, zero_points: _Array
    ) -> torch.Tensor:
        scheme = right.checked(b.shape, scales, zero_points)
        rows, steps = quantized_rows(a)
        found = _product(rows, scheme.centered(b))
        return found.float() * steps * scheme.scales_for(b)

    return compute


def quantized_rows(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
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
