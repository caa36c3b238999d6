"""Host kernels of non-maximum suppression.

The boxes are taken by their scores. `loops.boxes` compares one with those that were
chosen. Boxes of half precision, whose every step is rounded, and given overlaps are
taken some at a time: array operations compare them with those that were chosen, and
with one another.

No box is chosen twice. TensorFlow 1.15 fills its result with copies of one that does
not overlap enough with itself: without an area, as padding is, or by a threshold of 1.
The versions before and after it do not, nor does its own CombinedNonMaxSuppression, and
detections are lost that graphs of later clients count on.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.indexing.stable_order import stable_order
from tensorloom.kernels.host.math.errors import shape_text

# How much a candidate, or each in a column of them, overlaps with others:
# (candidates, others) -> array of the boxes' dtype.
_Overlap = Callable[[Any, Any], Any]


def _box_overlap(boxes: Any) -> _Overlap:
    """Intersection over union, in the boxes' dtype; 0 for boxes without an area."""
    # One row each for tops, lefts, bottoms, rights and areas: taken in one call.
    table = np.empty((5, len(boxes)), boxes.dtype)
    np.minimum(boxes[:, :2].T, boxes[:, 2:].T, out=table[:2])
    np.maximum(boxes[:, :2].T, boxes[:, 2:].T, out=table[2:4])
    np.multiply(table[2] - table[0], table[3] - table[1], out=table[4])
    nothing = boxes.dtype.type(0)
    all_have_areas = bool((table[4] > 0).all())

    def overlap(one: Any, others: Any) -> Any:
        top, left, bottom, right, area = table.take(one, axis=1)
        tops, lefts, bottoms, rights, areas = table.take(others, axis=1)
        common = np.minimum(bottom, bottoms)
        common -= np.maximum(top, tops)
        np.maximum(common, nothing, out=common)
        width = np.minimum(right, rights)
        width -= np.maximum(left, lefts)
        common *= np.maximum(width, nothing, out=width)
        rest = area + areas
        rest -= common
        common /= rest
        if all_have_areas:
            return common
        return np.where((areas > 0) & (area > 0), common, nothing)

    return overlap


def _given_overlap(overlaps: Any) -> _Overlap:
    return lambda one, others: overlaps[others, one]


def _by_score(scores: Any, least: Any) -> Any:
    """Indices of the scores above a threshold, best first, then by index."""
    above = np.flatnonzero(scores > least)
    return above.take(falling_order(scores.take(above)))


# Fewer numbers than that are ordered in less time by comparing them.
_FEW = 256


def falling_order(values: Any) -> Any:
    """Places of floats of 32 bits or less, greatest first, equal ones as they come.

    From a few hundred on, as integers: those are sorted in a fraction of the time.
    """
    if len(values) < _FEW:
        return np.argsort(-values, kind="stable")
    # The bits of a float, but for the sign, are in the order of the floats.
    bits = (values.astype(np.float32) + np.float32(0)).view(np.int32)  # no -0
    rising = bits ^ (bits >> 31 & 0x7FFFFFFF)
    return stable_order(np.int64(2**31 - 1) - rising)[1]


# Candidates that are compared with those chosen, and with one another, at once: as many
# as there are bits in a number.
_GROUP: Final = 64


def _table(boxes: Any) -> Any:
    """What the loops compare; of float32 boxes."""
    from tensorloom.kernels.loops.image.boxes import table_of

    return table_of(np.ascontiguousarray(boxes))


def _selected(boxes: Any, scores: Any, most: int, share: Any, least: Any) -> Any:
    """Indices of the boxes that stay."""
    if boxes.dtype == np.float32:
        from tensorloom.kernels.loops.image.boxes import select

        return select(_table(boxes), _by_score(scores, least), most, share)
    return _select(_reaching(_box_overlap(boxes), share), scores, most, least)


def _select(
    suppresses: Callable[[Any, Any], Any], scores: Any, most: int, least: Any
) -> Any:
    order = _by_score(scores, least)
    chosen = order[:0]
    for begin in range(0, len(order), _GROUP):
        if len(chosen) >= most:
            break
        group = order[begin : begin + _GROUP]
        if len(chosen):
            group = group[~suppresses(chosen[:, None], group).any(axis=0)]
        kept = _kept(suppresses(group[:, None], group), most - len(chosen))
        chosen = np.concatenate([chosen, group[kept]])
    return chosen.astype(np.int32)


def _kept(hits: Any, most: int) -> list[int]:
    """The first candidates that no earlier one of them suppresses.

    Args:
      hits: [n, n], whether the first suppresses the second; n is `_GROUP` at most.
      most: how many are wanted.
    """
    bits = np.zeros((len(hits), _GROUP), bool)
    bits[:, : len(hits)] = hits
    rows = np.packbits(bits, bitorder="little").view("<u8").tolist()
    kept: list[int] = []
    suppressed = 0
    for place, row in enumerate(rows):
        if len(kept) == most:
            break
        if not suppressed >> place & 1:
            kept.append(place)
            suppressed |= row
    return kept


