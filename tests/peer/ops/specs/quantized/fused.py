"""Quantized values by channel (2.x).

The fused products and convolutions of 2.x have no specs: their plain kernels in
TensorFlow compute nothing, and what oneDNN puts into their place depends on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import Value
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_ROUNDED = Tolerance(0.0, 0.02, reason="a last level more or less")


_F = np.float32


def _spec(ops: str, make: Any, **options: Any) -> None:
    common: dict[str, Any] = {"types": (), "gradient": False, "mutate": ("dtype",)}
    spec(ops, make, **common, version="2.21", **options)


def _levels(d: Draw, shape: tuple[int, ...], kind: str) -> Value:
    low, high = {"quint8": (0, 255), "qint32": (-500, 500)}[kind]
    made = d.array(shape, dtype=kind, low=low, high=high)
    assert isinstance(made, Value)
    return made


def _range_by_channel(d: Draw) -> Any:
    low = -d.rng.uniform(1, 9, 3).astype(_F)
    values = _levels(d, (2, 2, 2, 3), "qint32")
    return call(values, low, -low, clip_value_max=d.choice([1.0, 1e6]))


def _wrong_channels(d: Draw) -> Any:
    low = -d.rng.uniform(1, 9, 2).astype(_F)
    return call(_levels(d, (2, 2, 2, 3), "qint32"), low, -low, clip_value_max=1e6)


def _flat(d: Draw) -> Any:
    values, three = _levels(d, (3,), "qint32"), np.ones(3, _F)
    more = {"clip_value_max": 1e6} if d.op == "RequantizationRangePerChannel" else {}
    asked = () if more else (_F(0), _F(1e-6))
    return call(values, -three, three, *asked, **more)


_spec("RequantizationRangePerChannel", _range_by_channel, bad=(_wrong_channels, _flat))


def _requantized(d: Draw, kind: str = "", high: float = 2e-6) -> Any:
    limits = -d.rng.uniform(1, 9, 3).astype(_F)
    kind = kind or d.choice(["qint8", "quint8"])
    asked = (_F(-high if kind == "qint8" else 0), _F(high))
    values = _levels(d, (2, 2, 2, 3), "qint32")
    return call(values, limits, -limits, *asked, out_type=kind)


_spec(
    "RequantizePerChannel",
    _requantized,
    tolerance=_ROUNDED,
    bad=(
        _flat,
        lambda d: _requantized(d, "qint8", 0.0),
    ),
)
