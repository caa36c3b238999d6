"""The largest elements of rows, few of many."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def find_largest(rows: Any, best: Any, places: Any) -> bool:
    """Where the largest elements of each row are, descending; of equal ones the first.

    Args:
      rows: [m, n].
      best: [k], k <= n, of the same dtype: room for the largest of a row.
      places: int32 [m, k], written.

    Returns:
      Whether that is so; there is a NaN otherwise.
    """
    last = len(best) - 1
    for row in range(len(rows)):
        for i in range(rows.shape[1]):
            value = rows[row, i]
            if value != value:
                return False
            if i > last:
                if value <= best[last]:
                    continue
                at = last
            else:
                at = i
            while at > 0 and value > best[at - 1]:
                best[at] = best[at - 1]
                places[row, at] = places[row, at - 1]
                at -= 1
            best[at] = value
            places[row, at] = i
    return True
