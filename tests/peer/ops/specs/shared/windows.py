"""Parts of specs that several families use: PADDINGS, drawn_image, drawn_strides, dr."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


PADDINGS = ("SAME", "VALID")


def drawn_volume(d: Draw) -> Any:
    sizes = [d.integer(4, 6) for _ in range(3)]
    return d.array((d.integer(1, 3), *sizes, d.integer(1, 3)))


def drawn_strides(d: Draw) -> list[int]:
    return [1, *(d.integer(1, 2) for _ in range(3)), 1]


def drawn_image(d: Draw, depth: int) -> Any:
    return d.array((d.integer(1, 3), d.integer(5, 8), d.integer(5, 8), depth))
