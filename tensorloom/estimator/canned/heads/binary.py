"""The head of classifiers with two classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    CannedHead,
    LossSpec,
)
from tensorloom.estimator.canned.heads.binary_metrics import binary_metrics
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput, RegressionOutput
from tensorloom.estimator.heads import checks, class_names
from tensorloom.estimator.heads.classifier_predictions import binary_predictions
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.math.cast import to_float
from tensorloom.ops.nn.loss import sigmoid_cross_entropy_with_logits


class BinaryHead(CannedHead):
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
      TypeError: the vocabulary is no list.
    """

    def __init__(
        self,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        checks.check_vocabulary(label_vocabulary, TypeError)
        self._thresholds = checks.check_thresholds(thresholds)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """One logit, of the second class."""
        return 1

    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """See `CannedHead.create_loss`; labels have shape `[D0, ..., DN, 1]`."""
        logits = convert_to_tensor(logits)
        labels = checks.check_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_names.ids_of_names(labels, self._label_vocabulary)
        labels = checks.check_label_range(to_float(labels), 2)
        if self._loss_fn:
            loss = checks.call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            loss = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return self._weighted(loss, labels, features, logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return binary_predictions(logits, self._label_vocabulary)

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = class_names.classification_output(
            predictions[PredictionKeys.PROBABILITIES], 2, self._label_vocabulary
        )
        logistic = predictions[PredictionKeys.LOGISTIC]
        return {
            DEFAULT_SERVING_KEY: output,
            CLASSIFY_SERVING_KEY: output,
            REGRESS_SERVING_KEY: RegressionOutput(value=logistic),
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(
        self, loss: LossSpec, predictions: dict[str, Any], regularization_loss: Any
    ) -> dict[str, Any]:
        metrics = binary_metrics(
            loss, predictions, self._thresholds, regularization_loss
        )
        return {self._key(key): value for key, value in metrics.items()}
