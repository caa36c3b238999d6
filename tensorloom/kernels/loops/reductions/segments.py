"""Rows of a matrix brought together by the number of their segment.

In all of these `data` is [n, m], `ids` int64 [n], and `out` [segments, m] of the dtype
of `data`. Each id is less than the number of segments; a row with a negative one counts
nowhere. Rows of one element have a loop of their own: it takes half the time.
"""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def add(out: Any, data: Any, ids: Any) -> None:
    """out[ids[i]] += data[i], for each i in turn."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                out[ids[i], 0] += data[i, 0]
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                out[row, j] += data[i, j]


@loop
def add_gathered(out: Any, data: Any, indices: Any, ids: Any) -> None:
    """out[ids[i]] += data[indices[i]], for each i in turn.

    Args:
      out: [segments, m].
      data: [rows, m].
      indices: int64, [n], each in [0, rows).
      ids: int64, [n].
    """
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                out[ids[i], 0] += data[indices[i], 0]
        return
    for i in range(len(ids)):
        row, source = ids[i], indices[i]
        if row >= 0:
            for j in range(data.shape[1]):
                out[row, j] += data[source, j]


@loop
def multiply(out: Any, data: Any, ids: Any) -> None:
    """out[ids[i]] *= data[i], for each i in turn."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                out[ids[i], 0] *= data[i, 0]
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                out[row, j] *= data[i, j]


@loop
def latest_maxima(out: Any, data: Any, ids: Any) -> None:
    """The greatest of `out` and of the rows; what follows a NaN takes its place."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                best, value = out[ids[i], 0], data[i, 0]
                out[ids[i], 0] = best if best > value else value
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                best, value = out[row, j], data[i, j]
                out[row, j] = best if best > value else value


@loop
def latest_minima(out: Any, data: Any, ids: Any) -> None:
    """The least of `out` and of the rows; what follows a NaN takes its place."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                best, value = out[ids[i], 0], data[i, 0]
                out[ids[i], 0] = best if best < value else value
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                best, value = out[row, j], data[i, j]
                out[row, j] = best if best < value else value


@loop
def maxima(out: Any, data: Any, ids: Any) -> None:
    """The greatest of `out` and of the rows; it passes over NaN."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                best, value = out[ids[i], 0], data[i, 0]
                out[ids[i], 0] = value if value > best else best
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                best, value = out[row, j], data[i, j]
                out[row, j] = value if value > best else best


@loop
def minima(out: Any, data: Any, ids: Any) -> None:
    """The least of `out` and of the rows; it passes over NaN."""
    if data.shape[1] == 1:
        for i in range(len(ids)):
            if ids[i] >= 0:
                best, value = out[ids[i], 0], data[i, 0]
                out[ids[i], 0] = value if value < best else best
        return
    for i in range(len(ids)):
        row = ids[i]
        if row >= 0:
            for j in range(data.shape[1]):
                best, value = out[row, j], data[i, j]
                out[row, j] = value if value < best else best


@loop
def count(counts: Any, ids: Any) -> None:
    """counts[ids[i]] += 1, for each i whose id is not negative."""
    for i in range(len(ids)):
        if ids[i] >= 0:
            counts[ids[i]] += 1
