"""Fourier transforms in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel

_Array = NDArray[Any]
_SUFFIXES = {1: "", 2: "2D", 3: "3D"}


def _rank(op: str) -> int:
    return int(op[-2]) if op.endswith("D") else 1


def _check_rank(value: _Array, rank: int) -> None:
    if value.ndim < rank:
        raise errors.InvalidArgumentError(
            None, None, f"Input must have rank of at least {rank} but got: {value.ndim}"
        )


@host_kernel(
    [
        f"{old}{way}FFT{s}"
        for old in ("", "Batch")
        for way in ("", "I")
        for s in _SUFFIXES.values()
    ],
    large=True,
)
def fft(c: OpKernelConstruction) -> Compute:
    """Complex transforms."""
    rank = _rank(c.op)
    axes = tuple(range(-rank, 0))
    is_inverse = c.op.removeprefix("Batch").startswith("I")
    transform: Any = np.fft.ifftn if is_inverse else np.fft.fftn

    def compute(value: _Array) -> _Array:
        _check_rank(value, rank)
        if not value.size:
            return value.copy()
        result: _Array = transform(value, axes=axes)
        return result.astype(value.dtype, copy=False)

    return compute


@host_kernel(
    [f"{way}RFFT{s}" for way in ("", "I") for s in _SUFFIXES.values()], large=True
)
def rfft(c: OpKernelConstruction) -> Compute:
    """Real transforms; longer inputs are cut to the length."""
    rank, inverse = _rank(c.op), c.op.startswith("I")
    axes = tuple(range(-rank, 0))
    transform: Any = np.fft.irfftn if inverse else np.fft.rfftn
    dtype = np.float32 if inverse else np.complex64

    def compute(value: _Array, fft_length: _Array) -> _Array:
        _check_rank(value, rank)
        lengths = np.asarray(fft_length).tolist()
        if np.ndim(fft_length) != 1 or len(lengths) != rank:
            raise errors.InvalidArgumentError(
                None, None, f"fft_length must have shape [{rank}]"
            )
        needed = list(lengths)
        if min(lengths) < 0:
            raise errors.InvalidArgumentError(
                None, None, f"fft_length must be >= 0, but got: {min(lengths)}"
            )
        if inverse:
            needed[-1] = needed[-1] // 2 + 1 if needed[-1] else 0
        for axis, want in zip(axes, needed, strict=True):
            if value.size and value.shape[axis] < want:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Input dimension {value.ndim + axis} must have length of at least "
                    f"{want} but got: {value.shape[axis]}",
                )
        outer = value.shape[:-rank]
        result_dims = list(lengths)
        if not inverse:
            result_dims[-1] = result_dims[-1] // 2 + 1 if result_dims[-1] else 0
        if not value.size or 0 in lengths:
            return np.zeros((*outer, *result_dims), dtype)
        result: _Array = transform(value, s=lengths, axes=axes)
        return result.astype(dtype, copy=False)

    return compute
