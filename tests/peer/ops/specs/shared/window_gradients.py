"""Parts of specs that several families use: drawn_image, drawn_moves, drawn_volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


PADDINGS = ("SAME", "VALID")


def _out(size: int, window: int, stride: int, padding: str) -> int:
    """The size of an axis after a window went over it."""
    return -(-size // stride) if padding == "SAME" else (size - window) // stride + 1


def drawn_volume(d: Draw, low: int = 4) -> tuple[int, ...]:
    return (d.integer(1, 2), *(d.integer(low, 6) for _ in range(3)), d.integer(1, 3))


def drawn_moves(
    d: Draw, shape: tuple[int, ...]
) -> tuple[list[int], list[int], str, list[int]]:
    """A window, strides, padding and the sizes of the output without its depth."""
    window = [d.integer(1, 3) for _ in shape[1:-1]]
    strides = [d.integer(1, 2) for _ in shape[1:-1]]
    padding = d.choice(PADDINGS)
    out = [
        _out(*one, padding) for one in zip(shape[1:-1], window, strides, strict=True)
    ]
    return window, strides, padding, [shape[0], *out]


def drawn_image(d: Draw, depth: int = 2) -> tuple[int, ...]:
    return (d.integer(1, 2), d.integer(5, 8), d.integer(5, 8), depth)
