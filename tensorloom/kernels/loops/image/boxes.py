"""Choice of boxes by their scores, each compared with those chosen before it."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop, machine_loop


@loop
def table_of(boxes: Any) -> Any:
    """Tops, lefts, bottoms, rights and areas of [n, 4] corners: [n, 5] float32."""
    table = np.empty((len(boxes), 5), np.float32)
    for i in range(len(boxes)):
        for axis in range(2):
            # Unlike `min` they let NaN through: such a box has no area.
            table[i, axis] = np.minimum(boxes[i, axis], boxes[i, axis + 2])
            table[i, axis + 2] = np.maximum(boxes[i, axis], boxes[i, axis + 2])
        height, width = table[i, 2] - table[i, 0], table[i, 3] - table[i, 1]
        table[i, 4] = height * width
    return table


@loop
def _overlap(table: Any, i: int, j: int) -> Any:
    """Intersection over union; 0 for boxes without an area."""
    zero = np.float32(0)
    height = min(table[i, 2], table[j, 2]) - max(table[i, 0], table[j, 0])
    width = min(table[i, 3], table[j, 3]) - max(table[i, 1], table[j, 1])
    if not (table[i, 4] > zero and table[j, 4] > zero):
        return zero
    if height <= zero or width <= zero:
        return zero
    common = height * width
    return common / (table[i, 4] + table[j, 4] - common)


@loop
def select(table: Any, order: Any, most: int, share: Any) -> Any:
    """The candidates that no chosen one overlaps by a share or more, int32.

    Args:
      table: of `table_of`.
      order: int64, candidates from the best on, each a row of the table.
      most: how many at most.
      share: float32.
    """
    chosen = np.empty(min(most, len(order)), np.int32)
    count = 0
    for candidate in order:
        if count == len(chosen):
            break
        if _stays(table, candidate, chosen[:count], share, True):
            chosen[count] = candidate
            count += 1
    return chosen[:count]


@loop
def _stays(table: Any, candidate: int, chosen: Any, share: Any, reaching: bool) -> bool:
    # The last one first: neighbours in the order are often so in the picture.
    for k in range(len(chosen) - 1, -1, -1):
        overlap = _overlap(table, candidate, chosen[k])
        if overlap > share or (reaching and overlap == share):
            return False
    return True


@loop
def select_of_class(table: Any, scores: Any, most: int, share: Any, least: Any) -> Any:
    """The same for few boxes of many: only those that are looked at are ordered.

    An overlap of the share itself is not too much.

    Args:
      scores: float32 [n]; candidates are those above `least`, best first.
    """
    queue = [(-scores[i], i) for i in range(len(scores)) if scores[i] > least]
    heapq.heapify(queue)
    chosen = np.empty(min(most, len(queue)), np.int32)
    count = 0
    while len(queue) and count < len(chosen):
        candidate = heapq.heappop(queue)[1]
        if _stays(table, candidate, chosen[:count], share, False):
            chosen[count] = candidate
            count += 1
    return chosen[:count]


@machine_loop
def select_soft(
    table: Any, scores: Any, order: Any, most: int, bounds: Any
) -> tuple[Any, Any]:
    """(candidates, their scores): each chosen one lowers those that it overlaps.

    A candidate whose score falls goes back to the queue, unless it falls to the
    threshold; one that overlaps too much is dropped.

    Args:
      table, order, most: as in `select`.
      scores: float32, of every box.
      bounds: (overlap that drops, lowest score, -1/2 / sigma), float32.
    """
    share, least, scale = bounds
    chosen = np.empty(min(most, len(order)), np.int32)
    kept = np.empty(len(chosen), np.float32)
    queue = [(-scores[i], i, 0) for i in order]
    heapq.heapify(queue)
    count = 0
    while len(queue) and count < len(chosen):
        negative, index, begin = heapq.heappop(queue)
        first = score = -negative
        dropped = False
        for k in range(count - 1, begin - 1, -1):
            overlap = _overlap(table, index, chosen[k])
            dropped = overlap >= share
            if dropped or score <= least:
                break
            score = score * np.exp(scale * overlap * overlap)
        if dropped:
            continue
        if score == first:
            chosen[count], kept[count] = index, score
            count += 1
        elif score > least:
            heapq.heappush(queue, (-score, index, count))
    return chosen[:count], kept[:count]
