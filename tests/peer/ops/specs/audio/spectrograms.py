"""Specs of AudioSpectrogram, DecodeWav, EncodeWav, Mfcc."""

from __future__ import annotations

import struct

import numpy as np

from tests.peer.ops.draw import Draw, K
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.shared.pictures import LOOSE, F, unit

# --- sound ----------------------------------------------------------------------


def wav(d: Draw, bits: int = 16) -> bytes:
    channels, samples = d.integer(1, 2), d.rng.integers(0, 256, 40, np.uint8).tobytes()
    width = bits // 8 * channels
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        36 + len(samples),
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        8000,
        8000 * width,
        width,
        bits,
        b"data",
        len(samples),
    )
    return head + samples


spec(
    "DecodeWav",
    lambda d: call(
        wav(d),
        desired_channels=d.choice([-1, 1, 2]),
        desired_samples=d.choice([-1, 5, 90]),
    ),
    types=(),
    gradient=False,
    bad=(lambda d: (wav(d, 8),), lambda d: (wav(d)[:50],), lambda d: (b"RIFF",)),
    mutate=("rank",),
)


spec(
    "EncodeWav",
    lambda d: ((d.rng.random((9, 2)) * 2.4 - 1.2).astype(F), K(8000, "int32")),
    types=(),
    gradient=False,
    mutate=("rank",),
)


spec(
    "AudioSpectrogram",
    lambda d: call(
        unit(d, 60, 1),
        window_size=d.integer(4, 30),
        stride=d.integer(1, 9),
        magnitude_squared=d.maybe(0.5),
    ),
    types=(),
    gradient=False,
    mutate=("rank",),
    tolerance=LOOSE,
)


spec(
    "Mfcc",
    lambda d: call(
        unit(d, 1, 3, 65), K(16000, "int32"), dct_coefficient_count=d.integer(1, 13)
    ),
    types=(),
    gradient=False,
    mutate=("rank",),
    tolerance=LOOSE,
)
