"""Quantized arithmetic, products and convolutions, as the reference kernels do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K, Value
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_RANGES = ((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (-4.0, 4.0))


def _range(d: Draw) -> tuple[Any, Any]:
    low, high = d.choice(_RANGES)
    return np.float32(low), np.float32(high)


def _bytes(d: Draw, shape: tuple[int, ...], kind: str = "quint8") -> Value:
    low, high = {"quint8": (0, 255), "qint8": (-128, 127), "qint32": (-5000, 5000)}[
        kind
    ]
    made = d.array(shape, dtype=kind, low=low, high=high)
    assert isinstance(made, Value)
    return made


def _plain(op: str, make: Any, **options: Any) -> None:
    spec(op, make, **{"types": (), "gradient": False, "mutate": ("dtype",), **options})


def _sum(d: Draw) -> Any:
    shape = d.shape(1, 3, empty=0)
    other = d.choice((shape, (), shape[-1:]))
    return call(
        _bytes(d, shape), _bytes(d, other), *_range(d), *_range(d), Toutput="qint32"
    )


_plain("QuantizedAdd QuantizedMul", _sum)


def _matrix_product(d: Draw) -> Any:
    a, b = (3, 4), (4, 2)
    turned = d.maybe(), d.maybe()
    shapes = [
        one[::-1] if flip else one for one, flip in zip((a, b), turned, strict=True)
    ]
    return call(
        *(_bytes(d, shape) for shape in shapes),
        *_range(d),
        *_range(d),
        Toutput="qint32",
        transpose_a=turned[0],
        transpose_b=turned[1],
    )


_plain("QuantizedMatMul", _matrix_product)


def _convolution(d: Draw) -> Any:
    step = d.integer(1, 2)
    return call(
        _bytes(d, (2, 6, 5, 2)),
        _bytes(d, (2, 3, 2, 3)),
        *_range(d),
        *_range(d),
        out_type="qint32",
        strides=[1, step, step, 1],
        padding=d.choice(("SAME", "VALID")),
    )


_plain("QuantizedConv2D", _convolution)


def _pool(d: Draw) -> Any:
    step = d.integer(1, 2)
    return call(
        _bytes(d, (2, 6, 5, 2), d.dtype.name),
        *_range(d),
        ksize=[1, 2, 2, 1],
        strides=[1, step, step, 1],
        padding=d.choice(("SAME", "VALID")),
    )


spec(
    "QuantizedAvgPool QuantizedMaxPool",
    _pool,
    attr="T",
    types=["quint8"],
    gradient=False,
    mutate=("dtype",),
)


def _activation(d: Draw) -> Any:
    return call(_bytes(d, d.shape(1, 3, empty=0)), *_range(d), out_type="quint8")


_plain("QuantizedRelu QuantizedRelu6", _activation)


_plain(
    "QuantizedBiasAdd",
    lambda d: call(
        _bytes(d, (2, 3, 4)), _bytes(d, (4,)), *_range(d), *_range(d), out_type="qint32"
    ),
)


def _joined(d: Draw) -> Any:
    parts = [_bytes(d, (2, 3)), _bytes(d, (2, 3))]
    low = [np.array(-1.0, np.float32), np.array(-2.0, np.float32)]
    high = [np.array(1.0, np.float32), np.array(3.0, np.float32)]
    return call(K(d.integer(0, 1), "int32"), parts, low, high)


_plain("QuantizedConcat", _joined)


_plain(
    "QuantizedReshape",
    lambda d: call(_bytes(d, (2, 6)), K([3, -1], "int32"), *_range(d)),
)


_plain(
    "QuantizedInstanceNorm",
    lambda d: call(
        _bytes(d, (2, 4, 4, 2)),
        *_range(d),
        output_range_given=d.maybe(),
        given_y_min=-2.0,
        given_y_max=2.0,
    ),
)


def _norm(d: Draw) -> Any:
    shapes = [(2, 3, 3, 4), (4,), (4,), (4,), (4,)]
    inputs: list[Any] = []
    for index, shape in enumerate(shapes):
        low, high = (np.float32(0.5), np.float32(3)) if index == 2 else _range(d)
        inputs += [_bytes(d, shape), low, high]
    return call(
        *inputs,
        out_type="qint32",
        variance_epsilon=0.01,
        scale_after_normalization=d.maybe(),
    )


def _as_reals(arrays: list[Any]) -> list[Any]:
    """Levels as shares of the largest: steps are compared, not the last level."""
    levels = np.asarray(arrays[0], np.float64)
    return [levels / max(1.0, np.abs(levels).max(initial=0)), *arrays[1:]]


_LEVELS = Tolerance(
    1e-2,
    1e-2,
    "TensorFlow computes in fixed point, and its levels may be one or two beside",
)


_plain("QuantizedBatchNormWithGlobalNormalization", _norm)


_plain(
    "QuantizedResizeBilinear",
    lambda d: call(
        _bytes(d, (1, 4, 4, 2)),
        K([d.integer(3, 8), d.integer(3, 8)], "int32"),
        *_range(d),
        align_corners=d.maybe(),
    ),
    canonical=_as_reals,
    tolerance=_LEVELS,
)


_plain(
    "QuantizeDownAndShrinkRange",
    lambda d: call(
        _bytes(d, (3, 4), "qint32"),
        np.float32(-900),
        np.float32(1000),
        out_type="quint8",
    ),
)


_plain(
    "RequantizationRange",
    lambda d: call(_bytes(d, (3, 4), "qint32"), np.float32(-900), np.float32(1000)),
)


_plain(
    "Requantize",
    lambda d: call(
        _bytes(d, (3, 4), "qint32"),
        np.float32(-900),
        np.float32(1000),
        np.float32(-0.001),
        np.float32(0.002),
        out_type="quint8",
    ),
)
