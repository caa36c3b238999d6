"""`tf.estimator.MultiClassHead`: one of more than two classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorloom.estimator.canned.heads.multi_class import label_ids_of
from tensorloom.estimator.canned.metric_keys import MetricKeys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.estimator.export.outputs import PredictOutput
from tensorloom.estimator.heads import checks, class_names
from tensorloom.estimator.heads.classifier_predictions import (
    MULTI_CLASS_KEYS,
    check_keys,
    multi_class_predictions,
)
from tensorloom.estimator.heads.single_head import SUM_OVER_BATCH_SIZE, SingleHead
from tensorloom.estimator.heads.streaming_metrics import accuracy_metric
from tensorloom.framework.export import export
from tensorloom.losses.cross_entropies import sparse_softmax_cross_entropy
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.reshape import expand_dims


@export("estimator.MultiClassHead")
class MultiClassHead(SingleHead):
    """Softmax cross-entropy of one of many classes."""

    def __init__(
        self,
        n_classes: Any,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Makes a head.

        Args:
          n_classes: how many classes there are, more than two.
          weight_column: the feature that weighs examples, or None.
          label_vocabulary: names of the classes; labels are numbers when None.
          loss_reduction: `sum_over_batch_size` or `sum`.
          loss_fn: a function of `labels`, `logits` and maybe `features` instead.
          name: of the head, where there are several.

        Raises:
          ValueError: an argument has an impossible value.
        """
        checks.check_vocabulary(label_vocabulary, ValueError)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                '"label_vocabulary" does not have "n_classes" items. '
                f"len(label_vocabulary)={len(label_vocabulary)}, "
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = checks.check_n_classes(n_classes)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> Any:
        """A logit for each class."""
        return self._n_classes

    def _processed_labels(self, logits: Any, labels: Any) -> Any:
        labels = checks.check_labels(labels, logits, 1)
        return label_ids_of(labels, self._n_classes, self._label_vocabulary)

    def _unweighted_loss(self, logits: Any, labels: Any, features: Any) -> Any:
        if self._loss_fn:
            return checks.call_loss_fn(self._loss_fn, labels, logits, features)
        loss = sparse_softmax_cross_entropy(
            labels=labels, logits=logits, reduction=Reduction.NONE
        )
        return expand_dims(loss, axis=-1)

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Predictions by their keys; all when `keys` is None."""
        chosen = check_keys(keys, MULTI_CLASS_KEYS)
        logits = checks.check_logits(logits, self.logits_dimension)
        return multi_class_predictions(
            logits, self._n_classes, self._label_vocabulary, chosen
        )

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

    def _own_metrics(self) -> dict[str, Any]:
        return {MetricKeys.ACCURACY: accuracy_metric(MetricKeys.ACCURACY)}

    def _update_own(
        self, metrics: Mapping[str, Any], logits: Any, labels: Any, weights: Any
    ) -> None:
        class_ids = self.predictions(logits)[PredictionKeys.CLASS_IDS]
        metrics[MetricKeys.ACCURACY].update_state(
            labels, class_ids, sample_weight=weights
        )