def _selected_softly(
    boxes: Any, scores: Any, most: int, share: Any, least: Any, sigma: Any
) -> Any:
    """(indices, scores) of the boxes that stay; see `_select_soft`."""
    if boxes.dtype != np.float32:
        overlap = _box_overlap(boxes)
        return _select_soft(overlap, scores, most, share, least, sigma)
    from tensorloom.kernels.loops.image.boxes import select_soft

    bounds = share, least, np.float32(-0.5) / sigma
    order = _by_score(scores, least)
    return select_soft(_table(boxes), np.array(scores), order, most, bounds)


def _select_soft(
    overlap: _Overlap, scores: Any, most: int, share: Any, least: Any, sigma: Any
) -> tuple[Any, Any]:
    """(indices, scores): each chosen box lowers the scores of those it overlaps.

    A candidate whose score falls goes back to the queue, unless it falls to the
    threshold; one that overlaps too much is dropped.
    """
    kind = scores.dtype.type
    scale = kind(-0.5) / kind(sigma)
    queue = [(-float(scores[i]), int(i), 0) for i in _by_score(scores, least)]
    heapq.heapify(queue)
    chosen: list[int] = []
    chosen_scores: list[Any] = []
    while queue and len(chosen) < most:
        negative, index, begin = heapq.heappop(queue)
        score = first = kind(-negative)
        others = np.array(chosen[begin:][::-1], np.int64)
        shares = overlap(index, others) if len(others) else ()
        is_dropped = False
        for similarity in shares:
            is_dropped = similarity >= share
            if is_dropped or score <= least:
                break
            score = score * np.exp(scale * similarity * similarity)
        if is_dropped:
            continue
        if score == first:
            chosen.append(index)
            chosen_scores.append(score)
        elif score > least:
            heapq.heappush(queue, (-float(score), index, len(chosen)))
    return np.array(chosen, np.int32), np.array(chosen_scores, kind)


def _reaching(overlap: _Overlap, share: Any) -> Callable[[Any, Any], Any]:
    """Overlaps of the threshold itself suppress, as in TensorFlow 1.15.

    A threshold is rounded to the boxes' dtype.
    """

    def suppresses(one: Any, others: Any) -> Any:
        shares = overlap(one, others)
        return shares >= shares.dtype.type(share)

    return suppresses


# --- checks -----------------------------------------------------------------------


def _threshold(value: Any, what: str) -> Any:
    if np.ndim(value):
        raise invalid_argument(
            f"{what} must be 0-D, got shape {shape_text(np.shape(value))}"
        )
    return np.float32(value)


def _share(value: Any) -> Any:
    share = _threshold(value, "iou_threshold")
    if not 0 <= share <= 1:
        raise invalid_argument("iou_threshold must be in [0, 1]")
    return share


def _most(value: Any) -> int:
    if np.ndim(value):
        raise invalid_argument(
            f"max_output_size must be 0-D, got shape {shape_text(np.shape(value))}"
        )
    if value < 0:
        raise invalid_argument(f"max_output_size must be non-negative, got {value}")
    return int(value)


