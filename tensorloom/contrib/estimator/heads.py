"""The heads of `tf.contrib.estimator`: from logits to an `EstimatorSpec`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    CannedHead,
    LossSpec,
)
from tensorloom.estimator.canned.heads.binary import BinaryHead
from tensorloom.estimator.canned.heads.binary_metrics import metrics_at_threshold
from tensorloom.estimator.canned.heads.multi_class import MultiClassHead
from tensorloom.estimator.canned.heads.regression import RegressionHead
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.heads import checks, class_names
from tensorloom.estimator.heads.multi_label import MultiLabelHead
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weighted import Reduction
from tensorloom.metrics.averages import mean
from tensorloom.metrics.curves import auc
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits


@export("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes: int,
    weight_column: Any = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> MultiClassHead:
    """Softmax cross-entropy of one of more than two classes.

    Args:
      n_classes: how many classes there are.
      weight_column: the feature that weighs examples, or None.
      label_vocabulary: names of the classes; labels are numbers when None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      loss_fn: a function of `labels`, `logits` and maybe `features` instead.
      name: of the head, where there are several.

    Raises:
      ValueError: an argument has an impossible value.
    """
    return MultiClassHead(
        n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name
    )


@export("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> BinaryHead:
    """Sigmoid cross-entropy of two classes.

    Args:
      weight_column: the feature that weighs examples, or None.
      thresholds: probabilities from which on the second class is predicted, each with
        metrics of its own.
      label_vocabulary: names of both classes; labels are numbers when None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      loss_fn: a function of `labels`, `logits` and maybe `features` instead.
      name: of the head, where there are several.

    Raises:
      ValueError: an argument has an impossible value.
    """
    return BinaryHead(
        weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name
    )


@export("contrib.estimator.regression_head")
def regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    inverse_link_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
) -> RegressionHead:
    """The squared error of numbers, or another loss.

    Args:
      weight_column: the feature that weighs examples, or None.
      label_dimension: how many numbers an example has.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      loss_fn: a function of `labels`, `logits` and maybe `features` instead.
      inverse_link_fn: makes predictions of logits; they are the same when None.
      name: of the head, where there are several.

    Raises:
      ValueError: an argument has an impossible value.
    """
    return RegressionHead(
        weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name
    )


@export("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column: Any = None,
    label_dimension: int = 1,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    compute_full_loss: bool = True,
    name: str | None = None,
) -> RegressionHead:
    """Poisson's loss of counts, whose logarithms of means the logits are.

    Args:
      weight_column: the feature that weighs examples, or None.
      label_dimension: how many counts an example has.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      compute_full_loss: whether the part that depends on labels alone is there.
      name: of the head, where there are several.
    """

    def loss_fn(labels: Any, logits: Any) -> Any:
        return log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=compute_full_loss
        )

    return RegressionHead(
        weight_column, label_dimension, loss_reduction, loss_fn, math_ops.exp, name
    )


@export("contrib.estimator.logistic_regression_head")
def logistic_regression_head(
    weight_column: Any = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    name: str | None = None,
) -> RegressionHead:
    """Sigmoid cross-entropy of numbers between 0 and 1.

    Args:
      weight_column: the feature that weighs examples, or None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      name: of the head, where there are several.
    """

    def loss_fn(labels: Any, logits: Any) -> Any:
        message = "Labels must be in range [0, 1]"
        labels = checks.check_label_range(labels, 2, message)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return RegressionHead(
        weight_column, 1, loss_reduction, loss_fn, math_ops.sigmoid, name
    )


@export("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes: int,
    weight_column: Any = None,
    thresholds: Iterable[float] | None = None,
    label_vocabulary: Sequence[str] | None = None,
    loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn: Callable[..., Any] | None = None,
    classes_for_class_based_metrics: Sequence[Any] | None = None,
    name: str | None = None,
) -> CannedHead:
    """Sigmoid cross-entropy of classes of which an example may have several.

    Args:
      n_classes: how many classes there are, more than one.
      weight_column: the feature that weighs examples, or None.
      thresholds: probabilities from which on a class is predicted, each with metrics of
        its own.
      label_vocabulary: names of the classes; labels are numbers when None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      loss_fn: a function of `labels`, `logits` and maybe `features` instead.
      classes_for_class_based_metrics: classes with metrics of their own: numbers or
        names.
      name: of the head, where there are several.

    Raises:
      ValueError: an argument has an impossible value.
    """
    return _MultiLabelHead(
        MultiLabelHead(
            n_classes,
            weight_column,
            thresholds,
            label_vocabulary,
            loss_fn=loss_fn,
            classes_for_class_based_metrics=classes_for_class_based_metrics,
            name=name,
        ),
        weight_column,
        loss_reduction,
        loss_fn,
        name,
    )


class _MultiLabelHead(CannedHead):
    """The head of several classes at once; labels and loss are `MultiLabelHead`'s."""

    def __init__(self, inner: MultiLabelHead, *args: Any) -> None:
        super().__init__(*args)
        self._inner = inner

    @property
    def logits_dimension(self) -> Any:
        """A logit for each class."""
        return self._inner.logits_dimension

    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """See `CannedHead.create_loss`; labels: ones and zeros, or sparse classes."""
        logits = convert_to_tensor(logits)
        labels = self._inner._processed_labels(logits, labels)
        loss = self._inner._unweighted_loss(logits, labels, features)
        return self._weighted(loss, labels, features, logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return self._inner.predictions(logits)

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = class_names.classification_output(
            predictions[PredictionKeys.PROBABILITIES],
            self.logits_dimension,
            self._inner._label_vocabulary,
        )
        return {
            DEFAULT_SERVING_KEY: output,
            CLASSIFY_SERVING_KEY: output,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(
        self, loss: LossSpec, predictions: dict[str, Any], regularization_loss: Any
    ) -> dict[str, Any]:
        labels, weights = loss.processed_labels, loss.weights
        probabilities = predictions[PredictionKeys.PROBABILITIES]

        def curve(key: str, labels: Any, probabilities: Any, kind: str) -> Any:
            return auc(
                labels=labels,
                predictions=probabilities,
                weights=weights,
                curve=kind,
                name=key,
            )

        values = [labels, probabilities, weights, loss.unreduced_loss]
        with name_scope(None, "metrics", [*values, regularization_loss]):
            metrics = {
                MetricKeys.LOSS_MEAN: mean(
                    loss.unreduced_loss, weights=weights, name=MetricKeys.LOSS_MEAN
                )
            }
            for key, kind in ((MetricKeys.AUC, "ROC"), (MetricKeys.AUC_PR, "PR")):
                metrics[key] = curve(key, labels, probabilities, kind)
            if regularization_loss is not None:
                key = MetricKeys.LOSS_REGULARIZATION
                metrics[key] = mean(regularization_loss, name=key)
            for threshold in self._inner._thresholds:
                metrics |= metrics_at_threshold(
                    labels, probabilities, weights, threshold
                )
            for class_id in self._inner._classes:
                average, roc, pr = self._inner._class_keys(class_id)
                own = slice(class_id, class_id + 1)
                chosen, its_labels = probabilities[..., own], labels[..., own]
                metrics[average] = mean(chosen, weights=weights, name=average)
                metrics[roc] = curve(roc, its_labels, chosen, "ROC")
                metrics[pr] = curve(pr, its_labels, chosen, "PR")
        return {self._key(key): value for key, value in metrics.items()}
