"""Host kernels of non-maximum suppression."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument


def _overlaps(box: Any, boxes: Any, areas: Any, area: Any) -> Any:
    """Intersection over union of one box with others; 0 for empty boxes."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    common = np.maximum(sides, 0).prod(axis=1)
    union = area + areas - common
    return np.where((areas > 0) & (area > 0), common / union, 0)


def _select(boxes: Any, scores: Any, most: int, iou: float, least: float) -> Any:
    corners = np.concatenate(
        [
            np.minimum(boxes[:, :2], boxes[:, 2:]),
            np.maximum(boxes[:, :2], boxes[:, 2:]),
        ],
        axis=1,
    ).astype(np.float32)
    areas = (corners[:, 2:] - corners[:, :2]).prod(axis=1)
    order = np.argsort(-scores.astype(np.float32), kind="stable")
    order = order[scores[order] > least]
    chosen: list[int] = []
    while len(order) and len(chosen) < most:
        best = int(order[0])
        chosen.append(best)
        rest = order[1:]
        shares = _overlaps(corners[best], corners[rest], areas[rest], areas[best])
        order = rest[~(shares > np.float32(iou))]
    return np.array(chosen, np.int32)


@host_kernel(
    ["NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3"], large=True
)
def non_max_suppression(c: OpKernelConstruction) -> Compute:
    """Indices of the boxes that stay."""
    fixed = c.get("iou_threshold", 0.5)

    def compute(boxes: Any, scores: Any, most: Any, *thresholds: Any) -> Any:
        iou = float(thresholds[0]) if thresholds else fixed
        least = float(thresholds[1]) if len(thresholds) > 1 else float("-inf")
        if not 0 <= iou <= 1:
            raise invalid_argument("iou_threshold must be in [0, 1]")
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise invalid_argument("boxes must have 4 columns")
        if scores.shape != boxes.shape[:1]:
            raise invalid_argument("scores has incompatible shape")
        return _select(boxes, scores, int(most), iou, least)

    return compute
