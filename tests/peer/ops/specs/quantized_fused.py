"""Quantized products and convolutions with what follows them (2.x)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K, Value
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_RANGES = ((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (-4.0, 4.0))
_ROUNDED = Tolerance(0.0, 0.02, reason="a last level more or less")
_F = np.float32


def _spec(ops: str, make: Any, **options: Any) -> None:
    options = {"version": "2.21", **options}
    spec(ops, make, **{"types": (), "gradient": False, "mutate": (), **options})


def _levels(d: Draw, shape: tuple[int, ...], kind: str = "quint8") -> Value:
    low, high = {"quint8": (0, 255), "qint8": (-127, 127), "qint32": (-500, 500)}[kind]
    made = d.array(shape, dtype=kind, low=low, high=high)
    assert isinstance(made, Value)
    return made


def _weights_range(d: Draw, channels: int = 0) -> tuple[Any, Any]:
    high = d.rng.uniform(0.5, 2, channels or ()).astype(_F)
    return -high, high


_UNSIGNED = (_F(0), _F(3))

# --- ranges -------------------------------------------------------------------


def _range_by_channel(d: Draw) -> Any:
    low = -d.rng.uniform(1, 9, 3).astype(_F)
    return call(
        _levels(d, (2, 2, 2, 3), "qint32"),
        low,
        -low,
        clip_value_max=d.choice([1.0, 1e6]),
    )


_spec("RequantizationRangePerChannel", _range_by_channel)


def _requantized(d: Draw) -> Any:
    low = -d.rng.uniform(1, 9, 3).astype(_F)
    asked = (_F(-1e-6), _F(1e-6)) if d.maybe() else (_F(0), _F(2e-6))
    return call(
        _levels(d, (2, 2, 2, 3), "qint32"), low, -low, *asked, out_type="qint8"
    )


_spec("RequantizePerChannel", _requantized, tolerance=_ROUNDED)


def _joined(d: Draw) -> Any:
    parts = [_levels(d, (2, 3)), _levels(d, (2, 3))]
    low = [_F(-1), _F(-2)]
    high = [_F(1), _F(3)]
    return call(parts, K(0, "int32"), low, high)


_spec("QuantizedConcatV2", _joined)

# --- products -----------------------------------------------------------------


def _product(d: Draw) -> Any:
    """a * b + bias, and then what the op's name tells."""
    a, b = _levels(d, (3, 4)), _levels(d, (4, 2), "qint8")
    bias = d.array((2,), dtype="float32")
    inputs = [a, b, bias, *_UNSIGNED, *_weights_range(d)]
    if "quantize" in d.op:
        inputs += [_F(-4), _F(4)] if "Dequantize" in d.op else [_F(0), _F(6)]
    more = {"Toutput": "float32"} if "Dequantize" in d.op else {}
    return call(*inputs, input_quant_mode="SCALED", **more)


_spec(
    "QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu"
    " QuantizedMatMulWithBiasAndReluAndRequantize"
    " QuantizedMatMulWithBiasAndRequantize QuantizedMatMulWithBiasAndDequantize",
    _product,
    tolerance=_ROUNDED,
)

# --- convolutions --------------------------------------------------------------


def _convolved(d: Draw) -> Any:
    channels = 3
    deep = "Depthwise" in d.op
    weights = (2, 2, channels, 1) if deep else (2, 2, channels, 4)
    outputs = channels if deep else 4
    step = d.integer(1, 2)
    by_channel = outputs if "PerChannel" in d.op or d.maybe() else 0
    inputs: list[Any] = [_levels(d, (2, 5, 5, channels)), _levels(d, weights, "qint8")]
    if "Bias" in d.op:
        inputs.append(d.array((outputs,), dtype="float32"))
    inputs += [*_UNSIGNED, *_weights_range(d, by_channel)]
    if "Requantize" in d.op:
        inputs += [_F(-6 if "Relu" not in d.op else 0), _F(6)]
    attrs = {"strides": [1, step, step, 1], "padding": d.choice(("SAME", "VALID"))}
    if "Sum" in d.op:
        size = -(-5 // step) if attrs["padding"] == "SAME" else -(-4 // step)
        kind = "qint8" if "SignedSum" in d.op else "quint8"
        if "Requantize" in d.op:
            inputs += [_levels(d, (2, size, size, outputs), kind), _F(-2), _F(2)]
        else:
            inputs.append(d.array((2, size, size, outputs), dtype="float32"))
    return call(*inputs, **attrs)


_spec(
    "QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize"
    " QuantizedConv2DAndRequantize QuantizedConv2DPerChannel QuantizedConv2DWithBias"
    " QuantizedConv2DWithBiasAndRelu QuantizedConv2DWithBiasAndReluAndRequantize"
    " QuantizedConv2DWithBiasAndRequantize"
    " QuantizedConv2DWithBiasSignedSumAndReluAndRequantize"
    " QuantizedConv2DWithBiasSumAndRelu"
    " QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D"
    " QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu"
    " QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
    _convolved,
    tolerance=_ROUNDED,
)
