"""Distances between embeddings, and losses of pairs that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.fill import ones, ones_like
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack
from tensorloom.ops.debugging.logging import print_v1
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.matrix_diag import diag
from tensorloom.ops.math.binary import maximum, multiply, squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, less_equal, logical_not
from tensorloom.ops.math.elementwise import sqrt, square
from tensorloom.ops.nn.loss import softmax_cross_entropy_with_logits
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum
from tensorloom.ops.sparse.sparse_builders import sparse_tensor_to_dense

_PACKAGE = "contrib.losses.metric_learning"


def pairwise_distance(feature: Any, squared: bool = False) -> Any:
    """The distances between rows: `[n, n]`, zero on the diagonal.

    Args:
      feature: `[n, depth]`.
      squared: whether the squares of the distances are wanted.
    """
    turned = transpose(feature)
    squares = (
        reduce_sum(square(feature), axis=[1], keepdims=True)
        + reduce_sum(square(turned), axis=[0], keepdims=True)
        - 2.0 * matmul(feature, turned)
    )
    squares = maximum(squares, 0.0)
    is_zero = less_equal(squares, 0.0)
    # The root has no gradient at zero.
    tiny = cast(is_zero, dtypes.float32) * 1e-16
    distances = squares if squared else sqrt(squares + tiny)
    distances = multiply(distances, cast(logical_not(is_zero), dtypes.float32))
    others = ones_like(distances) - diag(ones([shape(feature)[0]]))
    return multiply(distances, others)


def column_of(labels: Any) -> Any:
    """Labels `[n]` as `[n, 1]`. Raises AssertionError for another rank."""
    sizes = shape(labels)
    if sizes.shape != [1]:
        raise AssertionError(f"labels must be of rank 1, got shape {labels.shape}")
    return reshape(labels, [sizes[0], 1])


@export(f"{_PACKAGE}.contrastive_loss")
def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Any:
    """The mean of squared distances of like pairs, and of what others lack of a margin.

    From http://yann.lecun.com/exdb/publis/pdf/hadsell-chopra-lecun-06.pdf.

    Args:
      labels: `[batch]`, 1 for pairs that are alike, else 0.
      embeddings_anchor, embeddings_positive: `[batch, depth]`, of norm 1.
      margin: how far apart others should be.
    """
    squares = squared_difference(embeddings_anchor, embeddings_positive)
    distances = sqrt(reduce_sum(squares, 1))
    alike = cast(labels, distances.dtype)
    lacking = maximum(margin - distances, 0.0)
    return reduce_mean(
        alike * square(distances) + (1.0 - alike) * square(lacking),
        name="contrastive_loss",
    )


def _npairs(
    shares: Any, anchors: Any, positives: Any, reg_lambda: float, print_losses: bool
) -> Any:
    """The cross-entropy of similarities, and the embeddings' L2 loss.

    Args:
      shares: makes `[batch, batch]`, how much each pair of rows has in common.
    """
    sizes = [reduce_mean(reduce_sum(square(each), 1)) for each in (anchors, positives)]
    l2_loss = multiply(0.25 * reg_lambda, sizes[0] + sizes[1], name="l2loss")
    similarities = matmul(anchors, positives, transpose_b=True)
    wanted = shares()
    wanted /= reduce_sum(wanted, 1, keepdims=True)
    entropies = softmax_cross_entropy_with_logits(logits=similarities, labels=wanted)
    entropy = reduce_mean(entropies, name="xentropy")
    if print_losses:
        entropy = print_v1(entropy, ["cross entropy:", entropy, "l2loss:", l2_loss])
    return l2_loss + entropy


@export(f"{_PACKAGE}.npairs_loss")
def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """The loss of pairs of the same class among pairs of others.

    Args:
      labels: `[pairs]`, the classes.
      embeddings_anchor, embeddings_positive: `[pairs, depth]`, not normalized.
      reg_lambda: the weight of the embeddings' L2 loss.
      print_losses: whether both parts are printed in each step.
    """

    def shares() -> Any:
        column = column_of(labels)
        return cast(equal(column, transpose(column)), dtypes.float32)

    return _npairs(
        shares, embeddings_anchor, embeddings_positive, reg_lambda, print_losses
    )


@export(f"{_PACKAGE}.npairs_loss_multilabel")
def npairs_loss_multilabel(
    sparse_labels: Sequence[SparseTensor],
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """`npairs_loss` of pairs with several labels, which count where both have them.

    Args:
      sparse_labels: of each pair, a boolean SparseTensor `[classes]`.
      embeddings_anchor, ...: as of `npairs_loss`.

    Raises:
      TypeError: labels are not sparse.
    """
    if not all(isinstance(labels, SparseTensor) for labels in sparse_labels):
        raise TypeError(
            f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}"
        )

    def shares() -> Any:
        rows = stack(
            [
                sparse_tensor_to_dense(
                    SparseTensor(
                        labels.indices,
                        cast(labels.values, dtypes.float32),
                        labels.dense_shape,
                    )
                )
                for labels in sparse_labels
            ]
        )
        rows = reshape(rows, [len(sparse_labels), -1])
        return matmul(rows, rows, transpose_b=True)

    with name_scope("NpairsLossMultiLabel"):
        return _npairs(
            shares, embeddings_anchor, embeddings_positive, reg_lambda, print_losses
        )
