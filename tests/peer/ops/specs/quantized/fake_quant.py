"""Specs of FakeQuantWithMinMaxArgs, FakeQuantWithMinMaxVars, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _floats(d: Draw) -> Any:
    return d.rng.uniform(-3, 4, d.shape(0, 3)).astype(np.float32)


def _bounds(d: Draw) -> tuple[float, float]:
    return d.choice(((-2.0, 3.0), (0.0, 1.0), (-1.0, 0.5), (0.5, 2.0)))  # type: ignore[no-any-return]


def _fake_args(d: Draw) -> Any:
    low, high = _bounds(d)
    options = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    return call(_floats(d), min=low, max=high, **options)


def _fake_vars(d: Draw) -> Any:
    low, high = (np.float32(b) for b in _bounds(d))
    options = {"num_bits": d.integer(2, 8), "narrow_range": d.maybe(0.5)}
    return call(_floats(d), low, high, **options)


def _fake_channels(d: Draw) -> Any:
    depth = d.integer(1, 4)
    x = d.rng.uniform(-3, 4, (*d.shape(0, 3), depth)).astype(np.float32)
    low = d.rng.uniform(-2, -0.1, depth).astype(np.float32)
    high = d.rng.uniform(0.1, 3, depth).astype(np.float32)
    return call(x, low, high, num_bits=d.integer(2, 8))


spec("FakeQuantWithMinMaxArgs", _fake_args, types=())


spec("FakeQuantWithMinMaxVars", _fake_vars, types=(), mutate=("dtype",))


spec("FakeQuantWithMinMaxVarsPerChannel", _fake_channels, types=(), mutate=("dtype",))
