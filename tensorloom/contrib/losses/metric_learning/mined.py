"""Losses that look for the pairs that matter among all of a batch."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.losses.metric_learning.distances import (
    column_of,
    pairwise_distance,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import ones
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import size
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.linalg.matrix_diag import diag
from tensorloom.ops.math.binary import add, maximum, multiply, truediv
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, greater, logical_and, logical_not
from tensorloom.ops.math.elementwise import exp, log, square
from tensorloom.ops.reductions.reductions import reduce_max, reduce_min, reduce_sum

_PACKAGE = "contrib.losses.metric_learning"


def masked_maximum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The maxima of marked elements; the least of all where none is marked.

    Args:
      data: `[n, m]`.
      mask: `[n, m]` floats, 1 for elements that count.
      dim: the axis, which stays with size 1.
    """
    least = reduce_min(data, dim, keepdims=True)
    return reduce_max(multiply(data - least, mask), dim, keepdims=True) + least


def masked_minimum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The minima of marked elements; arguments as of `masked_maximum`."""
    most = reduce_max(data, dim, keepdims=True)
    return reduce_min(multiply(data - most, mask), dim, keepdims=True) + most


def _positives(alike: Any, batch: Any) -> Any:
    """1 for pairs of the same class, but not of an element with itself."""
    return cast(alike, dtypes.float32) - diag(ones([batch]))


@export(f"{_PACKAGE}.triplet_semihard_loss")
def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """The mean of what pairs lack of a margin to their semi-hard negative.

    That is the nearest of another class that is further away than the pair, or the
    furthest of all where none is (https://arxiv.org/abs/1503.03832).

    Args:
      labels: `[batch]`, the classes.
      embeddings: `[batch, depth]`, of norm 1.
      margin: how much further away negatives should be, in squared distance.
    """
    labels = column_of(labels)
    distances = pairwise_distance(embeddings, squared=True)
    alike = equal(labels, transpose(labels))
    unlike = logical_not(alike)
    batch = size(labels)
    # Row p * batch + a: the elements as negatives of the pair of p and a.
    tiled = tile(distances, [batch, 1])
    further = logical_and(
        tile(unlike, [batch, 1]),
        greater(tiled, reshape(transpose(distances), [-1, 1])),
    )
    count = reduce_sum(cast(further, dtypes.float32), 1, keepdims=True)
    has_further = transpose(reshape(greater(count, 0.0), [batch, batch]))
    nearest = masked_minimum(tiled, cast(further, dtypes.float32))
    outside = transpose(reshape(nearest, [batch, batch]))
    furthest = masked_maximum(distances, cast(unlike, dtypes.float32))
    negatives = where(has_further, outside, tile(furthest, [1, batch]))
    lacking = add(margin, distances - negatives)
    positives = _positives(alike, batch)
    return truediv(
        reduce_sum(maximum(multiply(lacking, positives), 0.0)),
        reduce_sum(positives),
        name="triplet_semihard_loss",
    )


@export(f"{_PACKAGE}.lifted_struct_loss")
def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """The loss of pairs against all negatives of both (https://arxiv.org/abs/1511.06452).

    Args:
      labels: `[batch]`, the classes.
      embeddings: `[batch, depth]`, not normalized.
      margin: how much further away negatives should be.
    """
    labels = column_of(labels)
    distances = pairwise_distance(embeddings)
    alike = equal(labels, transpose(labels))
    batch = size(labels)
    lacking = margin - distances
    unlike = cast(logical_not(alike), dtypes.float32)
    # Exponents relative to the largest of both rows, so that none overflows.
    rows = masked_maximum(lacking, unlike)
    largest = maximum(rows, transpose(rows))
    exponents = tile(lacking, [batch, 1]) - reshape(transpose(largest), [-1, 1])
    terms = multiply(exp(exponents), tile(unlike, [batch, 1]))
    left = reshape(reduce_sum(terms, 1, keepdims=True), [batch, batch])
    losses = largest + log(left + transpose(left)) + distances
    positives = _positives(alike, batch)
    return truediv(
        0.25 * reduce_sum(square(maximum(multiply(losses, positives), 0.0))),
        reduce_sum(positives) / 2.0,
        name="liftedstruct_loss",
    )
