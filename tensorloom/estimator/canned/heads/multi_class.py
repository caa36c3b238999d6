"""The head of classifiers with more than two classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.heads.base import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    CannedHead,
    LossSpec,
)
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.heads import checks, class_names
from tensorloom.estimator.heads.classifier_predictions import multi_class_predictions
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.cross_entropies import sparse_softmax_cross_entropy
from tensorloom.losses.weighted import Reduction
from tensorloom.metrics.averages import accuracy, mean
from tensorloom.ops.array.reshape import expand_dims


class MultiClassHead(CannedHead):
    """Softmax cross-entropy of one of many classes.

    Args:
      n_classes: how many classes there are, more than two.
      weight_column: the feature that weighs examples, or None.
      label_vocabulary: names of the classes; labels are numbers when None.
      loss_reduction: one of `tf.losses.Reduction`, not `NONE`.
      loss_fn: a function of `labels`, `logits` and maybe `features` instead.
      name: of the head, where there are several.

    Raises:
      ValueError: an argument has an impossible value.
    """

    def __init__(
        self,
        n_classes: Any,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        checks.check_vocabulary(label_vocabulary, ValueError)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = checks.check_n_classes(n_classes)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> Any:
        """A logit for each class."""
        return self._n_classes

    def create_loss(
        self, features: Mapping[Any, Any], mode: str, logits: Any, labels: Any
    ) -> LossSpec:
        """See `CannedHead.create_loss`; labels have shape `[D0, ..., DN, 1]`."""
        logits = convert_to_tensor(logits)
        labels = checks.check_labels(labels, logits, 1)
        label_ids = label_ids_of(labels, self._n_classes, self._label_vocabulary)
        if self._loss_fn:
            loss = checks.call_loss_fn(self._loss_fn, label_ids, logits, features)
        else:
            loss = sparse_softmax_cross_entropy(
                labels=label_ids, logits=logits, reduction=Reduction.NONE
            )
            loss = expand_dims(loss, axis=-1)
        return self._weighted(loss, label_ids, features, logits)

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return multi_class_predictions(logits, self._n_classes, self._label_vocabulary)

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = class_names.classification_output(
            predictions[PredictionKeys.PROBABILITIES],
            self._n_classes,
            self._label_vocabulary,
        )
        return {
            DEFAULT_SERVING_KEY: output,
            CLASSIFY_SERVING_KEY: output,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(
        self, loss: LossSpec, predictions: dict[str, Any], regularization_loss: Any
    ) -> dict[str, Any]:
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        values = (loss.processed_labels, class_ids, loss.weights, loss.unreduced_loss)
        with name_scope(None, "metrics", values=(*values, regularization_loss)):
            metrics = {
                MetricKeys.LOSS_MEAN: mean(
                    loss.unreduced_loss,
                    weights=loss.weights,
                    name=MetricKeys.LOSS_MEAN,
                ),
                MetricKeys.ACCURACY: accuracy(
                    labels=loss.processed_labels,
                    predictions=class_ids,
                    weights=loss.weights,
                    name=MetricKeys.ACCURACY,
                ),
            }
            if regularization_loss is not None:
                metrics[MetricKeys.LOSS_REGULARIZATION] = mean(
                    regularization_loss, name=MetricKeys.LOSS_REGULARIZATION
                )
        return {self._key(key): value for key, value in metrics.items()}


def label_ids_of(
    labels: Any, n_classes: Any, label_vocabulary: Sequence[str] | None
) -> Any:
    """Labels as numbers of classes, checked to be in range when they are used.

    Raises:
      ValueError: they are no integers, or no texts where classes have names.
    """
    if label_vocabulary is None:
        if not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {labels.dtype}."
            )
        label_ids = labels
    else:
        if labels.dtype.base_dtype != dtypes.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. Instead got "
                f"{labels.dtype}"
            )
        label_ids = class_names.ids_of_names(labels, label_vocabulary)
    return checks.check_label_range(label_ids, n_classes)
