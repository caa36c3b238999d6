"""The host kernel of `_ThresholdCounts`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


def threshold_counts(
    labels: Any, scores: Any, thresholds: Any, dtype: Any
) -> tuple[Any, Any, Any, Any]:
    """(true positives, false negatives, true negatives, false positives) of each.

    The scores are put in order once, rather than compared with each threshold.
    """
    labels, scores = labels.reshape(-1), scores.reshape(-1)
    limits = thresholds.reshape(-1)
    positive = _count_above(scores[labels], limits)
    negative = _count_above(scores[~labels], limits)
    positives = int(np.count_nonzero(labels))
    return (
        positive.astype(dtype),
        (positives - positive).astype(dtype),
        (len(labels) - positives - negative).astype(dtype),
        negative.astype(dtype),
    )


def _count_above(scores: Any, limits: Any) -> Any:
    scores.sort()
    # NaN comes last, and is above nothing.
    numbers = len(scores)
    if numbers and scores[-1] != scores[-1]:
        numbers -= int(np.isnan(scores).sum())
    above = numbers - scores.searchsorted(limits, "right")
    # Nothing is above NaN, either.
    return np.maximum(above, 0, out=above)


@host_kernel("_ThresholdCounts")
def threshold_counts_on_host(c: OpKernelConstruction) -> Compute:
    """The counts, in the dtype of the sums."""
    dtype = c["T"].np_dtype

    def compute(labels: Any, scores: Any, thresholds: Any) -> tuple[Any, ...]:
        return threshold_counts(labels, scores, thresholds, dtype)

    return compute
