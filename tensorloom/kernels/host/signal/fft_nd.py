"""Fourier transforms over axes that are named, in host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TRANSFORMS: Final[dict[str, tuple[Any, str]]] = {
    "FFTND": (np.fft.fftn, "Tcomplex"),
    "IFFTND": (np.fft.ifftn, "Tcomplex"),
    "RFFTND": (np.fft.rfftn, "Tcomplex"),
    "IRFFTND": (np.fft.irfftn, "Treal"),
}


@host_kernel(list(_TRANSFORMS), large=True)
def fft_nd(c: OpKernelConstruction) -> Compute:
    """The transform, of the dtype that the op's attr names."""
    transform, attr = _TRANSFORMS[c.op]
    dtype = np.dtype(c[attr].as_numpy_dtype)

    def compute(value: NDArray[Any], fft_length: Any, axes: Any) -> NDArray[Any]:
        lengths, at = np.asarray(fft_length), np.asarray(axes)
        if lengths.ndim != 1 or lengths.shape != at.shape:
            raise invalid_argument(
                "fft_length and axes must be vectors of one length, got shapes "
                f"{list(lengths.shape)} and {list(at.shape)}"
            )
        named = [int(axis) % value.ndim for axis in at if value.ndim]
        if len(set(named)) != len(at) or (abs(at + 0.5) > value.ndim).any():
            raise invalid_argument(
                f"axes must be different dimensions of the input, got {at.tolist()}"
            )
        if (lengths < 1).any():
            raise invalid_argument(f"fft_length must be >= 1, got {lengths.tolist()}")
        result: NDArray[Any] = transform(value, s=lengths.tolist(), axes=named)
        return result.astype(dtype, copy=False)

    return compute
