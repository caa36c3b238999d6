"""BipartiteMatch in host memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text


class _Pair:
    """A row and a column in a heap, which knows their distance alone.

    Which of two equal distances comes first (and where NaN comes) is thus up to the
    heap, as in TensorFlow: C++'s priority queue and `heapq` move elements alike.
    """

    __slots__ = ("distance", "place")

    def __init__(self, distance: float, place: int) -> None:
        self.distance = distance
        self.place = place

    def __lt__(self, other: _Pair) -> bool:
        return self.distance < other.distance


def _nearest_first(distances: Any) -> Iterator[int]:
    """The places of the elements of a vector, the smallest first."""
    ordered = np.sort(distances)
    if (ordered[1:] > ordered[:-1]).all() and not np.isnan(ordered[-1:]).any():
        yield from np.argsort(distances).tolist()
        return
    heap: list[_Pair] = []
    for place, distance in enumerate(distances.tolist()):
        heapq.heappush(heap, _Pair(distance, place))
    while heap:
        yield heapq.heappop(heap).place


def _valid_rows(value: Any, rows: int) -> int:
    """How many rows take part; a negative number stands for all of them."""
    wanted = float(value)
    # C makes the least integer of what is not a number.
    count = -1 if np.isnan(wanted) or wanted < 0 else int(min(wanted, 2**31))
    if count > rows:
        raise invalid_argument(
            f"There should be at least {count} rows in distance_mat, but only got "
            f"{rows} rows."
        )
    return rows if count < 0 else count


@host_kernel("BipartiteMatch", large=True)
def bipartite_match(c: OpKernelConstruction) -> Compute:
    """The nearest pair of what is left, again and again."""
    top_k = c["top_k"]

    def compute(distances: Any, num_valid_rows: Any) -> Any:
        if np.size(num_valid_rows) != 1:
            raise invalid_argument(
                "num_valid_rows argument should be a tensor with 1 element, but got "
                f"{np.size(num_valid_rows)}"
            )
        if distances.ndim != 2:
            raise invalid_argument(
                "distance_mat should be 2-dimensional, but got "
                f"{shape_text(distances.shape)}"
            )
        rows, columns = distances.shape
        valid = _valid_rows(np.reshape(num_valid_rows, ()), rows)
        of_row, of_column = [-1] * rows, [-1] * columns
        left = min(valid, columns)
        if top_k > 0:
            left = min(left, top_k)
        places = _nearest_first(distances[:valid].reshape(-1))
        while left:
            row, column = divmod(next(places), columns)
            if of_row[row] < 0 and of_column[column] < 0:
                of_row[row], of_column[column] = column, row
                left -= 1
        return np.array(of_row, np.int32), np.array(of_column, np.int32)

    return compute
