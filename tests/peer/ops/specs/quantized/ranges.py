"""Specs of Dequantize, FakeQuantWithMinMaxArgsGradient, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


_SCALES = ((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (-4.0, 4.0))


# --- quantization ------------------------------------------------------------


def _dequantize(d: Draw) -> Any:
    low, high = d.choice(_SCALES)
    mode = d.choice(("MIN_COMBINED", "MIN_FIRST", "SCALED"))
    values = d.array(d.shape(0, 3), low=-128, high=255 if "u" in d.dtype.name else 127)
    return call(values, np.float32(low), np.float32(high), mode=mode)


spec("Dequantize", _dequantize, gradient=False, mutate=("dtype", "rank"))


def _fake_gradient(d: Draw) -> Any:
    shape = d.shape(1, 3)
    x, g = d.array(shape, dtype="float32"), d.array(shape, dtype="float32")
    attrs = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    if "Args" in d.op:
        low, high = d.choice(_SCALES)
        return call(g, x, min=low, max=high, **attrs)
    if "Channel" in d.op:
        low = d.array(shape[-1:], dtype="float32", low=-3, high=-0.5)
        high = d.array(shape[-1:], dtype="float32", low=0.5, high=3)
        return call(g, x, low, high, **attrs)
    low, high = d.choice(_SCALES)
    return call(g, x, np.float32(low), np.float32(high), **attrs)


spec(
    "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxArgsGradient"
    " FakeQuantWithMinMaxVarsPerChannelGradient",
    _fake_gradient,
    types=(),
    tolerance=_PRODUCTS,
    mutate=("dtype",),
)


def _round_trip(d: Draw) -> Any:
    x = d.array(d.shape(1, 3), low=-3.0, high=3.0)
    low, high = d.array((), low=-2.0, high=-1.0), d.array((), low=1.0, high=2.0)
    attrs: dict[str, Any] = {"signed_input": d.maybe(0.5), "range_given": d.maybe(0.5)}
    bits = d.integer(3, 9)
    if d.op.endswith("V3"):
        return call(x, low, high, K(bits, "int32"), **attrs)
    return call(x, low, high, num_bits=bits, **attrs)


def _round_trip_gradient(d: Draw) -> Any:
    shape = d.shape(1, 3)
    return call(
        d.array(shape),
        d.array(shape),
        d.array((), low=-2, high=-1),
        d.array((), low=1, high=2),
    )


spec(
    "QuantizeAndDequantizeV3",
    _round_trip,
    types=["float32", "float64"],
    mutate=("dtype",),
)


spec(
    "QuantizeAndDequantizeV4",
    _round_trip,
    types=["float32", "float64"],
    mutate=("dtype",),
)


spec(
    "QuantizeAndDequantizeV4Grad",
    _round_trip_gradient,
    types=["float32", "float64"],
    gradient=False,
    mutate=("dtype",),
)


spec(
    "QuantizeAndDequantize",
    lambda d: call(
        d.array(d.shape(1, 3), low=-3.0, high=3.0),
        range_given=d.maybe(0.5),
        input_min=-2.0,
        input_max=2.0,
    ),
    types=["float32", "float64"],
    gradient=False,
    producer=21,
    mutate=("dtype",),
)
