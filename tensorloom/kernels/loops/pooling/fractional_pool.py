"""Pooling over regions of unequal sizes, whose starts are given.

Region y of an axis goes from `starts[y]` to `starts[y + 1]`, one further where regions
overlap, and no further than the axis. Images are [batch, height, width, channels];
rows and columns are int64, rising in [0, height] and [0, width], one longer than what
is pooled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def maxima(value: Any, rows: Any, columns: Any, overlap: int, out: Any) -> None:
    """out = the greatest of each region, NaN where there is one; 0 of no elements."""
    batch, height, width, channels = value.shape
    out[:] = 0
    for b in range(batch):
        for y in range(len(rows) - 1):
            for x in range(len(columns) - 1):
                best = out[b, y, x]
                first = True
                for r in range(rows[y], min(rows[y + 1] + overlap, height)):
                    for q in range(columns[x], min(columns[x + 1] + overlap, width)):
                        for c in range(channels):
                            number = value[b, r, q, c]
                            # Only a NaN is not itself.
                            if first or number > best[c] or number != number:
                                best[c] = number
                        first = False


@loop
def means(
    value: Any, rows: Any, columns: Any, overlap: int, total: Any, out: Any
) -> None:
    """out = the mean of each region, without a fraction if integers.

    Args:
      total: [channels] to compute with, of floats' dtype or int64.
    """
    batch, height, width, channels = value.shape
    for b in range(batch):
        for y in range(len(rows) - 1):
            for x in range(len(columns) - 1):
                total[:] = 0
                count = 0
                for r in range(rows[y], min(rows[y + 1] + overlap, height)):
                    for q in range(columns[x], min(columns[x + 1] + overlap, width)):
                        for c in range(channels):
                            total[c] += value[b, r, q, c]
                        count += 1
                for c in range(channels):
                    out[b, y, x, c] = total[c] / max(count, 1)


@loop
def add_to_maxima(
    value: Any, grad: Any, rows: Any, columns: Any, sizes: Any, best: Any, out: Any
) -> None:
    """out += grad where each region has its greatest element, the first of them.

    Args:
      value, out: [batch, height * width, channels].
      sizes: (height, width, how far regions overlap).
      best: [channels] of the values' dtype to compute with.
    """
    height, width, overlap = sizes
    batch, _, channels = value.shape
    place = np.empty(channels, np.int64)
    for b in range(batch):
        for y in range(len(rows) - 1):
            for x in range(len(columns) - 1):
                begin = rows[y] * width + columns[x]
                place[:] = begin
                best[:] = value[b, begin]
                for r in range(rows[y], min(rows[y + 1] + overlap, height)):
                    for q in range(columns[x], min(columns[x + 1] + overlap, width)):
                        here = r * width + q
                        for c in range(channels):
                            number = value[b, here, c]
                            better = number > best[c] or (
                                number != number and best[c] == best[c]
                            )
                            best[c] = number if better else best[c]
                            place[c] = here if better else place[c]
                for c in range(channels):
                    out[b, place[c], c] += grad[b, y, x, c]


@loop
def spread(grad: Any, rows: Any, columns: Any, overlap: int, out: Any) -> None:
    """out += an equal share of its gradient for each element of a region.

    Args:
      out: float64.
    """
    batch, height, width, channels = out.shape
    for b in range(batch):
        for y in range(len(rows) - 1):
            bottom = min(rows[y + 1] + overlap, height)
            for x in range(len(columns) - 1):
                right = min(columns[x + 1] + overlap, width)
                count = (bottom - rows[y]) * (right - columns[x])
                for r in range(rows[y], bottom):
                    for q in range(columns[x], right):
                        for c in range(channels):
                            out[b, r, q, c] += grad[b, y, x, c] / count
