"""Fourier transforms over axes that are named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_COMPLEX: Final = "Tcomplex: {complex64, complex128} = DT_COMPLEX64"
_REAL: Final = "Treal: {float, double} = DT_FLOAT"


def _fft_nd_shape(c: InferenceContext) -> TensorShape:
    """The input's shape, with the lengths at the axes where both are known."""
    dims = c.with_rank_at_least(0, 1).dims_tuple
    lengths, axes = c.input_value(1), c.input_value(2)
    if dims is None:
        return TensorShape.of(None)
    if lengths is None or axes is None:
        return TensorShape.of((None,) * len(dims))
    if lengths.shape != axes.shape or lengths.ndim != 1:
        c.fail("fft_length and axes must be vectors of one length")
    result = list(dims)
    pairs = list(zip(lengths.tolist(), axes.tolist(), strict=True))
    for at, (length, axis) in enumerate(pairs):
        if not -len(dims) <= axis < len(dims) or length < 0:
            c.fail(f"There is no axis {axis} of length {length}")
        halved = c.op_name == "RFFTND" and at == len(pairs) - 1
        result[axis] = length // 2 + 1 if halved and length else length
    return TensorShape.of(tuple(result))


for _op, _given, _made, _attrs in (
    ("FFTND", "Tcomplex", "Tcomplex", [_COMPLEX]),
    ("IFFTND", "Tcomplex", "Tcomplex", [_COMPLEX]),
    ("RFFTND", "Treal", "Tcomplex", [_REAL, _COMPLEX]),
    ("IRFFTND", "Tcomplex", "Treal", [_REAL, _COMPLEX]),
):
    register_op(
        _op,
        inputs=[f"input: {_given}", "fft_length: int32", "axes: int32"],
        outputs=[f"output: {_made}"],
        attrs=_attrs,
        shape_fn=_fft_nd_shape,
        doc="The Fourier transform over `axes`, cut or padded to `fft_length`.",
    )
