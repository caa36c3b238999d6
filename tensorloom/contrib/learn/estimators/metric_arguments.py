"""The metrics that programs hand to `evaluate`, and the ops of metrics."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.metric_specs import MetricSpec
from tensorloom.ops.control_flow.builders import group


def make_metrics_ops(
    metrics: dict[Any, Any] | None, features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """Adds metrics to the graph.

    Args:
      metrics: `MetricSpec`s by their names; or, as programs did before there were any,
        functions of (predictions, labels) by names or by (name, prediction key).
      features: for weights.
      labels: a tensor, or a dict of tensors.
      predictions: a tensor, or a dict of tensors.

    Raises:
      ValueError: a name is no name, or there is no telling which prediction is meant.
    """
    made = {}
    for name, metric in sorted((metrics or {}).items()):
        if isinstance(metric, MetricSpec):
            made[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        program_log.warning(
            "Please specify metrics using MetricSpec. Using bare functions or (key, "
            "fn) tuples is deprecated and support for it will be removed on Oct 1, "
            "2016."
        )
        key = None
        if isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(
                    f"Invalid metric for {name}. It returned a tuple with len "
                    f"{len(name)}, expected 2."
                )
            name, key = name
        prediction = _prediction(predictions, key, metrics)
        made[name] = metric(prediction, _label(labels, key))
    return made


def _prediction(predictions: Any, key: str | None, metrics: Any) -> Any:
    if key is None:
        if isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide only name, no prediction, but predictions are "
                f"dict. Metrics: {metrics}, Predictions: {predictions}."
            )
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(
            "Metrics passed provide (name, prediction), but predictions are not dict. "
            f"Metrics: {metrics}, Predictions: {predictions}."
        )
    return predictions[key]


def _label(labels: Any, key: str | None) -> Any:
    if not isinstance(labels, dict):
        return labels
    if key in labels:
        return labels[key]
    return next(iter(labels.values())) if len(labels) == 1 else labels


def updates_and_values(metrics: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """One op that updates all metrics, or None, and their values by names."""
    updates, values = [], {}
    for name, ops in metrics.items():
        values[name] = ops
        if not isinstance(ops, list | tuple):
            continue
        if len(ops) == 2:
            values[name] = ops[0]
            updates.append(ops[1])
        else:
            program_log.warning(
                "Ignoring metric %s. It returned a list|tuple with len %d, expected 2",
                name,
                len(ops),
            )
    return (group(*updates) if updates else None), values
