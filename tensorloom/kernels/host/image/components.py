"""ImageConnectedComponents in host memory.

A union-find over blocks of pixels whose sides double: blocks do not touch, so one array
operation joins the pixels at the same place of all seams. The root of an area, from
which it has its number, depends on the order of the unions, which is TensorFlow's:
seams between left and right from the top down, then those between top and bottom.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


class _Areas:
    """A forest of pixels, numbered through the batch."""

    def __init__(self, count: int) -> None:
        self._parents = np.arange(count)
        self._ranks = np.zeros(count, np.int64)

    def roots(self, pixels: Any) -> Any:
        """The root of each pixel."""
        while True:
            above = self._parents[pixels]
            if (above == pixels).all():
                return pixels
            pixels = above

    def unite(self, first: Any, second: Any) -> None:
        """Joins pairs of which no two lie in one area."""
        first, second = self.roots(first), self.roots(second)
        apart = first != second
        first, second = first[apart], second[apart]
        is_lower = self._ranks[first] < self._ranks[second]
        parents = np.where(is_lower, first, second)
        self._parents[np.where(is_lower, second, first)] = parents
        self._ranks[parents] += ~is_lower


def _components(images: Any) -> Any:
    height, width = images.shape[1:]
    shown = images != (b"" if images.dtype == object else 0)
    shown = shown.astype(bool)
    right = (images[:, :, :-1] == images[:, :, 1:]).astype(bool) & shown[:, :, 1:]
    down = (images[:, :-1] == images[:, 1:]).astype(bool) & shown[:, 1:]
    numbers = np.arange(images.size).reshape(images.shape)
    areas = _Areas(images.size)
    side = 1
    while side < height or side < width:
        seams = slice(side - 1, None, 2 * side)
        for step in range(min(2 * side, height)):
            lines = slice(step, None, 2 * side)
            pixels = numbers[:, lines, : width - 1][:, :, seams]
            pixels = pixels[right[:, lines, seams]]
            areas.unite(pixels, pixels + 1)
        for step in range(min(2 * side, width)):
            lines = slice(step, None, 2 * side)
            pixels = numbers[:, : height - 1, lines][:, seams]
            pixels = pixels[down[:, seams, lines]]
            areas.unite(pixels, pixels + width)
        side *= 2
    return np.where(shown, areas.roots(numbers.reshape(-1)).reshape(shown.shape) + 1, 0)


@host_kernel("ImageConnectedComponents", large=True)
def image_connected_components(c: OpKernelConstruction) -> Compute:
    """One more than the number of an area's root pixel."""

    def compute(images: Any) -> Any:
        if images.ndim != 3:
            raise invalid_argument("Input images must have rank 3")
        if not images.size:
            return np.zeros(images.shape, np.int64)
        return _components(images)

    return compute
