"""The functions that make heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.learn.head import head_losses
from tensorloom.contrib.learn.head.combined_heads import LossOnlyHead, MultiHead
from tensorloom.contrib.learn.head.single_heads import (
    BinaryLogisticHead,
    BinarySvmHead,
    MultiClassHead,
    MultiLabelHead,
    RegressionHead,
)
from tensorloom.framework.export import export
from tensorloom.ops.array.identity import identity
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.math.elementwise import exp
from tensorloom.ops.reductions.aggregate import add_n

if TYPE_CHECKING:
    from tensorloom.contrib.learn.head.base_heads import Head


@export("contrib.learn.regression_head", "contrib.learn.head.regression_head")
def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head that predicts numbers, with the squared loss.

    Args:
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      label_dimension: how many numbers for an example.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
      link_fn: from logits to predictions; the same when None.
    """
    return RegressionHead(
        label_name=label_name,
        weight_column_name=weight_column_name,
        label_dimension=label_dimension,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        loss_fn=head_losses.mean_squared_loss,
        link_fn=identity if link_fn is None else link_fn,
    )


@export(
    "contrib.learn.poisson_regression_head",
    "contrib.learn.head.poisson_regression_head",
)
def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head that predicts means of counts, with the loss of Poisson's distribution.

    Args:
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      label_dimension: how many counts for an example.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
    """
    return RegressionHead(
        label_name=label_name,
        weight_column_name=weight_column_name,
        label_dimension=label_dimension,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        loss_fn=head_losses.poisson_loss,
        link_fn=exp,
    )


@export("contrib.learn.multi_class_head", "contrib.learn.head.multi_class_head")
def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Any = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Any = None,
) -> Head:
    """A head that predicts one of several classes.

    Args:
      n_classes: how many there are. Two have one logit.
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
      thresholds: of two classes: metrics count what has such a probability as of the
        second one.
      metric_class_ids: of more classes: those that have metrics of their own.
      loss_fn: of `labels`, `logits` and `weights`; the cross entropy when None.
      label_keys: of more classes: their names, if labels are names.

    Raises:
      ValueError: there are not two classes, or an argument does not fit their number;
        `loss_fn` does not take those arguments.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    options: dict[str, Any] = {
        "label_name": label_name,
        "weight_column_name": weight_column_name,
        "enable_centered_bias": enable_centered_bias,
        "head_name": head_name,
        "thresholds": thresholds,
        "loss_fn": head_losses.checked_loss_fn(loss_fn),
    }
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        return BinaryLogisticHead(**options)
    return MultiClassHead(
        n_classes=n_classes,
        metric_class_ids=metric_class_ids,
        label_keys=label_keys,
        **options,
    )


@export("contrib.learn.binary_svm_head", "contrib.learn.head.binary_svm_head")
def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head that predicts one of two classes, with the hinge loss.

    Args:
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
      thresholds: not used.
    """
    return BinarySvmHead(
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        thresholds=thresholds,
    )


@export("contrib.learn.multi_label_head", "contrib.learn.head.multi_label_head")
def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Any = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head that predicts of each class whether it is there.

    Args:
      n_classes: how many there are. Labels are [batch, n_classes] of zeros and ones, or
        a SparseTensor of classes' numbers.
      label_name: the key of the label; None where there is only one.
      weight_column_name: the key of the feature that has the weights; None for none.
      enable_centered_bias: whether there is a bias that learns the mean of the labels.
      head_name: of the scope, and what summaries and metrics end in.
      thresholds: not used.
      metric_class_ids: classes that have metrics of their own.
      loss_fn: of `labels`, `logits` and `weights`; the cross entropy when None.

    Raises:
      ValueError: there are not two classes, or not that class; `loss_fn` does not take
        those arguments.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiLabelHead(
        n_classes=n_classes,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
        thresholds=thresholds,
        metric_class_ids=metric_class_ids,
        loss_fn=head_losses.checked_loss_fn(loss_fn),
    )


@export("contrib.learn.head.loss_only_head")
def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """A head that adds a loss and predicts nothing.

    Args:
      loss_fn: gives the loss, or a list of losses to be added.
      head_name: what summaries end in.
    """
    return LossOnlyHead(loss_fn, head_name=head_name)


@export("contrib.learn.multi_head", "contrib.learn.head.multi_head")
def multi_head(
    heads: Sequence[Any], loss_weights: Sequence[float] | None = None
) -> Head:
    """Several heads as one.

    Args:
      heads: heads with names.
      loss_weights: what their losses are multiplied with; ones when None.

    Raises:
      ValueError: a head has no name, or there is not a weight for each.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")

    def merged(losses: Sequence[Any]) -> Any:
        if not loss_weights:
            return add_n(losses)
        if len(losses) != len(loss_weights):
            raise ValueError("losses and loss_weights must have same size")
        pairs = zip(losses, loss_weights, strict=True)
        return add_n([multiply(loss, weight) for loss, weight in pairs])

    return MultiHead(heads, loss_merger=merged)
