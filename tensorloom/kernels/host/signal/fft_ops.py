"""Fourier transforms in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

_Array = NDArray[Any]
_SUFFIXES = {1: "", 2: "2D", 3: "3D"}
COMPLEX_OPS = [
    f"{old}{way}FFT{suffix}"
    for old in ("", "Batch")
    for way in ("", "I")
    for suffix in _SUFFIXES.values()
]
REAL_OPS = [f"{way}RFFT{suffix}" for way in ("", "I") for suffix in _SUFFIXES.values()]


def axes_of(op: str) -> tuple[int, ...]:
    """The axes that an op transforms: the last one, two or three."""
    rank = int(op[-2]) if op.endswith("D") else 1
    return tuple(range(-rank, 0))


def is_inverse(op: str) -> bool:
    """Whether the op goes back from frequencies."""
    return op.removeprefix("Batch").startswith("I")


def check_rank(shape: tuple[int, ...], rank: int) -> None:
    """Raises InvalidArgumentError for values of fewer dimensions."""
    if len(shape) < rank:
        raise errors.InvalidArgumentError(
            None, None, f"Input must have rank of at least {rank} but got: {len(shape)}"
        )


@host_kernel(COMPLEX_OPS, large=True)
def fft(c: OpKernelConstruction) -> Compute:
    """Complex transforms."""
    axes = axes_of(c.op)
    transform: Any = np.fft.ifftn if is_inverse(c.op) else np.fft.fftn

    def compute(value: _Array) -> _Array:
        check_rank(value.shape, len(axes))
        if not value.size:
            return value.copy()
        result: _Array = transform(value, axes=axes)
        return result.astype(value.dtype, copy=False)

    return compute


def real_result(
    shape: tuple[int, ...], fft_length: Any, axes: tuple[int, ...], inverse: bool
) -> tuple[list[int], tuple[int, ...]]:
    """(lengths of the transform, the result's shape) of a real transform.

    Raises:
      InvalidArgumentError: the lengths are none, or the value is too short for them.
    """
    rank = len(axes)
    check_rank(shape, rank)
    lengths = np.asarray(fft_length).tolist()
    if np.ndim(fft_length) != 1 or len(lengths) != rank:
        raise errors.InvalidArgumentError(
            None, None, f"fft_length must have shape [{rank}]"
        )
    if min(lengths) < 0:
        raise errors.InvalidArgumentError(
            None, None, f"fft_length must be >= 0, but got: {min(lengths)}"
        )
    half = [*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0]
    needed, result = (half, lengths) if inverse else (lengths, half)
    for axis, want in zip(axes, needed, strict=True):
        if 0 not in shape and shape[axis] < want:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input dimension {len(shape) + axis} must have length of at least "
                f"{want} but got: {shape[axis]}",
            )
    return lengths, (*shape[:-rank], *result)


@host_kernel(REAL_OPS, large=True)
def rfft(c: OpKernelConstruction) -> Compute:
    """Real transforms; longer inputs are cut to the length."""
    axes, inverse = axes_of(c.op), is_inverse(c.op)
    transform: Any = np.fft.irfftn if inverse else np.fft.rfftn
    dtype = c.output_types[0].as_numpy_dtype

    def compute(value: _Array, fft_length: _Array) -> _Array:
        lengths, shape = real_result(value.shape, fft_length, axes, inverse)
        if not value.size or 0 in lengths:
            return np.zeros(shape, dtype)
        result: _Array = transform(value, s=lengths, axes=axes)
        return result.astype(dtype, copy=False)

    return compute
