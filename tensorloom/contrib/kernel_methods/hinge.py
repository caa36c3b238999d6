"""The hinge loss of several classes."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weighted import Reduction, compute_weighted_loss
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check import assert_less
from tensorloom.ops.indexing.gather import gather_nd
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as numbers
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.reductions.reductions import reduce_max


@export("contrib.kernel_methods.sparse_multiclass_hinge_loss")
def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: Any = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """The most by which another class's logit comes within 1 of the label's.

    Args:
      labels: classes, int32 or int64, `[batch]` or `[batch, 1]`.
      logits: `[batch, classes]`.
      weights: a scalar, or one for each example.
      scope: names the operations.
      loss_collection: what the loss is added to.
      reduction: how examples' losses become one.

    Raises:
      ValueError: other ranks or dtypes.
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as scope:
        if logits.get_shape().ndims != 2:
            raise ValueError(
                "logits should have rank 2 ([batch_size, num_classes]). Given rank is "
                f"{logits.get_shape().ndims}"
            )
        sizes = shape(logits)
        batch, classes = sizes[0], sizes[1]
        logits = cast(logits, dtypes.float32)
        labels = _as_vector(labels, classes)
        weights = convert_to_tensor(weights)
        rank = weights.get_shape().ndims
        if rank not in (0, 1, 2):
            raise ValueError(
                "non-scalar weights should have rank 1 ([batch_size]) or 2 "
                f"([batch_size, 1]). Given rank is {rank}"
            )
        if rank > 0:
            weights = reshape(weights, shape=[-1])
            weights.get_shape().assert_is_compatible_with(labels.get_shape())
        rows = reshape(numbers(batch), shape=[batch, 1])
        columns = reshape(cast(labels, rows.dtype), shape=[batch, 1])
        found = gather_nd(params=logits, indices=concat([rows, columns], axis=1))
        of_labels = reshape(found, shape=[batch, 1])
        others = one_hot(indices=labels, depth=classes, on_value=0.0, off_value=1.0)
        losses = reduce_max(relu(logits - of_labels + others), axis=1)
        return compute_weighted_loss(
            losses, weights, scope, loss_collection, reduction=reduction
        )


def _as_vector(labels: Any, classes: Any) -> Any:
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(
            f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and "
            "int64"
        )
    rank = labels.get_shape().ndims
    if rank not in (1, 2):
        raise ValueError(
            "labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given "
            f"rank is {rank}"
        )
    with control_dependencies([assert_less(labels, cast(classes, labels.dtype))]):
        return reshape(labels, shape=[-1])
