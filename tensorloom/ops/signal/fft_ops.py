"""Fourier transforms over the innermost one, two or three dimensions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.dtypes import DType

    Gradient = Callable[[Operation, Tensor], Any]


def _size(grad: Tensor, rank: int) -> Tensor:
    return math_ops.reduce_prod(array_ops.shape(grad)[-rank:])


def _forward_grad(inverse: str, rank: int) -> Gradient:
    def gradient(op: Operation, grad: Tensor) -> Tensor:
        size = math_ops.cast(_size(grad, rank), grad.dtype)
        transformed: Tensor = apply_op(inverse, input=grad)
        return transformed * size  # type: ignore[no-any-return]

    return gradient


def _inverse_grad(forward: str, rank: int) -> Gradient:
    def gradient(op: Operation, grad: Tensor) -> Tensor:
        size = math_ops.cast(_size(grad, rank), grad.dtype.real_dtype)
        scale = math_ops.cast(1.0 / size, grad.dtype)
        transformed: Tensor = apply_op(forward, input=grad)
        return transformed * scale  # type: ignore[no-any-return]

    return gradient


def _fft_shape(rank: int) -> Callable[[InferenceContext], TensorShape]:
    return lambda c: c.with_rank_at_least(0, rank)


def _real_shape(rank: int, halved: bool) -> Callable[[InferenceContext], TensorShape]:
    """[..., lengths] with the last length halved (plus one) for real transforms."""

    def shape_fn(c: InferenceContext) -> TensorShape:
        dims = c.with_rank_at_least(0, rank).dims_tuple
        lengths = c.with_rank(1, 1).dims_tuple
        assert lengths is not None
        c.with_value(lengths[0], rank)
        if dims is None:
            return TensorShape.of(None)
        value = c.input_value(1)
        if value is None:
            return TensorShape.of(dims[:-rank] + (None,) * rank)
        inner: list[int | None] = [int(v) for v in value.tolist()]
        if halved and inner[-1]:
            inner[-1] = inner[-1] // 2 + 1 if inner[-1] > 0 else -1
        # It is refused when the op runs.
        inner = [None if size == -1 else size for size in inner]
        return TensorShape.of((*dims[:-rank], *inner))

    return shape_fn


for _rank in (1, 2, 3):
    _suffix = "" if _rank == 1 else f"{_rank}D"
    for _op, _gradient in (
        (f"FFT{_suffix}", _forward_grad(f"IFFT{_suffix}", _rank)),
        (f"IFFT{_suffix}", _inverse_grad(f"FFT{_suffix}", _rank)),
    ):
        register_op(
            _op,
            inputs=["input: Tcomplex"],
            outputs=["output: Tcomplex"],
            attrs=["Tcomplex: {complex64, complex128} = DT_COMPLEX64"],
            shape_fn=_fft_shape(_rank),
            gradient=_gradient,
            doc=f"The discrete Fourier transform of the last {_rank} dimension(s).",
        )


# The names before graph version 15; complex64 only.
for _rank in (1, 2, 3):
    _suffix = "" if _rank == 1 else f"{_rank}D"
    for _op in (f"FFT{_suffix}", f"IFFT{_suffix}"):
        register_op(
            f"Batch{_op}",
            inputs=["input: complex64"],
            outputs=["output: complex64"],
            deprecated=(15, f"Use {_op}"),
            doc=f"The older name of {_op}.",
        )


@export("signal.fft", "spectral.fft", "fft")
def fft(input: Any, name: str | None = None) -> Any:
    """The transform of the last dimension, complex [..., n]."""
    return apply_op("FFT", input=input, name=name)


@export("signal.ifft", "spectral.ifft", "ifft")
def ifft(input: Any, name: str | None = None) -> Any:
    """The inverse transform of the last dimension, complex [..., n]."""
    return apply_op("IFFT", input=input, name=name)


@export("signal.fft2d", "spectral.fft2d", "fft2d")
def fft2d(input: Any, name: str | None = None) -> Any:
    """The transform of the last two dimensions."""
    return apply_op("FFT2D", input=input, name=name)


@export("signal.ifft2d", "spectral.ifft2d", "ifft2d")
def ifft2d(input: Any, name: str | None = None) -> Any:
    """The inverse transform of the last two dimensions."""
    return apply_op("IFFT2D", input=input, name=name)


@export("signal.fft3d", "spectral.fft3d", "fft3d")
def fft3d(input: Any, name: str | None = None) -> Any:
    """The transform of the last three dimensions."""
    return apply_op("FFT3D", input=input, name=name)


@export("signal.ifft3d", "spectral.ifft3d", "ifft3d")
def ifft3d(input: Any, name: str | None = None) -> Any:
    """The inverse transform of the last three dimensions."""
    return apply_op("IFFT3D", input=input, name=name)


# --- real transforms ---------------------------------------------------------


def _complex_mask(length: Tensor, dtype: DType) -> Tensor:
    """1, -1, 1, ... of a length."""
    return math_ops.cast(1 - 2 * (math_ops.range(length) % 2), dtype)  # type: ignore[no-any-return]


def _roots(length: Tensor, dtype: DType) -> Tensor:
    """exp(-2 pi i a b / length) for all rows a and columns b."""
    numbers = array_ops.expand_dims(math_ops.range(length), 0)
    columns = array_ops.tile(numbers, (length, 1))
    rows = array_ops.transpose(columns, [1, 0])
    product = -2j * np.pi * math_ops.cast(columns * rows, dtype)
    return math_ops.exp(product / math_ops.cast(length, dtype))


def _edges_2d(op: Operation, grad: Tensor, is_even: Tensor, shape: Tensor) -> Tensor:
    first = grad[..., 0:1]
    matrix = _roots(shape[-2], grad.dtype)
    ones = array_ops.ones([array_ops.rank(first) - 2], dtypes.int32)
    spread = array_ops.concat([ones, array_ops.shape(matrix)], 0)
    matrix = array_ops.reshape(matrix, spread)
    repeats = array_ops.concat([array_ops.shape(first)[:-2], [1, 1]], 0)
    matrix = array_ops.tile(matrix, repeats)
    total = math_ops.matmul(matrix, math_ops.conj(first))
    last = math_ops.matmul(matrix, math_ops.conj(grad[..., -1:]))
    width = shape[-1]
    ones = array_ops.ones([array_ops.rank(grad) - 1], dtypes.int32)
    wide = array_ops.tile(last, array_ops.concat([ones, [width]], 0))
    return total + is_even * (wide * _complex_mask(width, grad.dtype))


def _rfft_grad(rank: int, inverse: Callable[..., Tensor]) -> Gradient:
    """Elements that a real transform leaves out count twice, except the edges."""

    def gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
        lengths = op.inputs[1]
        shape = array_ops.shape(op.inputs[0])
        is_even = math_ops.cast(1 - (lengths[-1] % 2), grad.dtype)
        if rank == 1:
            first = grad[..., 0:1]
            last = is_even * grad[..., -1:]
            edges = first + last * _complex_mask(shape[-1], grad.dtype)
        else:
            edges = _edges_2d(op, grad, is_even, shape)
        size = math_ops.cast(_size(op.inputs[0], rank), op.inputs[0].dtype)
        whole = inverse(grad, lengths) * size
        return 0.5 * (whole + math_ops.real(edges)), None

    return gradient


def _irfft_grad(rank: int, forward: Callable[..., Tensor]) -> Gradient:
    def gradient(op: Operation, grad: Tensor) -> tuple[Tensor, None]:
        lengths = op.inputs[1]
        is_odd = math_ops.mod(lengths[-1], 2)
        width = array_ops.shape(op.inputs[0])[-1]
        real = grad.dtype
        middle = 2.0 * array_ops.ones([width - 2 + is_odd], real)
        last = array_ops.ones([1 - is_odd], real)
        mask = array_ops.concat([[1.0], middle, last], 0)
        size = math_ops.cast(_size(grad, rank), real)
        scale = math_ops.reciprocal(size)
        transformed = forward(grad, lengths)
        return transformed * math_ops.cast(scale * mask, transformed.dtype), None

    return gradient


# Of TensorFlow 2; see `newer_attrs.ADDED`.
_REAL_TYPES = [
    "Treal: {float, double} = DT_FLOAT",
    "Tcomplex: {complex64, complex128} = DT_COMPLEX64",
]


def _register_real() -> None:
    from tensorloom.ops.signal import rfft as rfft_ops

    for rank in (1, 2, 3):
        suffix = "" if rank == 1 else f"{rank}D"
        has_gradient = rank < 3
        forward = partial(rfft_ops.transform, f"RFFT{suffix}", rank)
        inverse = partial(rfft_ops.transform, f"IRFFT{suffix}", rank)
        register_op(
            f"RFFT{suffix}",
            inputs=["input: Treal", "fft_length: int32"],
            outputs=["output: Tcomplex"],
            attrs=_REAL_TYPES,
            shape_fn=_real_shape(rank, halved=True),
            gradient=_rfft_grad(rank, inverse) if has_gradient else None,
            doc=f"The transform of the last {rank} dimension(s) of real numbers.",
        )
        register_op(
            f"IRFFT{suffix}",
            inputs=["input: Tcomplex", "fft_length: int32"],
            outputs=["output: Treal"],
            attrs=_REAL_TYPES,
            shape_fn=_real_shape(rank, halved=False),
            gradient=_irfft_grad(rank, forward) if has_gradient else None,
            doc=f"The real inverse transform of the last {rank} dimension(s).",
        )


_register_real()
