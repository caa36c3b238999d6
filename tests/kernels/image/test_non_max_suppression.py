"""Boxes chosen some at a time are those that are chosen one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.image.non_max_suppression import (
    _box_overlap as box_overlap,
)
from tensorloom.kernels.host.image.non_max_suppression import (
    _select_soft as select_soft,
)
from tensorloom.kernels.host.image.non_max_suppression import falling_order


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


def _crowded(count: int) -> tuple[Any, Any]:
    """Boxes that overlap, some without an area or not numbers, and their scores."""
    random = np.random.RandomState(count)
    corners = random.rand(count, 2) * 3
    boxes = np.concatenate([corners, corners + random.rand(count, 2) * 3], 1)
    boxes[::7, 2], boxes[3::50, 1] = boxes[::7, 0], np.nan
    scores = random.randint(0, 30, count) / 30
    return boxes.astype(np.float32), scores.astype(np.float32)


@pytest.mark.parametrize("count", [0, 1, 100])
@pytest.mark.parametrize("sigma", [0.1, 0.5])
@pytest.mark.parametrize(("most", "share", "least"), [(5, 0.9, 0.2), (200, 1.0, 0.05)])
def test_softly_chosen(
    count: int, sigma: float, most: int, share: float, least: float
) -> None:
    boxes, scores = _crowded(count)
    limits = np.float32(share), np.float32(least), np.float32(sigma)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.raw_ops.NonMaxSuppressionV5(
                boxes=boxes,
                scores=scores,
                max_output_size=most,
                iou_threshold=limits[0],
                score_threshold=limits[1],
                soft_nms_sigma=limits[2],
            )
        )
    with np.errstate(all="ignore"):
        expected = select_soft(box_overlap(boxes), scores, most, *limits)
    assert found[0].tolist() == expected[0].tolist()
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)


@pytest.mark.parametrize("classes_of_boxes", [1, 3])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_of_all_classes(classes_of_boxes: int, share: float) -> None:
    boxes = np.stack([_crowded(60 + i)[0][:60] for i in range(classes_of_boxes)], 1)
    scores = np.stack([_crowded(70 + i)[1][:60] for i in range(3)], 1)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.raw_ops.CombinedNonMaxSuppression(
                boxes=boxes[None],
                scores=scores[None],
                max_output_size_per_class=9,
                max_total_size=40,
                iou_threshold=share,
                score_threshold=0.3,
                clip_boxes=False,
            )
        )
    best = []
    for i in range(3):
        mine = boxes[:, i % classes_of_boxes]
        # Here an overlap of the threshold itself is not too much.
        just_above = float(np.nextafter(np.float32(share), np.float32(1)))
        chosen = one_by_one(mine, scores[:, i], 9, just_above, 0.3)
        best += [(-scores[j, i], i, mine[j].tolist()) for j in chosen]
    best.sort(key=lambda item: item[0])
    count = found[3][0]
    assert count == len(best)
    assert (-found[1][0, :count]).tolist() == [item[0] for item in best]
    assert found[2][0, :count].tolist() == [item[1] for item in best]
    np.testing.assert_array_equal(found[0][0, :count], [item[2] for item in best])


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
