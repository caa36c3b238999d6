"""Heads of `tf.estimator` whose losses trees can learn by."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.boosted_trees.per_example_losses import (
    per_example_maxent_loss,
    per_example_quantile_regression_loss,
)
from tensorloom.estimator.canned.heads.multi_class import MultiClassHead
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.framework.export import export
from tensorloom.losses.weighted import Reduction

_PACKAGE = "contrib.boosted_trees.estimator_batch.estimator"


@export(f"{_PACKAGE}.core_multiclass_head")
def core_multiclass_head(
    n_classes: int,
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_NONZERO_WEIGHTS,
) -> Any:
    """A head of several classes, by a loss that can be differentiated twice.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that weighs examples, or None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
    """

    def loss_fn(labels: Any, logits: Any) -> Any:
        return per_example_maxent_loss(labels, None, logits, n_classes)[0]

    return MultiClassHead(
        n_classes,
        weight_column=weight_column,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
    )


@export(f"{_PACKAGE}.core_quantile_regression_head")
def core_quantile_regression_head(
    quantiles: Any,
    label_dimension: int = 1,
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_NONZERO_WEIGHTS,
) -> Any:
    """A head whose predictions are a quantile.

    Args:
      quantiles: the quantile, in [0, 1].
      label_dimension: how many numbers an example's label has.
      weight_column: the feature that weighs examples, or None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
    """

    def loss_fn(labels: Any, logits: Any) -> Any:
        return per_example_quantile_regression_loss(labels, None, logits, quantiles)[0]

    return RegressionHead(
        weight_column=weight_column,
        label_dimension=label_dimension,
        loss_reduction=loss_reduction,
        loss_fn=loss_fn,
    )
