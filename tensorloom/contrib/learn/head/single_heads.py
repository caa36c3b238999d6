"""Heads of one output: numbers, two classes, one of many classes, many of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.learn.head import head_losses, streaming
from tensorloom.contrib.learn.head.base_heads import SingleHead
from tensorloom.contrib.learn.keys import MetricKey, PredictionKey, ProblemType
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.metrics.averages import accuracy
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.shape import shape
from tensorloom.ops.lookup.index_tables import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.math.sequence import range as sequence
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.reductions.reductions import argmax
from tensorloom.ops.sparse.sparse_builders import sparse_to_indicator
from tensorloom.ops.strings.string_ops import as_string

if TYPE_CHECKING:
    from tensorloom.framework.types.sparse_tensor import SparseTensor


class RegressionHead(SingleHead):
    """Predicts numbers.

    Args:
      label_dimension: how many for an example.
      loss_fn: the loss.
      link_fn: from logits to predictions.
      logits_dimension: how many logits there are, if not as many as numbers.
      **options: `SingleHead`'s.
    """

    default_scope = "regression_head"

    def __init__(
        self,
        label_dimension: int,
        loss_fn: head_losses.LossFn,
        link_fn: Callable[[Any], Any],
        logits_dimension: int | None = None,
        **options: Any,
    ) -> None:
        dimension = label_dimension if logits_dimension is None else logits_dimension
        kind = ProblemType.LINEAR_REGRESSION
        super().__init__(kind, dimension, loss_fn=loss_fn, **options)
        self._link_fn = link_fn

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey.SCORES
        with name_scope(None, "predictions", (logits,)):
            if self.logits_dimension == 1:
                logits = squeeze(logits, axis=(1,), name=key)
            return {key: self._link_fn(logits)}


def two_class_logits(logits: Any) -> Any:
    """Logits of the first and the second class: [batch, 2]."""
    return concat((zeros_like(logits), logits), 1)


class BinaryLogisticHead(SingleHead):
    """Predicts one of two classes, with probabilities.

    Args:
      thresholds: metrics count what has such a probability as of the second class; 0.5
        when None.
      loss_fn: the loss; the cross entropy when None.
      **options: `SingleHead`'s.
    """

    default_scope = "binary_logistic_head"

    def __init__(
        self,
        thresholds: Sequence[float] | None = None,
        loss_fn: Any = None,
        **options: Any,
    ) -> None:
        loss_fn = loss_fn or head_losses.log_loss_with_two_classes
        kind = ProblemType.LOGISTIC_REGRESSION
        super().__init__(kind, 1, loss_fn=loss_fn, **options)
        self._thresholds = thresholds or (0.5,)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey
        with name_scope(None, "predictions", (logits,)):
            both = two_class_logits(logits)
            return {
                key.LOGITS: logits,
                key.LOGISTIC: sigmoid(logits, name=key.LOGISTIC),
                key.PROBABILITIES: softmax(both, name=key.PROBABILITIES),
                key.CLASSES: argmax(both, 1, name=key.CLASSES),
            }

    def _more_metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        logistic = predictions[PredictionKey.LOGISTIC]
        classes = predictions[PredictionKey.CLASSES]
        mean, auc = streaming.streaming_mean, streaming.streaming_auc
        metrics = {
            MetricKey.ACCURACY: accuracy(labels, classes, weights),
            MetricKey.PREDICTION_MEAN: mean(logistic, weights),
            MetricKey.LABEL_MEAN: mean(labels, weights),
            MetricKey.ACCURACY_BASELINE: mean(labels, weights),
            MetricKey.AUC: auc(logistic, labels, weights),
            MetricKey.AUC_PR: auc(logistic, labels, weights, curve="PR"),
        }
        at_thresholds = {
            MetricKey.ACCURACY_MEAN: streaming.accuracy_at_threshold,
            MetricKey.PRECISION_MEAN: streaming.precision_at_threshold,
            MetricKey.RECALL_MEAN: streaming.recall_at_threshold,
        }
        for threshold in self._thresholds:
            for name, metric in at_thresholds.items():
                made = metric(logistic, labels, weights, threshold)
                metrics[name % threshold] = made
        return metrics

    def _output_alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return classes_to_serve(self._head_name, self._problem_type, predictions)


class BinarySvmHead(SingleHead):
    """Predicts one of two classes, by the margin.

    Args:
      thresholds: not used.
      **options: `SingleHead`'s.
    """

    default_scope = "binary_svm_head"

    def __init__(
        self, thresholds: Sequence[float] | None = None, **options: Any
    ) -> None:
        kind = ProblemType.LOGISTIC_REGRESSION
        super().__init__(kind, 1, loss_fn=head_losses.svm_loss, **options)
        self._thresholds = thresholds or (0.5,)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey
        with name_scope(None, "predictions", (logits,)):
            classes = argmax(two_class_logits(logits), 1, name=key.CLASSES)
            return {key.LOGITS: logits, key.CLASSES: classes}

    def _more_metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        return {MetricKey.ACCURACY: accuracy(labels, classes, weights)}


def _checked_class_ids(class_ids: Any, n_classes: int) -> tuple[int, ...]:
    found = tuple(() if class_ids is None else class_ids)
    for class_id in found:
        if not 0 <= class_id < n_classes:
            raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
    return found


class MultiClassHead(SingleHead):
    """Predicts one of more than two classes.

    Args:
      n_classes: how many there are.
      thresholds: not used.
      metric_class_ids: classes that have metrics of their own.
      loss_fn: the loss; the cross entropy when None.
      label_keys: the names of the classes, if labels are names.
      **options: `SingleHead`'s.

    Raises:
      ValueError: there are not more than two, no such class, or not a name for each.
    """

    default_scope = "multi_class_head"

    def __init__(
        self,
        n_classes: int,
        thresholds: Sequence[float] | None = None,
        metric_class_ids: Any = None,
        loss_fn: Any = None,
        label_keys: Any = None,
        **options: Any,
    ) -> None:
        loss_fn = loss_fn or head_losses.softmax_cross_entropy_loss
        kind = ProblemType.CLASSIFICATION
        super().__init__(kind, n_classes, loss_fn=loss_fn, **options)
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        self._thresholds = thresholds or (0.5,)
        self._metric_class_ids = _checked_class_ids(metric_class_ids, n_classes)
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _transform_labels(self, labels: Any) -> dict[str, Any]:
        """The labels, and their numbers."""
        labels = super()._transform_labels(labels)
        numbers = labels
        if self._label_keys:
            table = index_table_from_tensor(self._label_keys, name="label_id_lookup")
            numbers = table.lookup(labels)
        return {"labels": labels, "label_ids": numbers}

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        return super()._loss(labels["label_ids"], logits, weights)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey
        with name_scope(None, "predictions", (logits,)):
            classes = argmax(logits, 1, name=key.CLASSES)
            if self._label_keys:
                table = index_to_string_table_from_tensor(
                    self._label_keys, name="class_string_lookup"
                )
                classes = table.lookup(classes)
            return {
                key.LOGITS: logits,
                key.PROBABILITIES: softmax(logits, name=key.PROBABILITIES),
                key.CLASSES: classes,
            }

    def _more_metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        key = PredictionKey
        classes = predictions[key.CLASSES]
        metrics = {MetricKey.ACCURACY: accuracy(labels["labels"], classes, weights)}
        mean = streaming.streaming_mean
        for index in () if self._label_keys else self._metric_class_ids:
            numbers = labels["label_ids"]
            probabilities = predictions[key.PROBABILITIES]
            of_class = {
                MetricKey.CLASS_PREDICTION_MEAN: streaming.class_mean(
                    classes, weights, index
                ),
                MetricKey.CLASS_LABEL_MEAN: streaming.class_mean(
                    numbers, weights, index
                ),
                MetricKey.CLASS_PROBABILITY_MEAN: mean(probabilities, weights, index),
                MetricKey.CLASS_LOGITS_MEAN: mean(
                    predictions[key.LOGITS], weights, index
                ),
            }
            metrics.update({name % index: it for name, it in of_class.items()})
        return metrics

    def _output_alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return classes_to_serve(
            self._head_name, self._problem_type, predictions, self._label_keys
        )


class MultiLabelHead(SingleHead):
    """Predicts of each class whether it is there.

    Args:
      n_classes: how many there are.
      thresholds: not used.
      metric_class_ids: classes that have metrics of their own.
      loss_fn: the loss; the cross entropy when None.
      **options: `SingleHead`'s.

    Raises:
      ValueError: there is no such class.
    """

    default_scope = "multi_label_head"

    def __init__(
        self,
        n_classes: int,
        thresholds: Sequence[float] | None = None,
        metric_class_ids: Any = None,
        loss_fn: Any = None,
        **options: Any,
    ) -> None:
        loss_fn = loss_fn or head_losses.sigmoid_cross_entropy_loss
        kind = ProblemType.CLASSIFICATION
        super().__init__(kind, n_classes, loss_fn=loss_fn, **options)
        self._thresholds = thresholds or (0.5,)
        self._metric_class_ids = _checked_class_ids(metric_class_ids, n_classes)

    def _dense_labels(self, labels: SparseTensor) -> Any:
        if self.logits_dimension < 2:
            raise ValueError(
                "Must set num_classes >= 2 when passing labels as a SparseTensor."
            )
        return cast(sparse_to_indicator(labels, self.logits_dimension), dtypes.int64)

    def _logits_to_predictions(self, logits: Any) -> dict[str, Any]:
        key = PredictionKey
        with name_scope(None, "predictions", (logits,)):
            return {
                key.LOGITS: logits,
                key.PROBABILITIES: sigmoid(logits, name=key.PROBABILITIES),
                key.CLASSES: cast(greater(logits, 0), dtypes.int64, name=key.CLASSES),
            }

    def _more_metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Any
    ) -> dict[str, Any]:
        classes = predictions[PredictionKey.CLASSES]
        probabilities = predictions[PredictionKey.PROBABILITIES]
        mean, auc = streaming.streaming_mean, streaming.streaming_auc
        metrics = {
            MetricKey.ACCURACY: accuracy(labels, classes, weights),
            MetricKey.AUC: auc(probabilities, labels, weights),
            MetricKey.AUC_PR: auc(probabilities, labels, weights, curve="PR"),
        }
        for index in self._metric_class_ids:
            logits = predictions[PredictionKey.LOGITS]
            of_class = {
                MetricKey.CLASS_PREDICTION_MEAN: mean(classes, weights, index),
                MetricKey.CLASS_LABEL_MEAN: mean(labels, weights, index),
                MetricKey.CLASS_PROBABILITY_MEAN: mean(probabilities, weights, index),
                MetricKey.CLASS_LOGITS_MEAN: mean(logits, weights, index),
                MetricKey.CLASS_AUC: auc(probabilities, labels, weights, index),
                MetricKey.CLASS_AUC_PR: auc(
                    probabilities, labels, weights, index, curve="PR"
                ),
            }
            metrics.update({name % index: it for name, it in of_class.items()})
        return metrics

    def _output_alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return classes_to_serve(self._head_name, self._problem_type, predictions)


def classes_to_serve(
    head_name: str | None,
    problem_type: int,
    predictions: dict[str, Any],
    label_keys: Any = None,
) -> dict[Any, Any]:
    """The probabilities with the names of their classes, for each example."""
    probabilities = predictions.get(PredictionKey.PROBABILITIES)
    if probabilities is None:
        raise ValueError(f"{PredictionKey.PROBABILITIES} missing in predictions")
    with name_scope(None, "_classification_output_alternatives", (probabilities,)):
        batch_size = shape(probabilities)[0]
        if label_keys:
            names = tile(
                expand_dims(label_keys, axis=0), [batch_size, 1], name="classes_tensor"
            )
        else:
            count = shape(probabilities)[1]
            numbers = tile(expand_dims(sequence(count), axis=0), [batch_size, 1])
            names = as_string(numbers, name="classes_tensor")
    outputs = {
        PredictionKey.PROBABILITIES: probabilities,
        PredictionKey.CLASSES: names,
    }
    return {head_name: (problem_type, outputs)}
