"""Images of another size, and the gradients of that.

Images are [batch, height, width, channels]. An axis is made of old positions, which the
caller has checked, and weights: int64 and float32 [new] or [new, taps]. Rows of the
result are numbered through the whole batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_FEW_CHANNELS = 8  # more are mixed side by side


@loop
def bilinear(
    images: Any, rows: Any, columns: Any, begin: Any, end: Any, out: Any
) -> None:
    """Between the two nearest pixels of a row, then between two such rows.

    Args:
      rows: (above, below, how far from above) of each new row.
      columns: (left, right, how far from left) of each new column.
      begin: the first row to be filled in.
      end: the row after the last one.
      out: float32.
    """
    (tops, bottoms, downs), old_height = rows, images.shape[1]
    height, width, channels = out.shape[1:]
    upper = np.empty((width, channels), np.float32)
    lower = np.empty((width, channels), np.float32)
    in_upper = in_lower = -1  # what they hold, numbered as the old rows
    for number in range(begin, end):
        image, y = number // height, number % height
        top, bottom = image * old_height + tops[y], image * old_height + bottoms[y]
        if in_upper != top and in_lower == top:
            upper, lower = lower, upper
            in_upper, in_lower = in_lower, in_upper
        if in_upper != top:
            _across(images[image, tops[y]], columns, upper)
            in_upper = top
        if in_lower != bottom:
            _across(images[image, bottoms[y]], columns, lower)
            in_lower = bottom
        mixed, down = out[image, y].reshape(-1), downs[y]
        a, b = upper.reshape(-1), lower.reshape(-1)
        for i in range(len(mixed)):
            mixed[i] = a[i] + (b[i] - a[i]) * down


@loop
def _across(row: Any, columns: Any, out: Any) -> None:
    lefts, rights, shares = columns
    width, channels = out.shape
    if channels == 3:
        for x in range(width):
            left, right, share = lefts[x], rights[x], shares[x]
            for k in range(3):
                start = np.float32(row[left, k])
                out[x, k] = start + (np.float32(row[right, k]) - start) * share
    else:
        for x in range(width):
            a, b, share = row[lefts[x]], row[rights[x]], shares[x]
            for k in range(channels):
                start = np.float32(a[k])
                out[x, k] = start + (np.float32(b[k]) - start) * share


@loop
def weighted(
    images: Any, rows: Any, columns: Any, begin: Any, end: Any, out: Any
) -> None:
    """Weighted sums of rows, then of their pixels.

    Args:
      rows: (positions, weights) of each new row.
      columns: the same of each new column.
      begin, end, out: as in `bilinear`.
    """
    (tops, downs), (lefts, shares) = rows, columns
    height = out.shape[1]
    summed = np.empty(images.shape[2:], np.float32)
    for number in range(begin, end):
        image, y = number // height, number % height
        summed[:] = 0
        total = summed.reshape(-1)
        for k in range(tops.shape[1]):
            row, weight = images[image, tops[y, k]].reshape(-1), downs[y, k]
            for i in range(len(total)):
                total[i] += np.float32(row[i]) * weight
        _sum_pixels(summed, lefts, shares, out[image, y])


@loop
def _sum_pixels(row: Any, lefts: Any, shares: Any, out: Any) -> None:
    taps, channels = lefts.shape[1], row.shape[1]
    if channels == 3:
        for x in range(len(out)):
            red = green = blue = np.float32(0)
            for k in range(taps):
                left, share = lefts[x, k], shares[x, k]
                red += row[left, 0] * share
                green += row[left, 1] * share
                blue += row[left, 2] * share
            out[x, 0], out[x, 1], out[x, 2] = red, green, blue
    elif channels < _FEW_CHANNELS:
        for x in range(len(out)):
            for i in range(channels):
                total = np.float32(0)
                for k in range(taps):
                    total += row[lefts[x, k], i] * shares[x, k]
                out[x, i] = total
    else:
        for x in range(len(out)):
            total_of, share = out[x], shares[x, 0]
            pixel = row[lefts[x, 0]]
            for i in range(channels):
                total_of[i] = pixel[i] * share
            for k in range(1, taps):
                pixel, share = row[lefts[x, k]], shares[x, k]
                for i in range(channels):
                    total_of[i] += pixel[i] * share


@loop
def spread(grads: Any, rows: Any, columns: Any, begin: Any, end: Any, out: Any) -> None:
    """The transpose of `weighted`, for the images from `begin` to `end`.

    out: zeros of the gradients' dtype.
    """
    (tops, downs), (lefts, shares) = rows, columns
    row = np.empty(out.shape[2:], out.dtype)
    for image in range(begin, end):
        for y in range(grads.shape[1]):
            row[:] = 0
            _spread_pixels(grads[image, y], lefts, shares, row)
            added = row.reshape(-1)
            for k in range(tops.shape[1]):
                total, weight = out[image, tops[y, k]].reshape(-1), downs[y, k]
                for i in range(len(total)):
                    total[i] += added[i] * weight


@loop
def _spread_pixels(grad: Any, lefts: Any, shares: Any, row: Any) -> None:
    for x in range(len(grad)):
        pixel = grad[x]
        for k in range(lefts.shape[1]):
            total, share = row[lefts[x, k]], shares[x, k]
            for i in range(len(total)):
                total[i] += pixel[i] * share


@loop
def add_nearest(
    grads: Any, rows: Any, columns: Any, begin: Any, end: Any, out: Any
) -> None:
    """Adds each gradient at its row and column, for the images from `begin` to `end`.

    Args:
      rows, columns: int64, positions alone.
      out: zeros of the gradients' dtype; integers that do not fit wrap around.
    """
    for image in range(begin, end):
        for y in range(grads.shape[1]):
            total = out[image, rows[y]]
            for x in range(grads.shape[2]):
                pixel, sums = grads[image, y, x], total[columns[x]]
                for i in range(len(pixel)):
                    sums[i] += pixel[i]
