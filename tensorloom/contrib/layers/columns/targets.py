"""Targets of the first estimators: losses, predictions and measures of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.contrib.layers.columns.names import declared
from tensorloom.contrib.losses.element_losses import hinge_loss
from tensorloom.framework import export as exports
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.math.binary import div, multiply, squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater_equal, less_equal
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.nn.loss import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.reductions.reductions import argmax, reduce_mean, reduce_sum

Metric = Callable[..., Any]


@export("contrib.slim.ProblemType")
class ProblemType:
    """The kinds of problems."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


def _streaming(name: str) -> Metric:
    found: Metric = exports.find(f"contrib.metrics.streaming_{name}")
    return found


class Target:
    """What a model is to predict.

    Args:
      loss_fn: the loss of each logit, of logits and labels.
      num_label_columns: how many logits an example has.
      label_name: of the labels in a dict.
      weight_column_name: of the feature that has the examples' weights.
      problem_type: of `ProblemType`.

    Raises:
      ValueError: no loss, or no number of logits.
    """

    def __init__(
        self,
        loss_fn: Callable[[Any, Any], Any] | None,
        num_label_columns: int | None,
        label_name: str | None,
        weight_column_name: str | None,
        problem_type: int,
    ) -> None:
        if loss_fn is None:
            raise ValueError("loss_fn must be provided")
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name = label_name
        self.weight_column_name = weight_column_name
        self.problem_type = problem_type

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """What logits predict; probabilities if asked for."""
        raise NotImplementedError(f"{type(self).__name__}.logits_to_predictions()")

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Any:
        """The weights of the examples `[batch]`; None where all are alike."""
        if not self.weight_column_name:
            return None
        weights = cast(features[self.weight_column_name], dtypes.float32)
        return reshape(weights, shape=(-1,))

    def _losses(
        self, logits: Any, target: Any, features: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        labels = target[self.label_name] if isinstance(target, dict) else target
        losses, weights = (
            self._loss_fn(logits, labels),
            self.get_weight_tensor(features),
        )
        if weights is not None:
            losses = multiply(reshape(losses, shape=(-1,)), weights)
        return losses, weights

    def training_loss(
        self,
        logits: Any,
        target: Any,
        features: Mapping[str, Any],
        name: str = "training_loss",
    ) -> Any:
        """The mean of the weighted losses.

        Args:
          logits: `[batch, num_label_columns]`.
          target: labels, or a dict that has them under `label_name`.
          features: tensors by name, for weights.
          name: of the operation.
        """
        losses, _ = self._losses(logits, target, features)
        return reduce_mean(losses, name=name)

    def loss(self, logits: Any, target: Any, features: Mapping[str, Any]) -> Any:
        """The weighted mean of the losses; arguments as of `training_loss`."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return reduce_mean(losses, name="loss")
        total = cast(reduce_sum(weights), dtypes.float32)
        return div(reduce_sum(losses), total, name="loss")

    def _measured(
        self,
        predictions: Any,
        labels: Any,
        metrics: Mapping[Any, Metric] | None,
        features: Mapping[str, Any],
    ) -> dict[Any, Any]:
        weights = self.get_weight_tensor(features)
        given = {} if weights is None else {"weights": weights}
        labels = cast(labels, predictions.dtype)
        return {
            name: metric(predictions, labels, **given)
            for name, metric in (metrics or {}).items()
        }


class RegressionTarget(Target):
    """Numbers."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The logits."""
        return squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Any,
        labels: Any,
        metrics: Mapping[Any, Metric] | None = None,
    ) -> dict[Any, Any]:
        """Values and updates of the loss and of metrics, by name."""
        result = {"loss": _streaming("mean")(self.loss(logits, labels, features))}
        if metrics:
            predictions = self.logits_to_predictions(logits)
            result.update(self._measured(predictions, labels, metrics, features))
        return result


class MultiClassTarget(Target):
    """One of some classes."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The classes, or their probabilities."""
        if self.num_label_columns == 1:
            logits = concat([zeros_like(logits), logits], 1)
        return softmax(logits) if proba else argmax(logits, 1)

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Any,
        labels: Any,
        metrics: Mapping[Any, Metric] | None = None,
    ) -> dict[Any, Any]:
        """Values and updates of the loss and of metrics, by name.

        Args:
          metrics: functions of predictions and labels, by names or by pairs of a name
            and "classes" or "probabilities": what predictions they are of.

        Raises:
          ValueError: a name is neither.
        """
        result = {"loss": _streaming("mean")(self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): _streaming("accuracy")}
        if self.num_label_columns == 1:
            numbers = cast(labels, dtypes.float32)
            of_two = get_default_binary_metrics_for_eval(thresholds=[0.5])
            for name, metric in of_two.items():
                result[name] = metric(sigmoid(logits), numbers)
        kinds: dict[str, dict[Any, Metric]] = {"classes": {}, "probabilities": {}}
        for key, metric in metrics.items():
            name, kind = _name_and_kind(key)
            kinds[kind][name] = metric
        for kind, chosen in kinds.items():
            if chosen:
                predictions = self.logits_to_predictions(
                    logits, proba=kind == "probabilities"
                )
                result.update(self._measured(predictions, labels, chosen, features))
        return result


