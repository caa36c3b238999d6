"""The head of regressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.estimator.canned.heads.base import (
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    CannedHead,
    LossSpec,
)
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput, RegressionOutput
from tensorloom.estimator.heads import checks
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.element_losses import mean_squared_error
from tensorloom.losses.weighted import Reduction
from tensorloom.metrics.averages import mean
from tensorloom.ops.math.cast import to_float


class RegressionHead(CannedHead):
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

    def __init__(
        self,
        weight_column: Any = None,
        label_dimension: int = 1,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """A logit for each number."""
        return self._label_dimension

    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """See `CannedHead.create_loss`; labels have the shape of the logits."""
        logits = convert_to_tensor(logits)
        labels = to_float(checks.check_labels(labels, logits, self._label_dimension))
        if self._loss_fn:
            loss = checks.call_loss_fn(
                self._loss_fn, labels, logits, features, self._label_dimension
            )
        else:
            loss = mean_squared_error(
                labels=labels, predictions=logits, reduction=Reduction.NONE
            )
        return self._weighted(loss, labels, features, logits, per_logit=True)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if not self._inverse_link_fn:
            return {PredictionKeys.PREDICTIONS: logits}
        return {
            PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits),
            PredictionKeys.LOGITS: logits,
        }

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_KEY: output,
            REGRESS_SERVING_KEY: output,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(
        self, loss: LossSpec, predictions: dict[str, Any], regularization_loss: Any
    ) -> dict[str, Any]:
        weights = loss.weights
        metrics = {
            MetricKeys.LOSS_MEAN: mean(loss.unreduced_loss, weights=weights),
            MetricKeys.PREDICTION_MEAN: mean(
                predictions[PredictionKeys.PREDICTIONS],
                weights=weights,
                name=MetricKeys.PREDICTION_MEAN,
            ),
            MetricKeys.LABEL_MEAN: mean(loss.processed_labels, weights=weights),
        }
        if regularization_loss is not None:
            metrics[MetricKeys.LOSS_REGULARIZATION] = mean(
                regularization_loss, name=MetricKeys.LOSS_REGULARIZATION
            )
        return {self._key(key): value for key, value in metrics.items()}
