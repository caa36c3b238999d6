"""Builders of the Fourier transforms of real numbers."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value_as_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def _forward_length(value: Tensor, rank: int) -> Tensor:
    sides = value.shape[-rank:]
    if not sides.is_fully_defined():
        return array_ops.shape(value)[-rank:]
    return convert_to_tensor(sides.as_list(), dtypes.int32)


def _inverse_length(value: Tensor, rank: int) -> Tensor:
    sides = value.shape[-rank:]
    if not sides.is_fully_defined():
        parts = array_ops.unstack(array_ops.shape(value)[-rank:])
        parts[-1] = math_ops.maximum(0, 2 * (parts[-1] - 1))
        return array_ops.stack(parts)
    lengths: Any = sides.as_list()
    lengths[-1] = max(0, 2 * (lengths[-1] - 1))
    return convert_to_tensor(lengths, dtypes.int32)


def _padded(value: Tensor, rank: int, length: Tensor, inverse: bool) -> Tensor:
    """The value with zeros up to the length of the transform."""
    shape = constant_value_as_shape(length)
    dims = value.shape.dims_tuple
    if dims is not None and 0 in dims:
        return value
    if shape.is_fully_defined() and dims is not None:
        wanted: Any = shape.as_list()
        inner = dims[-len(wanted) :]
        if None not in inner:
            if inverse:
                wanted[-1] = wanted[-1] // 2 + 1
            pads = [
                [0, max(w - (d or 0), 0)] for w, d in zip(wanted, inner, strict=True)
            ]
            if not any(pad for _, pad in pads):
                return value
            outer = [[0, 0]] * max(len(dims) - len(wanted), 0)
            return array_ops.pad(value, outer + pads)
    value_rank = array_ops.rank(value)
    sides = array_ops.shape(value)[-rank:]
    outer_count = math_ops.maximum(0, value_rank - rank)
    outer_pads = array_ops.zeros([outer_count], length.dtype)
    if inverse:
        length = array_ops.concat([length[:-1], length[-1:] // 2 + 1], 0)
    inner_pads = math_ops.maximum(0, length - sides)
    after = array_ops.concat([outer_pads, inner_pads], 0)
    paddings = array_ops.stack([array_ops.zeros_like(after), after], axis=1)
    return array_ops.pad(value, paddings)


def _transform(
    op: str, rank: int, inverse: bool, value: Any, fft_length: Any, name: str | None
) -> Tensor:
    """What programs call: single precision alone, as in TensorFlow 1.15."""
    with name_scope(name, op.lower(), [value, fft_length]) as scope:
        dtype = dtypes.complex64 if inverse else dtypes.float32
        return _in_scope(op, rank, convert_to_tensor(value, dtype), fft_length, scope)


def transform(op: str, rank: int, value: Tensor, fft_length: Tensor) -> Tensor:
    """The transform of a value of either precision."""
    with name_scope(None, op.lower(), [value, fft_length]) as scope:
        return _in_scope(op, rank, value, fft_length, scope)


def _in_scope(op: str, rank: int, value: Tensor, fft_length: Any, scope: str) -> Tensor:
    inverse = value.dtype.is_complex
    value.shape.with_rank_at_least(rank)
    if fft_length is None:
        infer = _inverse_length if inverse else _forward_length
        length = infer(value, rank)
    else:
        length = convert_to_tensor(fft_length, dtypes.int32)
    value = _padded(value, rank, length, inverse)
    name, dtype = "Treal", value.dtype.real_dtype
    if not inverse:
        is_double = dtype == dtypes.float64
        name, dtype = "Tcomplex", dtypes.complex128 if is_double else dtypes.complex64
    options = {name: dtype}
    result: Tensor = apply_op(op, input=value, fft_length=length, name=scope, **options)
    return result


@export("signal.rfft", "spectral.rfft")
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The transform of real [..., n], complex [..., n // 2 + 1]."""
    return _transform("RFFT", 1, False, input_tensor, fft_length, name)


@export("signal.irfft", "spectral.irfft")
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The real inverse [..., n] of complex [..., n // 2 + 1]."""
    return _transform("IRFFT", 1, True, input_tensor, fft_length, name)


@export("signal.rfft2d", "spectral.rfft2d")
def rfft2d(
    input_tensor: Any, fft_length: Any = None, name: str | None = None
) -> Tensor:
    """The transform of the last two dimensions of real numbers."""
    return _transform("RFFT2D", 2, False, input_tensor, fft_length, name)


@export("signal.irfft2d", "spectral.irfft2d")
def irfft2d(
    input_tensor: Any, fft_length: Any = None, name: str | None = None
) -> Tensor:
    """The real inverse transform of the last two dimensions."""
    return _transform("IRFFT2D", 2, True, input_tensor, fft_length, name)


@export("signal.rfft3d", "spectral.rfft3d")
def rfft3d(
    input_tensor: Any, fft_length: Any = None, name: str | None = None
) -> Tensor:
    """The transform of the last three dimensions of real numbers."""
    return _transform("RFFT3D", 3, False, input_tensor, fft_length, name)


@export("signal.irfft3d", "spectral.irfft3d")
def irfft3d(
    input_tensor: Any, fft_length: Any = None, name: str | None = None
) -> Tensor:
    """The real inverse transform of the last three dimensions."""
    return _transform("IRFFT3D", 3, True, input_tensor, fft_length, name)
