"""Pools of integer images [batch, height, width, channels].

A window's elements outside of its image count for nothing. Rows of the result are
numbered through the whole batch; those from `begin` to `end` are filled in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def maxima(
    images: Any, window: Any, stride: Any, before: Any, begin: Any, end: Any, out: Any
) -> None:
    """The greatest of each window.

    Args:
      window, stride: (rows, columns).
      before: how far the first window begins before the image.
      out: [batch, rows, columns, channels] of the images' dtype.
    """
    height, width = images.shape[1:3]
    for number in range(begin, end):
        image, y = number // out.shape[1], number % out.shape[1]
        top, bottom = _ends(y, stride[0], before[0], window[0], height)
        for x in range(out.shape[2]):
            left, right = _ends(x, stride[1], before[1], window[1], width)
            best = out[image, y, x]
            best[:] = 0
            for row in range(top, bottom):
                for column in range(left, right):
                    pixel = images[image, row, column]
                    if row == top and column == left:
                        best[:] = pixel
                    else:
                        for i in range(len(best)):
                            best[i] = max(best[i], pixel[i])


@loop
def means(
    images: Any, window: Any, stride: Any, before: Any, begin: Any, end: Any, out: Any
) -> None:
    """The mean of each window, cut to a whole number; arguments as in `maxima`."""
    height, width, channels = images.shape[1:]
    totals = np.empty(channels)
    for number in range(begin, end):
        image, y = number // out.shape[1], number % out.shape[1]
        top, bottom = _ends(y, stride[0], before[0], window[0], height)
        for x in range(out.shape[2]):
            left, right = _ends(x, stride[1], before[1], window[1], width)
            totals[:] = 0
            for row in range(top, bottom):
                for column in range(left, right):
                    pixel = images[image, row, column]
                    for i in range(channels):
                        totals[i] += pixel[i]
            count = np.float64(max((bottom - top) * (right - left), 1))
            mean = out[image, y, x]
            for i in range(channels):
                mean[i] = np.int32(totals[i] / count)


@loop
def _ends(place: Any, stride: Any, before: Any, window: Any, size: Any) -> Any:
    """Where a window begins and ends within an image of a size."""
    begin = place * stride - before
    return max(begin, 0), min(begin + window, size)
