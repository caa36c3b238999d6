"""`tf.estimator.RegressionHead` and its relatives: numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput, RegressionOutput
from tensorloom.estimator.heads import checks
from tensorloom.estimator.heads.classifier_predictions import check_keys
from tensorloom.estimator.heads.single_head import SUM_OVER_BATCH_SIZE, SingleHead
from tensorloom.estimator.heads.streaming_metrics import mean_metric
from tensorloom.framework.export import export
from tensorloom.losses.element_losses import mean_squared_error
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.math.cast import to_float
from tensorloom.ops.math.elementwise import exp, sigmoid
from tensorloom.ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits


@export("estimator.RegressionHead")
class RegressionHead(SingleHead):
    """The squared error of numbers, or another loss."""

    _per_logit = True

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          label_dimension: how many numbers an example has.
          weight_column: the feature that weighs examples, or None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          loss_fn: a function of `labels`, `logits` and maybe `features` instead.
          inverse_link_fn: makes predictions of logits; they are the same when None.
          name: of the head, where there are several.

        Raises:
          ValueError: an argument has an impossible value.
        """
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """A logit for each number."""
        return self._label_dimension

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        return to_float(checks.check_labels(labels, logits, self._label_dimension))

    def _unweighted_loss(self, logits: Any, labels: Any, features: Any) -> Any:
        if self._loss_fn:
            return checks.call_loss_fn(
                self._loss_fn, labels, logits, features, self._label_dimension
            )
        return mean_squared_error(
            labels=labels, predictions=logits, reduction=Reduction.NONE
        )

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Predictions, and logits where they differ."""
        logits = checks.check_logits(logits, self.logits_dimension)
        if self._inverse_link_fn:
            found = {
                PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits),
                PredictionKeys.LOGITS: logits,
            }
        else:
            found = {PredictionKeys.PREDICTIONS: logits}
        return {key: found[key] for key in check_keys(keys, tuple(found))}

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            "serving_default": output,
            "regression": output,
            "predict": PredictOutput(predictions),
        }

    def _own_metrics(self) -> dict[str, Any]:
        keys = (MetricKeys.PREDICTION_MEAN, MetricKeys.LABEL_MEAN)
        return {key: mean_metric(key) for key in keys}

    def _update_own(
        self, metrics: Mapping[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        predicted = self.predictions(logits)[PredictionKeys.PREDICTIONS]
        metrics[MetricKeys.PREDICTION_MEAN].update_state(
            predicted, sample_weight=weights
        )
        metrics[MetricKeys.LABEL_MEAN].update_state(labels, sample_weight=weights)


@export("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """Counts: the loss is that of a Poisson distribution, logits are logarithms."""

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        compute_full_loss: bool = True,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          label_dimension: how many numbers an example has.
          weight_column: the feature that weighs examples, or None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          compute_full_loss: with the part that labels alone decide.
          name: of the head, where there are several.
        """
        self._compute_full_loss = compute_full_loss
        super().__init__(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            loss_fn=self._poisson_loss,
            inverse_link_fn=exp,
            name=name,
        )

    def _poisson_loss(self, labels: Any, logits: Any) -> Any:
        return log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=self._compute_full_loss
        )


@export("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """A probability: the loss is the cross-entropy with labels in [0, 1]."""

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          weight_column: the feature that weighs examples, or None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          name: of the head, where there are several.
        """
        super().__init__(
            label_dimension=1,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
            loss_fn=self._logistic_loss,
            inverse_link_fn=sigmoid,
            name=name,
        )

    def _logistic_loss(self, labels: Any, logits: Any) -> Any:
        labels = checks.check_label_range(
            labels, n_classes=2, message="Labels must be in range [0, 1]"
        )
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
