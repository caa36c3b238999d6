"""Counts of values in bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def count_in_bins(values: Any, low: float, step: float, counts: Any) -> None:
    """Adds to `counts` [bins] how many values are in each.

    What is outside counts for the first or the last bin, NaN for the first.

    Args:
      values: real numbers [n].
      low: where the first bin begins.
      step: the width of a bin.
    """
    last = np.float64(len(counts) - 1)
    for i in range(len(values)):
        place = (np.float64(values[i]) - low) / step
        place = place if place > 0.0 else np.float64(0)
        counts[np.int64(place if place < last else last)] += 1
