"""Specs of Conv3D, Dilation2D."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.windows import (
    PADDINGS,
    drawn_image,
    drawn_strides,
    drawn_volume,
)

_PRODUCTS = Tolerance(1e-4, 1e-5, reason="sums of products in another order")


def _conv3d(d: Draw) -> Any:
    volume = drawn_volume(d)
    window = [d.integer(1, 3) for _ in range(3)]
    filters = d.array((*window, volume.shape[4], d.integer(1, 4)))
    return call(volume, filters, strides=drawn_strides(d), padding=d.choice(PADDINGS))


spec("Conv3D", _conv3d, tolerance=_PRODUCTS, mutate=("rank", "dtype"))


def _dilation(d: Draw) -> Any:
    depth = d.integer(1, 3)
    return call(
        drawn_image(d, depth),
        d.array((d.integer(1, 3), d.integer(1, 3), depth)),
        strides=[1, d.integer(1, 2), d.integer(1, 2), 1],
        rates=[1, 1, 1, 1],
        padding=d.choice(PADDINGS),
    )


spec("Dilation2D", _dilation, mutate=("rank", "dtype"))
