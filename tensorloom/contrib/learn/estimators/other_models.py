"""Logistic regression by a program's function, and models that see no features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.contrib.layers.training_step import optimize_loss
from tensorloom.contrib.learn import columns
from tensorloom.contrib.learn.estimators.model_fn_estimator import Estimator
from tensorloom.contrib.learn.head.makers import multi_class_head, regression_head
from tensorloom.contrib.learn.keys import (
    MetricKey,
    ModeKeys,
    PredictionKey,
    ProblemType,
)
from tensorloom.contrib.learn.model_results import ModelFnOps
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.metrics import averages, counts, curves
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check import assert_equal
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater_equal


@export("contrib.learn.LogisticRegressor")
def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: Any = None,
    config: Any = None,
    feature_engineering_fn: Any = None,
) -> Estimator:
    """An `Estimator` with the metrics of logistic regression.

    Args:
      model_fn: of features, labels and mode: gives (predictions, loss, train_op).
        Predictions are probabilities of the second class.
      thresholds: metrics count what has such a probability as of the second class; 0.5
        when None.
      model_dir: where checkpoints and events go.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
    """

    def with_metrics(
        features: Any, labels: Any, mode: str, params: dict[str, Any]
    ) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            at = params.get("thresholds") or [0.5]
            metrics = _logistic_metrics(labels, predictions, at)
        kind = ProblemType.LOGISTIC_REGRESSION
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives={"head": (kind, {"predictions": predictions})},
        )

    return Estimator(
        model_fn=with_metrics,
        model_dir=model_dir,
        config=config,
        params={"thresholds": thresholds},
        feature_engineering_fn=feature_engineering_fn,
    )


def _logistic_metrics(
    labels: Any, predictions: Any, thresholds: Sequence[float]
) -> dict[str, Any]:
    if isinstance(labels, dict) and len(labels) == 1:
        labels = next(iter(labels.values()))
    metrics = {
        MetricKey.PREDICTION_MEAN: averages.mean(predictions),
        MetricKey.LABEL_MEAN: averages.mean(labels),
        MetricKey.ACCURACY_BASELINE: averages.mean(labels),
        MetricKey.AUC: curves.auc(labels=labels, predictions=predictions),
    }
    for threshold in thresholds:
        positive = cast(
            greater_equal(predictions, threshold),
            dtypes.float32,
            name=f"predictions_at_threshold_{threshold:f}",
        )
        for name, metric in (
            (MetricKey.ACCURACY_MEAN, averages.accuracy),
            (MetricKey.PRECISION_MEAN, counts.precision),
            (MetricKey.RECALL_MEAN, counts.recall),
        ):
            made = metric(labels=labels, predictions=positive)
            metrics[name % threshold] = made
    return metrics


def debug_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> Any:
    """The model function of models that predict the mean label, by a centered bias.

    Args:
      features: tensors by their keys, or a tensor; only their sizes count.
      labels: labels as the head takes them.
      mode: a `ModeKeys`.
      params: `head`.
      config: not used.

    Raises:
      ValueError: there are no features.
    """
    features = columns.as_dict(features)
    if not features:
        raise ValueError("Features cannot be empty.")
    head = params["head"]
    sizes = [shape(feature)[0] for feature in features.values()]
    checks = [assert_equal(sizes[0], size) for size in sizes[1:]]
    with control_dependencies(checks):
        logits = zeros([sizes[0], head.logits_dimension])

    def train_op_fn(loss: Any) -> Any:
        return optimize_loss(
            loss, global_step=None, learning_rate=0.3, optimizer="Adagrad"
        )

    return head.create_model_fn_ops(
        features=features,
        labels=labels,
        mode=mode,
        train_op_fn=train_op_fn,
        logits=logits,
    )


class _DebugModel(Estimator):
    """A model that sees no features."""

    def _one_output(self, key: str, input_fn: Any, batch_size: int | None) -> Any:
        found = self.predict(input_fn=input_fn, batch_size=batch_size, outputs=[key])
        return (one[key] for one in found)


class DebugClassifier(_DebugModel):
    """Predicts the most frequent class: what other classifiers are compared with.

    Args:
      model_dir: where checkpoints and events go.
      n_classes: how many classes there are.
      weight_column_name: the key of the feature that has the weights; None for none.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
      label_keys: the names of more than two classes, if labels are names.
    """

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        label_keys: Any = None,
    ) -> None:
        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=True,
            label_keys=label_keys,
        )
        super().__init__(
            model_fn=debug_model_fn,
            model_dir=model_dir,
            config=config,
            params={"head": head},
            feature_engineering_fn=feature_engineering_fn,
        )

    def predict_classes(
        self, input_fn: Any = None, batch_size: int | None = None
    ) -> Any:
        """The class of each example."""
        return self._one_output(PredictionKey.CLASSES, input_fn, batch_size)

    def predict_proba(self, input_fn: Any = None, batch_size: int | None = None) -> Any:
        """The probabilities of all classes, for each example."""
        return self._one_output(PredictionKey.PROBABILITIES, input_fn, batch_size)


class DebugRegressor(_DebugModel):
    """Predicts the mean label: what other regressors are compared with.

    Args:
      model_dir: where checkpoints and events go.
      label_dimension: how many numbers for an example.
      weight_column_name: the key of the feature that has the weights; None for none.
      config: a `RunConfig`.
      feature_engineering_fn: from (features, labels) of the input to the model's.
    """

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column_name: str | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        head = regression_head(
            weight_column_name=weight_column_name,
            label_dimension=label_dimension,
            enable_centered_bias=True,
        )
        super().__init__(
            model_fn=debug_model_fn,
            model_dir=model_dir,
            config=config,
            params={"head": head},
            feature_engineering_fn=feature_engineering_fn,
        )

    def predict_scores(
        self, input_fn: Any = None, batch_size: int | None = None
    ) -> Any:
        """The numbers of each example."""
        return self._one_output(PredictionKey.SCORES, input_fn, batch_size)
