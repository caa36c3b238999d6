"""`tf.estimator.BinaryClassHead`: one of two classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.metric_keys import MetricKeys as Keys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput, RegressionOutput
from tensorloom.estimator.heads import checks, class_names, streaming_metrics
from tensorloom.estimator.heads.classifier_predictions import (
    BINARY_KEYS,
    binary_predictions,
    check_keys,
)
from tensorloom.estimator.heads.single_head import SUM_OVER_BATCH_SIZE, SingleHead
from tensorloom.estimator.heads.threshold_metrics import (
    threshold_metrics,
    update_threshold_metrics,
)
from tensorloom.framework.export import export
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import to_float
from tensorloom.ops.nn.loss import sigmoid_cross_entropy_with_logits


@export("estimator.BinaryClassHead")
class BinaryClassHead(SingleHead):
    """Sigmoid cross-entropy of two classes."""

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          weight_column: the feature that weighs examples, or None.
          thresholds: probabilities from which on the second class is predicted, each
            with metrics of its own.
          label_vocabulary: names of both classes; labels are numbers when None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          loss_fn: a function of `labels`, `logits` and maybe `features` instead.
          name: of the head, where there are several.

        Raises:
          ValueError: an argument has an impossible value.
        """
        checks.check_vocabulary(label_vocabulary, ValueError)
        self._thresholds = checks.check_thresholds(thresholds)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """One logit, of the second class."""
        return 1

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        labels = checks.check_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_names.ids_of_names(labels, self._label_vocabulary)
        return checks.check_label_range(to_float(labels), 2)

    def _unweighted_loss(self, logits: Any, labels: Any, features: Any) -> Any:
        if self._loss_fn:
            return checks.call_loss_fn(self._loss_fn, labels, logits, features)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Predictions by their keys; all when `keys` is None."""
        chosen = check_keys(keys, BINARY_KEYS)
        logits = checks.check_logits(logits, self.logits_dimension)
        return binary_predictions(logits, self._label_vocabulary, chosen)

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = class_names.classification_output(
            predictions[PredictionKeys.PROBABILITIES], 2, self._label_vocabulary
        )
        logistic = predictions[PredictionKeys.LOGISTIC]
        return {
            "serving_default": output,
            "classification": output,
            "regression": RegressionOutput(value=logistic),
            "predict": PredictOutput(predictions),
        }

    def _own_metrics(self) -> dict[str, Any]:
        made = streaming_metrics
        return {
            Keys.ACCURACY: made.accuracy_metric(Keys.ACCURACY),
            Keys.PRECISION: made.precision_metric(Keys.PRECISION),
            Keys.RECALL: made.recall_metric(Keys.RECALL),
            Keys.PREDICTION_MEAN: made.mean_metric(Keys.PREDICTION_MEAN),
            Keys.LABEL_MEAN: made.mean_metric(Keys.LABEL_MEAN),
            Keys.ACCURACY_BASELINE: made.mean_metric(Keys.ACCURACY_BASELINE),
            Keys.AUC: made.auc_metric(Keys.AUC),
            Keys.AUC_PR: made.auc_metric(Keys.AUC_PR, curve="PR"),
            **threshold_metrics(self._thresholds),
        }

    def _update_own(
        self, metrics: Mapping[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        predictions = self.predictions(logits)
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        logistic = predictions[PredictionKeys.LOGISTIC]
        for key in (Keys.ACCURACY, Keys.PRECISION, Keys.RECALL):
            metrics[key].update_state(labels, class_ids, sample_weight=weights)
        metrics[Keys.PREDICTION_MEAN].update_state(logistic, sample_weight=weights)
        label_mean = metrics[Keys.LABEL_MEAN]
        update = label_mean.update_state(labels, sample_weight=weights)
        value = label_mean.result()
        metrics[Keys.ACCURACY_BASELINE].set(
            maximum(value, 1.0 - value), maximum(update, 1.0 - update)
        )
        for key in (Keys.AUC, Keys.AUC_PR):
            metrics[key].update_state(labels, logistic, sample_weight=weights)
        update_threshold_metrics(metrics, self._thresholds, labels, logistic, weights)