def _check_boxes(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid_argument("boxes must have 4 columns")
    _check_scores(scores, len(boxes))


def _check_scores(scores: Any, count: int) -> None:
    if scores.ndim != 1:
        raise invalid_argument(f"scores must be 1-D{shape_text(scores.shape)}")
    if len(scores) != count:
        raise invalid_argument("scores has incompatible shape")


_NO_LEAST = np.float32(np.finfo(np.float32).min)


def _filled(values: Any, size: int) -> Any:
    result = np.zeros(size, values.dtype)
    result[: len(values)] = values
    return result


# --- kernels ----------------------------------------------------------------------


@host_kernel(
    [
        "NonMaxSuppression",
        "NonMaxSuppressionV2",
        "NonMaxSuppressionV3",
        "NonMaxSuppressionV4",
    ],
    large=True,
)
def non_max_suppression(c: OpKernelConstruction) -> Compute:
    """Indices of the boxes that stay; V4 also says how many."""
    fixed = c.get("iou_threshold", 0.5)
    counted = c.op == "NonMaxSuppressionV4"
    pads = c.get("pad_to_max_output_size", False)

    def compute(boxes: Any, scores: Any, most: Any, *thresholds: Any) -> Any:
        size = _most(most)
        share = _share(thresholds[0] if thresholds else fixed)
        least = _NO_LEAST
        if len(thresholds) > 1:
            least = _threshold(thresholds[1], "score_threshold")
        _check_boxes(boxes, scores)
        chosen = _selected(boxes, scores, size, share, least)
        if not counted:
            return chosen
        count = np.int32(len(chosen))
        return (_filled(chosen, size) if pads else chosen), count

    return compute


@host_kernel("NonMaxSuppressionV5", large=True)
def non_max_suppression_v5(c: OpKernelConstruction) -> Compute:
    """Indices, scores and their number."""
    pads = c["pad_to_max_output_size"]
    dtype = c["T"].as_numpy_dtype

    def compute(
        boxes: Any, scores: Any, most: Any, iou: Any, least: Any, sigma: Any
    ) -> Any:
        size, share = _most(most), _share(iou)
        least = _threshold(least, "score_threshold")
        sigma = _threshold(sigma, "soft_nms_sigma")
        if not sigma >= 0:
            raise invalid_argument(f"soft_nms_sigma_val must be >= 0, got {sigma:g}")
        _check_boxes(boxes, scores)
        if sigma > 0:
            chosen, kept = _selected_softly(boxes, scores, size, share, least, sigma)
        else:
            chosen = _selected(boxes, scores, size, share, least)
            kept = scores[chosen]
        count = np.int32(len(chosen))
        if pads:
            chosen, kept = _filled(chosen, size), _filled(kept, size)
        return chosen, kept.astype(dtype), count

    return compute


@host_kernel("NonMaxSuppressionWithOverlaps", large=True)
def non_max_suppression_with_overlaps(c: OpKernelConstruction) -> Compute:
    """Indices of the boxes that stay, by a matrix of overlaps."""

    def compute(
        overlaps: Any, scores: Any, most: Any, threshold: Any, least: Any
    ) -> Any:
        size = _most(most)
        share = _threshold(threshold, "overlap_threshold")
        least = _threshold(least, "score_threshold")
        if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
            raise invalid_argument(
                f"overlaps must be square{shape_text(overlaps.shape)}"
            )
        _check_scores(scores, len(overlaps))
        suppresses = _reaching(_given_overlap(overlaps), share)
        return _select(suppresses, scores, size, least)

    return compute


@host_kernel("CombinedNonMaxSuppression", large=True)
def combined_non_max_suppression(c: OpKernelConstruction) -> Compute:
    """The best boxes of all classes, filled up with zeros."""
    per_class, clips = c["pad_per_class"], c["clip_boxes"]

    def compute(
        boxes: Any, scores: Any, of_class: Any, total: Any, iou: Any, least: Any
    ) -> Any:
        most = _positive(of_class, "max_size_per_class")
        size = _positive(total, "max_total_size")
        share, least = _share(iou), _threshold(least, "score_threshold")
        _check_combined(boxes, scores)
        batch, classes = len(boxes), scores.shape[2]
        if per_class:
            size = min(size, most * classes)
        results = (
            np.zeros((batch, size, 4), np.float32),
            np.zeros((batch, size), np.float32),
            np.zeros((batch, size), np.float32),
            np.zeros(batch, np.int32),
        )
        for i in range(batch):
            found = _of_image(boxes[i], scores[i], most, share, least)
            count = min(size, len(found[1]))
            best = falling_order(found[1])[:count]
            for result, values in zip(results, found, strict=False):
                result[i, :count] = values[best]
            results[3][i] = count
        return (np.clip(results[0], 0, 1) if clips else results[0], *results[1:])

    return compute


def _positive(value: Any, what: str) -> int:
    if np.ndim(value):
        raise invalid_argument(
            f"{what} must be 0-D, got shape {shape_text(np.shape(value))}"
        )
    if value <= 0:
        raise invalid_argument(f"{what} must be > 0")
    return int(value)


def _check_combined(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 4:
        raise invalid_argument(f"boxes must be 4-D{shape_text(boxes.shape)}")
    if scores.ndim != 3:
        raise invalid_argument(f"scores must be 3-D{shape_text(scores.shape)}")
    if boxes.shape[0] != scores.shape[0]:
        raise invalid_argument("boxes and scores must have same batch size")
    if boxes.shape[1] != scores.shape[1]:
        raise invalid_argument("scores has incompatible shape")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise invalid_argument(
            "third dimension of boxes must be either 1 or num classes"
        )
    if boxes.shape[3] != 4:
        raise invalid_argument("boxes must have 4 columns")


def _of_image(boxes: Any, scores: Any, most: int, share: Any, least: Any) -> Any:
    """(boxes, scores, classes) of one image, class after class."""
    from tensorloom.kernels.loops.image.boxes import select_of_class

    found: list[tuple[Any, Any, Any]] = []
    by_class = [(boxes[:, i], _table(boxes[:, i])) for i in range(boxes.shape[1])]
    for index, values in enumerate(np.array(scores.T, order="C")):
        of_class, table = by_class[index if len(by_class) > 1 else 0]
        chosen = select_of_class(table, values, most, share, least)
        classes = np.full(len(chosen), index, np.float32)
        found.append((of_class[chosen], values[chosen], classes))
    if not found:
        empty = np.zeros(0, np.float32)
        return np.zeros((0, 4), np.float32), empty, empty
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
