"""Rows of different lengths, filled up to the longest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def pad_rows(rows: Sequence[Any], fill: Any = 0) -> Any:
    """Rows whose last dimensions differ as one array; as they are if none differs.

    Raises:
      ValueError: other dimensions differ.
    """
    shapes = {row.shape[:-1] if row.ndim else None for row in rows}
    if len(shapes) > 1:
        raise ValueError(f"Array shapes must match; got {sorted(map(str, shapes))}.")
    lengths = [row.shape[-1] if row.ndim else 0 for row in rows]
    if len(set(lengths)) == 1:
        return rows
    (shape,) = shapes
    padded = np.empty([len(rows), *(shape or ()), max(lengths)], rows[0].dtype)
    fill_rows(padded, rows, fill)
    return padded


def fill_rows(array: Any, rows: Sequence[Any], fill: Any = 0) -> None:
    """Writes rows into an array whose last dimension may be longer; `fill` behind."""
    array[...] = fill
    for target, row in zip(array, rows, strict=True):
        values = np.asarray(row)
        target[..., : values.shape[-1]] = values
