"""Specs of FFT, FFT2D, FFT3D, IFFT, ...."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import Tolerance, spec

# --- Fourier transforms ---------------------------------------------------------


def fft(count: int) -> Any:
    return lambda d: (d.array(d.shape(count, count + 1, empty=0)),)


TRANSFORMS = Tolerance(
    1e-4, 1e-5, "TensorFlow transforms double precision through Eigen's FFT"
)


def add_transforms() -> None:
    for dims in (1, 2, 3):
        name = "" if dims == 1 else f"{dims}D"
        spec(f"FFT{name} IFFT{name}", fft(dims), attr="Tcomplex", tolerance=TRANSFORMS)
        spec(
            f"RFFT{name}",
            rfft(dims),
            types=(),
            tolerance=TRANSFORMS,
            mutate=("rank", "dtype"),
        )
        spec(
            f"IRFFT{name}",
            irfft(dims),
            types=(),
            tolerance=TRANSFORMS,
            mutate=("rank", "dtype"),
        )


def rfft(count: int) -> Any:
    def make(d: Draw) -> Any:
        shape = d.shape(count, count + 1, empty=0)
        # The op itself does not pad: the builders do.
        lengths = [max(1, s - d.integer(0, 1)) for s in shape[-count:]]
        return d.array(shape, dtype="float32"), K(np.array(lengths, np.int32))

    return make


def irfft(count: int) -> Any:
    def make(d: Draw) -> Any:
        shape = d.shape(count, count + 1, empty=0)
        lengths = list(shape[-count:])
        lengths[-1] = max(1, 2 * (shape[-1] - 1) + d.integer(0, 1))
        return d.array(shape, dtype="complex64"), K(np.array(lengths, np.int32))

    return make


add_transforms()
