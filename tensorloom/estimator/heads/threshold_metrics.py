"""Accuracy, precision and recall where a probability decides from thresholds on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.estimator.canned.metric_keys import MetricKeys as Keys
from tensorloom.estimator.heads import streaming_metrics as made


def threshold_metrics(thresholds: Iterable[float]) -> dict[str, Any]:
    """New metrics by key."""
    found: dict[str, Any] = {}
    for threshold in thresholds:
        for key, make in (
            (Keys.ACCURACY_AT_THRESHOLD, made.binary_accuracy_metric),
            (Keys.PRECISION_AT_THRESHOLD, made.precision_metric),
            (Keys.RECALL_AT_THRESHOLD, made.recall_metric),
        ):
            found[key % threshold] = make(key % threshold, threshold)
    return found


def update_threshold_metrics(
    metrics: Mapping[str, Any],
    thresholds: Iterable[float],
    labels: Any,
    probabilities: Any,
    weights: Any,
) -> None:
    """Updates them with a batch."""
    for key in threshold_metrics(thresholds):
        metrics[key].update_state(labels, probabilities, sample_weight=weights)
