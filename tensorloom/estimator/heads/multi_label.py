"""`tf.estimator.MultiLabelHead`: any of several classes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.metric_keys import MetricKeys as Keys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.heads import checks, class_names
from tensorloom.estimator.heads.classifier_predictions import check_keys
from tensorloom.estimator.heads.single_head import SUM_OVER_BATCH_SIZE, SingleHead
from tensorloom.estimator.heads.streaming_metrics import auc_metric, mean_metric
from tensorloom.estimator.heads.threshold_metrics import (
    threshold_metrics,
    update_threshold_metrics,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.losses.cross_entropies import sigmoid_cross_entropy
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.math.cast import to_int64
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.reductions.reductions import reduce_mean
from tensorloom.ops.sparse.sparse_builders import sparse_to_indicator

_KEYS = (PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES)


@export("estimator.MultiLabelHead")
class MultiLabelHead(SingleHead):
    """The mean sigmoid cross-entropy of classes that do not exclude each other."""

    def __init__(
        self,
        n_classes: int,
        weight_column: Any = None,
        thresholds: Iterable[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          n_classes: how many classes there are, at least two.
          weight_column: the feature that weighs examples, or None.
          thresholds: probabilities from which on a class is predicted, each with
            metrics of its own.
          label_vocabulary: names of the classes; labels are numbers when None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          loss_fn: a function of `labels`, `logits` and maybe `features` instead.
          classes_for_class_based_metrics: classes with metrics of their own, by number
            or name.
          name: of the head, where there are several.

        Raises:
          ValueError: an argument has an impossible value.
        """
        if n_classes is None or n_classes < 2:
            raise ValueError(
                "n_classes must be > 1 for multi-label classification. Given: "
                f"{n_classes}"
            )
        thresholds = tuple(thresholds or ())
        for threshold in thresholds:
            if not 0.0 < threshold < 1.0:
                raise ValueError(
                    f"thresholds must be in (0, 1) range. Given: {threshold}"
                )
        _check_vocabulary(label_vocabulary, n_classes)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = thresholds
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary
        self._classes = _class_ids(
            classes_for_class_based_metrics, n_classes, label_vocabulary
        )

    @property
    def logits_dimension(self) -> int:
        """A logit for each class."""
        return self._n_classes

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        """Labels as ones and zeros, `[D0, ..., DN, n_classes]`."""
        if isinstance(labels, SparseTensor):
            indicator = to_int64(
                sparse_to_indicator(self._sparse_ids(labels), self._n_classes)
            )
        else:
            if labels is None:
                return checks.check_labels(labels, logits, self._n_classes)
            indicator = checks.check_label_range(
                labels,
                2,
                "labels must be an integer indicator Tensor with values in [0, 1]",
            )
        return checks.check_labels(indicator, logits, self._n_classes)

    def _sparse_ids(self, labels: SparseTensor) -> SparseTensor:
        values = labels.values
        if labels.dtype.base_dtype == dtypes.string:
            ids = class_names.ids_of_names(values, self._label_vocabulary or ())
            return SparseTensor(labels.indices, ids, labels.dense_shape)
        if not values.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer. Instead got {values.dtype}."
            )
        checked = checks.check_label_range(
            values,
            self._n_classes,
            "labels must be an integer SparseTensor with values in "
            f"[0, {self._n_classes})",
        )
        with control_dependencies([checked]):
            return SparseTensor(labels.indices, checked, labels.dense_shape)

    def _unweighted_loss(self, logits: Any, labels: Any, features: Any) -> Any:
        if self._loss_fn:
            return checks.call_loss_fn(self._loss_fn, labels, logits, features)
        loss = sigmoid_cross_entropy(
            multi_class_labels=labels, logits=logits, reduction=Reduction.NONE
        )
        return reduce_mean(loss, axis=-1, keepdims=True)

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Logits and probabilities; one of them if `keys` says so."""
        chosen = check_keys(keys, _KEYS)
        logits = checks.check_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", values=(logits,)):
            found = {PredictionKeys.LOGITS: logits}
            if PredictionKeys.PROBABILITIES in chosen:
                key = PredictionKeys.PROBABILITIES
                found[key] = sigmoid(logits, name=key)
        return {key: found[key] for key in _KEYS if key in chosen}

    def _export_outputs(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = class_names.classification_output(
            predictions[PredictionKeys.PROBABILITIES],
            self._n_classes,
            self._label_vocabulary,
        )
        return {
            "serving_default": output,
            "classification": output,
            "predict": PredictOutput(predictions),
        }

    def _class_keys(self, class_id: int) -> tuple[str, str, str]:
        """The keys of a class: mean probability, AUC of both curves."""
        if self._label_vocabulary is None:
            return (
                Keys.PROBABILITY_MEAN_AT_CLASS % class_id,
                Keys.AUC_AT_CLASS % class_id,
                Keys.AUC_PR_AT_CLASS % class_id,
            )
        name = self._label_vocabulary[class_id]
        return (
            Keys.PROBABILITY_MEAN_AT_NAME % name,
            Keys.AUC_AT_NAME % name,
            Keys.AUC_PR_AT_NAME % name,
        )

    def _own_metrics(self) -> dict[str, Any]:
        metrics = {
            Keys.AUC: auc_metric(Keys.AUC),
            Keys.AUC_PR: auc_metric(Keys.AUC_PR, curve="PR"),
            **threshold_metrics(self._thresholds),
        }
        for class_id in self._classes:
            mean, roc, pr = self._class_keys(class_id)
            metrics[mean] = mean_metric(mean)
            metrics[roc] = auc_metric(roc)
            metrics[pr] = auc_metric(pr, curve="PR")
        return metrics

    def _update_own(
        self, metrics: Mapping[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        key = PredictionKeys.PROBABILITIES
        probabilities = self.predictions(logits, [key])[key]
        for key in (Keys.AUC, Keys.AUC_PR):
            metrics[key].update_state(labels, probabilities, sample_weight=weights)
        update_threshold_metrics(
            metrics, self._thresholds, labels, probabilities, weights
        )
        for class_id in self._classes:
            mean, roc, pr = self._class_keys(class_id)
            own = probabilities[..., class_id : class_id + 1]
            own_labels = labels[..., class_id : class_id + 1]
            metrics[mean].update_state(own, sample_weight=weights)
            metrics[roc].update_state(own_labels, own, sample_weight=weights)
            metrics[pr].update_state(own_labels, own, sample_weight=weights)


def _check_vocabulary(label_vocabulary: Any, n_classes: int) -> None:
    if label_vocabulary is None:
        return
    if not isinstance(label_vocabulary, list | tuple):
        raise ValueError(
            "label_vocabulary must be a list or tuple. Given type: "
            f"{type(label_vocabulary)}"
        )
    if len(label_vocabulary) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). Given: "
            f"{len(label_vocabulary)}"
        )


def _class_ids(
    classes: Sequence[Any] | None, n_classes: int, label_vocabulary: Any
) -> tuple[int, ...]:
    """Classes by their numbers."""
    if not classes:
        return ()
    if isinstance(classes[0], str):
        if not label_vocabulary:
            raise ValueError(
                "label_vocabulary must be provided when "
                "classes_for_class_based_metrics are sting."
            )
        return tuple(label_vocabulary.index(name) for name in classes)
    for class_id in classes:
        if not 0 <= class_id < n_classes:
            raise ValueError(
                "All classes_for_class_based_metrics must be in range "
                f"[0, {n_classes - 1}]. Given: {class_id}"
            )
    return tuple(classes)
