"""Specs of Cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.products import PRODUCTS

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def cross(d: Draw) -> Any:
    shape = (*d.shape(0, 2), 3)
    return d.array(shape), d.array(shape)


spec(
    "Cross", cross, tolerance=PRODUCTS, bad=(lambda d: (d.array((2,)), d.array((2,))),)
)
