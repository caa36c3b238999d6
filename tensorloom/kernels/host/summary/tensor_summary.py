"""Summaries of tensors with the first and last elements of each axis, as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.host.control_flow.control_flow import summarize_element


def summarize_edges(value: Any, limit: int) -> bytes:
    """`[1 2 3 ... 8 9 10]`: `limit` elements at each end of an axis; -1 for all."""
    array = np.asarray(value)
    if not array.ndim:
        item = array.item() if array.dtype != object else array[()]
        return _element(item, array.dtype).encode()
    return _axis(array, limit, 0).encode()


def _axis(array: Any, limit: int, depth: int) -> str:
    size = array.shape[0]
    edges = size if limit < 0 or size <= 2 * limit else limit
    numbers = [*range(edges), *range(max(edges, size - edges), size)]
    if array.ndim == 1:
        shown = [_element(x, array.dtype) for x in array[numbers].tolist()]
        joint = " "
    else:
        shown = [_axis(array[i], limit, depth + 1) for i in numbers]
        joint = "\n" * (array.ndim - 1) + " " * (depth + 1)
    if edges < size:
        shown.insert(edges, "...")
    return "[" + joint.join(shown) + "]"


def _element(item: Any, dtype: Any) -> str:
    text = summarize_element(item, dtype)
    return f'"{text}"' if isinstance(item, bytes) else text
