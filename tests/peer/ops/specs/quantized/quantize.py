"""Quantization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _range(d: Draw) -> tuple[float, float]:
    low, high = d.choice(((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (0.5, 2.0)))
    return np.float32(low), np.float32(high)


def _floats(d: Draw) -> Any:
    return d.rng.uniform(-3, 4, d.shape(0, 3)).astype(np.float32)


def _quantize(d: Draw) -> Any:
    mode = d.choice(("MIN_COMBINED", "MIN_FIRST", "SCALED"))
    return call(_floats(d), *_range(d), mode=mode)


spec(
    "QuantizeV2",
    _quantize,
    gradient=False,
    attr="T",
    types=["qint8", "quint8"],
    mutate=("dtype",),
)


def _round_trip(d: Draw) -> Any:
    x = d.array(d.shape(1, 3), low=-3.0, high=3.0)
    low, high = d.array((), low=-2.0, high=-1.0), d.array((), low=1.0, high=2.0)
    return call(
        x,
        low,
        high,
        signed_input=d.maybe(0.5),
        num_bits=d.integer(3, 9),
        range_given=d.maybe(0.5),
        round_mode=d.choice(("HALF_TO_EVEN", "HALF_UP")),
    )


spec(
    "QuantizeAndDequantizeV2",
    _round_trip,
    types=["float32", "float64"],
    mutate=("dtype",),
)