def _name_and_kind(key: Any) -> tuple[str, str]:
    if isinstance(key, str):
        return key, "classes"
    if not isinstance(key, tuple):
        raise ValueError(f"Ignoring metric {key}. Its name is not in the correct form.")
    if len(key) != 2:
        raise ValueError(
            f"Ignoring metric {key}. It returned a tuple with len {len(key)}, expected "
            "2."
        )
    if key[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"Ignoring metric {key}. The 2nd element of its name should be either "
            "'classes' or 'probabilities'."
        )
    return key[0], key[1]


class BinarySvmTarget(MultiClassTarget):
    """One of two classes, by a margin."""

    def logits_to_predictions(self, logits: Any, proba: bool = False) -> Any:
        """The classes. Raises ValueError for probabilities."""
        if proba:
            raise ValueError(
                "logits to probabilities is not supported for _BinarySvmTargetColumn"
            )
        return super().logits_to_predictions(logits)


# --- losses -------------------------------------------------------------------


def _column(target: Any) -> Any:
    is_vector = target.get_shape().ndims == 1
    return expand_dims(target, axis=1) if is_vector else target


def mean_squared_loss(logits: Any, target: Any) -> Any:
    """The squares of differences."""
    target = _column(target)
    logits.get_shape().assert_is_compatible_with(target.get_shape())
    return squared_difference(logits, cast(target, dtypes.float32))


def _log_loss(logits: Any, target: Any) -> Any:
    labels = cast(_column(target), dtypes.float32)
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _cross_entropy(logits: Any, target: Any) -> Any:
    if not target.dtype.is_integer:
        raise ValueError(
            f"Target's dtype should be integer Instead got {target.dtype}."
        )
    if target.get_shape().ndims == 2:
        target = squeeze(target, axis=[1])
    return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


def _hinge(logits: Any, target: Any) -> Any:
    check = Assert(
        less_equal(rank(target), 2),
        ["target's shape should be either [batch_size, 1] or [batch_size]"],
    )
    with control_dependencies([check]):
        target = reshape(target, shape=[shape(target)[0], 1])
    return hinge_loss(logits, target)


# --- the targets --------------------------------------------------------------


@declared("regression_target")
def regression_target(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
) -> RegressionTarget:
    """Numbers, with squared differences as loss.

    Args:
      label_name: of the labels in a dict.
      weight_column_name: of the feature that has the examples' weights.
      label_dimension: how many numbers an example has.
    """
    return RegressionTarget(
        mean_squared_loss,
        label_dimension,
        label_name,
        weight_column_name,
        ProblemType.LINEAR_REGRESSION,
    )


@declared("multi_class_target")
def multi_class_target(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
) -> MultiClassTarget:
    """One of `n_classes` classes, with the cross-entropy as loss.

    Raises:
      ValueError: fewer than two classes.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    return MultiClassTarget(
        _log_loss if n_classes == 2 else _cross_entropy,
        1 if n_classes == 2 else n_classes,
        label_name,
        weight_column_name,
        ProblemType.CLASSIFICATION,
    )


@export("contrib.slim.binary_svm_target")
def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> BinarySvmTarget:
    """One of two classes, with the hinge loss."""
    return BinarySvmTarget(
        _hinge, 1, label_name, weight_column_name, ProblemType.CLASSIFICATION
    )


# --- measures -----------------------------------------------------------------

_NAMES: Final = {
    "accuracy": "accuracy/threshold_%f_mean",
    "precision": "precision/positive_threshold_%f_mean",
    "recall": "recall/positive_threshold_%f_mean",
}


@export("contrib.slim.get_default_binary_metrics_for_eval")
def get_default_binary_metrics_for_eval(thresholds: Any) -> dict[str, Metric]:
    """Metrics of two classes, by name: functions of predictions, labels and weights.

    Args:
      thresholds: for each, accuracy, precision and recall are measured.
    """

    def mean_prediction(predictions: Any, labels: Any, weights: Any = None) -> Any:
        return _streaming("mean")(predictions, weights=weights)

    def mean_label(predictions: Any, labels: Any, weights: Any = None) -> Any:
        return _streaming("mean")(labels, weights=weights)

    def area(predictions: Any, labels: Any, weights: Any = None) -> Any:
        return _streaming("auc")(predictions, labels, weights=_floats(weights))

    found: dict[str, Metric] = {
        "labels/prediction_mean": mean_prediction,
        "labels/actual_target_mean": mean_label,
        "accuracy/baseline_target_mean": mean_label,
        "auc": area,
    }
    for threshold in thresholds:
        found[_NAMES["accuracy"] % threshold] = _accuracy_at(threshold)
        for name in ("precision", "recall"):
            found[_NAMES[name] % threshold] = _measure_at(name, threshold)
    return found


def _floats(weights: Any) -> Any:
    return None if weights is None else cast(weights, dtypes.float32)


def _accuracy_at(threshold: float) -> Metric:
    def accuracy(predictions: Any, labels: Any, weights: Any = None) -> Any:
        classes = cast(greater_equal(predictions, threshold), dtypes.float32)
        return _streaming("accuracy")(
            predictions=classes, labels=labels, weights=weights
        )

    return accuracy


def _measure_at(name: str, threshold: float) -> Metric:
    def measure(predictions: Any, labels: Any, weights: Any = None) -> Any:
        value, update = _streaming(f"{name}_at_thresholds")(
            predictions,
            labels=labels,
            thresholds=[threshold],
            weights=_floats(weights),
        )
        return squeeze(value), update

    return measure
