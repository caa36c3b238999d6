"""Specs of PeriodicResample, PeriodicResampleOpGrad, Resampler, ResamplerGrad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance, call
from tests.peer.ops.specs.shared.contrib_ops import alone_spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- images ------------------------------------------------------------------------


def _points(d: Draw) -> tuple[Any, Any]:
    batch, height, width = (d.integer(1, 3), d.integer(1, 5), d.integer(1, 5))
    images = d.array((batch, height, width, d.integer(1, 3)), low=-3, high=3)
    shape = (batch, *d.shape(0, 2, 3, empty=0), 2)
    # Away from whole numbers, where a gradient jumps.
    places = np.round(d.rng.uniform(-2, 6, shape) * 4) / 4 + 0.125
    return images, places.astype(images.dtype)


def _resampled(d: Draw) -> Any:
    return _points(d)


def _resampled_grad(d: Draw) -> Any:
    images, places = _points(d)
    return images, places, d.array((*places.shape[:-1], images.shape[-1]))


_RESAMPLED = Tolerance(2e-2, 2e-2, "16-bit sums that TensorFlow rounds at each step")


alone_spec(
    "Resampler",
    _resampled,
    types=["float32", "float64"],
    gradient=True,
    mutate=("rank", "dtype"),
    bad=(
        lambda d: (d.array((2, 3, 3, 1)), d.array((1, 4, 2))),
        lambda d: (d.array((2, 3, 3, 1)), d.array((2, 4, 3))),
        lambda d: (d.array((2, 3, 3, 1)), d.array((2,))),
        lambda d: (d.array((3, 3, 1)), d.array((3, 2))),
    ),
)


alone_spec(
    "ResamplerGrad",
    _resampled_grad,
    types=["float16", "float32", "float64"],
    tolerance=_RESAMPLED,
    mutate=("dtype",),
    bad=(lambda d: (d.array((2, 3, 3, 1)), d.array((2, 4, 2)), d.array((2, 3, 1))),),
)


def _periods(d: Draw) -> tuple[Any, list[int]]:
    others = [d.integer(1, 3) for _ in range(d.integer(0, 2))]
    grown = [size * d.integer(1, 3) for size in others]
    at = d.integer(0, len(others))
    shape = [*others[:at], d.integer(9, 12), *others[at:]]
    return d.array(shape), [*grown[:at], -1, *grown[at:]]


def _resample(d: Draw) -> Any:
    values, shape = _periods(d)
    return call(values, shape=shape)


_PERIODIC = ["float32", "float64", "int32", "int64"]


alone_spec(
    "PeriodicResample",
    _resample,
    types=_PERIODIC,
    examples=6,
    mutate=("dtype",),
    bad=(
        lambda d: call(d.array((4, 4)), shape=[-1, 2]),
        lambda d: call(d.array((4, 4)), shape=[-1, -1]),
        lambda d: call(d.array((4, 4)), shape=[4, 4]),
        lambda d: call(d.array((4, 4)), shape=[-1, 2, 2]),
        lambda d: call(d.array((4, 4)), shape=[17, -1]),
    ),
)


def _periodic_grad(d: Draw) -> Any:
    return call(d.array((2, 8)), original_shape=[4, 4], desired_shape=[-1, 8])


alone_spec("PeriodicResampleOpGrad", _periodic_grad, types=_PERIODIC)
