"""Boxes chosen some at a time are those that are chosen one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.non_max_suppression_ops import falling_order


def overlap(a: Any, b: Any) -> Any:
    """Intersection over union of two boxes; 0 where one has no area."""
    sides = np.sort([a.reshape(2, 2), b.reshape(2, 2)], axis=1)
    areas = np.prod(sides[:, 1] - sides[:, 0], axis=1)
    if not (areas > 0).all():
        return np.float32(0)
    low, high = sides[:, 0].max(axis=0), sides[:, 1].min(axis=0)
    common = np.prod(np.maximum(high - low, np.float32(0)))
    return common / (areas[0] + areas[1] - common)


def one_by_one(boxes: Any, scores: Any, most: int, share: float, least: float) -> Any:
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if len(chosen) == most or not scores[i] > least:
            break
        if all(overlap(boxes[i], boxes[j]) < np.float32(share) for j in chosen):
            chosen.append(i)
    return chosen


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 3000])
def test_best_scores_first(count: int, dtype: str) -> None:
    random = np.random.RandomState(count)
    special = [0.0, -0.0, np.inf, -np.inf, 1.5, -1.5, 6e-8, -6e-8, 3e4, 0.1]
    values = np.array(special, dtype)[random.randint(0, len(special), count)]
    found = falling_order(values)
    assert found.tolist() == np.argsort(-values, kind="stable").tolist()


@pytest.mark.parametrize("flat", [0, 3], ids=["areas", "some without"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 200])
@pytest.mark.parametrize(
    ("most", "share", "least"),
    [(0, 0.5, -1.0), (5, 0.5, 0.2), (70, 0.5, -1.0), (300, 1.0, 0.1), (9, 0.0, -1.0)],
)
def test_chosen(count: int, flat: int, most: int, share: float, least: float) -> None:
    random = np.random.RandomState(count)
    corners = random.rand(count, 2) * 8
    boxes = np.concatenate([corners, corners + random.rand(count, 2) * 3], 1)
    boxes[: 5 * flat : 2, 2] = boxes[: 5 * flat : 2, 0]
    boxes[::3] = boxes[::3, [2, 3, 0, 1]]  # corners in either order
    boxes = boxes.astype(np.float32)
    scores = (random.randint(0, 30, count) / 30).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.image.non_max_suppression(boxes, scores, most, share, least)
        )
    assert found.tolist() == one_by_one(boxes, scores, most, share, np.float32(least))
