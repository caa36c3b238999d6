"""The largest elements of rows, few of many."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def find_largest(rows: Any, best: Any, places: Any) -> bool:
    """The largest elements of each row, descending; of equal ones the first.

    Args:
      rows: [m, n].
      best: [m, k], k <= n, of the same dtype, written.
      places: int32 [m, k], where they are in their rows, written.

    Returns:
      Whether that is so; there is a NaN otherwise.
    """
    last = best.shape[1] - 1
    for row in range(len(rows)):
        for i in range(rows.shape[1]):
            value = rows[row, i]
            if value != value:
                return False
            if i > last:
                if value <= best[row, last]:
                    continue
                at = last
            else:
                at = i
            while at > 0 and value > best[row, at - 1]:
                best[row, at] = best[row, at - 1]
                places[row, at] = places[row, at - 1]
                at -= 1
            best[row, at] = value
            places[row, at] = i
    return True
