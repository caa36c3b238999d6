"""Statistics of a batch for sparse columns, in graphs."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.fill import fill
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.array.shape import shape, size
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.segment import unsorted_segment_sum


def with_leaf_totals(
    indices: Any,
    leaves: Any,
    gradients: Any,
    hessians: Any,
    bias_feature: int,
) -> tuple[Any, Any, Any, Any]:
    """What a sparse column adds to the statistics: the totals of leaves, then values.

    The total of a leaf is of all its examples, each counted once, those without a value
    too: another batch may have values in the same leaf.

    Args:
      indices: of the values, int64 [values, 2].
      leaves: int32 [examples].
      gradients: float32 [examples, ...].
      hessians: float32 [examples, ...].
      bias_feature: the feature that totals are kept under.

    Returns:
      (leaves, features of the totals int64 [leaves], gradients, hessians).
    """
    examples, _ = split(indices, num_or_size_splits=2, axis=1)
    examples = squeeze(examples, [1])
    those, places = unique(leaves)
    totals = [_leaf_totals(part, those, places) for part in (gradients, hessians)]
    bias = cast(fill(shape(those), bias_feature), dtypes.int64)
    return (
        concat([those, gather(leaves, examples)], 0),
        bias,
        concat([totals[0], gather(gradients, examples)], 0),
        concat([totals[1], gather(hessians, examples)], 0),
    )


def _leaf_totals(values: Any, leaves: Any, places: Any) -> Any:
    """Sums by leaf, in float64 on the way."""
    wide = cast(values, dtypes.float64)
    return cast(unsorted_segment_sum(wide, places, size(leaves)), dtypes.float32)
