"""Discrete cosine transforms, and cepstral coefficients made of them."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.signal import rfft as rfft_ops


def _check(input: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise ValueError("Only Types I, II and III (I)DCT are supported.")
    if type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        dims = input.shape.as_list() if hasattr(input, "op") else input.shape
        if dims[-1] is not None and dims[-1] < 2:
            raise ValueError(
                "Type-I DCT requires the dimension to be greater than one."
            )
    if norm not in (None, "ortho"):
        raise ValueError(
            f"Unknown normalization. Expected None or 'ortho', got: {norm}"
        )


def _last(value: Tensor) -> Any:
    static = value.shape.as_list()[-1] if value.shape.rank is not None else None
    return static or array_ops.shape(value)[-1]


@export("signal.dct", "spectral.dct")
def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of the last dimension, float32 [..., n].

    Args:
      type: 1, 2 or 3.
      n: the length; the input is cut or filled up with zeros.
      norm: None, or "ortho" for an orthonormal transform.

    Raises:
      ValueError: a bad type, length or norm.
      NotImplementedError: another axis, as in TensorFlow.
    """
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        value = convert_to_tensor(input, dtype=dtypes.float32)
        length = _last(value)
        if n is not None:
            if n <= length:
                value = value[..., 0:n]
            else:
                rank = len(value.shape)
                paddings: Any = [[0, 0]] * (rank - 1) + [[0, n - length]]
                paddings = convert_to_tensor(paddings, dtype=dtypes.int32)
                value = array_ops.pad(value, paddings=paddings)
        size = _last(value)
        float_size = math_ops.cast(size, dtypes.float32)
        if type == 1:
            mirrored = array_ops.concat([value, value[..., -2:0:-1]], axis=-1)
            return math_ops.real(rfft_ops.rfft(mirrored))
        transform = _second if type == 2 else _third
        return transform(value, size, float_size, norm)


def _first_apart(first: Tensor, other: Tensor, size: Any) -> Tensor:
    """[first, other, other, ...]"""
    start = array_ops.expand_dims(first, 0)
    return array_ops.pad(start, [[0, size - 1]], constant_values=other)


def _second(value: Tensor, size: Any, float_size: Tensor, norm: str | None) -> Tensor:
    angles = -math_ops.range(float_size) * math.pi * 0.5 / float_size
    scale = 2.0 * math_ops.exp(math_ops.complex(0.0, angles))
    spectrum = rfft_ops.rfft(value, fft_length=[2 * size])[..., :size]
    result = math_ops.real(spectrum * scale)
    if norm == "ortho":
        first = 0.5 * math_ops.rsqrt(float_size)
        other = first * math_ops.sqrt(2.0)
        result = result * _first_apart(first, other, size)
    return result


def _third(value: Tensor, size: Any, float_size: Tensor, norm: str | None) -> Tensor:
    if norm == "ortho":
        first = math_ops.sqrt(float_size)
        other = first * math_ops.sqrt(0.5)
        value = value * _first_apart(first, other, size)
    else:
        value = value * float_size
    angles = math_ops.range(float_size) * math.pi * 0.5 / float_size
    scale = 2.0 * math_ops.exp(math_ops.complex(0.0, angles))
    turned = scale * math_ops.complex(value, 0.0)
    return math_ops.real(rfft_ops.irfft(turned, fft_length=[2 * size]))[..., :size]


@export("signal.idct", "spectral.idct")
def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`, up to a factor unless norm is "ortho"; float32.

    Raises:
      ValueError: a bad type, length or norm.
      NotImplementedError: another axis, as in TensorFlow.
    """
    _check(input, type, n, axis, norm)
    inverse = {1: 1, 2: 3, 3: 2}[type]
    return dct(input, type=inverse, n=n, axis=axis, norm=norm, name=name)


@export("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: Any, name: str | None = None
) -> Tensor:
    """Mel-frequency cepstral coefficients [..., bins] of log mel spectrograms.

    Raises:
      ValueError: there are no bins.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        value = convert_to_tensor(log_mel_spectrograms, dtype=dtypes.float32)
        dims = value.shape.dims_tuple
        bins: Any = dims[-1] if dims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {value}")
        if bins is None:
            bins = array_ops.shape(value)[-1]
        coefficients = dct(value, type=2)
        return coefficients * math_ops.rsqrt(math_ops.cast(bins, dtypes.float32) * 2.0)
