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
    padded = np.full([len(rows), *(shape or ()), max(lengths)], fill, rows[0].dtype)
    for target, row, length in zip(padded, rows, lengths, strict=True):
        target[..., :length] = row
    return padded
