"""Specs of AvgPool3D, FractionalAvgPool, FractionalMaxPool, MaxPool3D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.windows import (
    PADDINGS,
    drawn_image,
    drawn_strides,
    drawn_volume,
)


def _pool3d(d: Draw) -> Any:
    return call(
        drawn_volume(d),
        ksize=[1, *(d.integer(1, 3) for _ in range(3)), 1],
        strides=drawn_strides(d),
        padding=d.choice(PADDINGS),
    )


spec("AvgPool3D MaxPool3D", _pool3d, mutate=("rank", "dtype"))


def _fractional(d: Draw) -> Any:
    return call(
        drawn_image(d, 2),
        pooling_ratio=[1.0, 1.44, 1.73, 1.0],
        pseudo_random=d.maybe(0.5),
        overlapping=d.maybe(0.5),
        deterministic=True,
        seed=3,
        seed2=5,
    )


spec("FractionalMaxPool FractionalAvgPool", _fractional, mutate=("rank", "dtype"))
