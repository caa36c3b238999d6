"""Metrics as objects: made first, updated with a batch later."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tensorloom.framework.graph.graph import GraphKeys, get_collection
from tensorloom.metrics.averages import accuracy, mean
from tensorloom.metrics.counts import precision, recall
from tensorloom.metrics.curves import auc
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import to_float

Pair = tuple[Any, Any]


class StreamingMetric:
    """A metric of `tf.metrics` with the surface of a Keras metric.

    Args:
      function: gives value and update; takes what `update_state` gets, `weights` and
        `name`.
      name: of the metric.
    """

    def __init__(self, function: Callable[..., Pair], name: str) -> None:
        self.name = name
        self._function = function
        self._value: Any = None
        self.updates: list[Any] = []
        self.variables: list[Any] = []

    def update_state(self, *values: Any, sample_weight: Any = None) -> Any:
        """Makes the update for a batch; returns it."""
        known = set(map(id, get_collection(GraphKeys.METRIC_VARIABLES)))
        self._value, update = self._function(
            *values, weights=sample_weight, name=self.name
        )
        self.updates = [update]
        self.variables = [
            variable
            for variable in get_collection(GraphKeys.METRIC_VARIABLES)
            if id(variable) not in known
        ]
        return update

    def set(self, value: Any, update: Any) -> None:
        """Makes it the result of other metrics."""
        self._value, self.updates = value, [update]

    def result(self) -> Any:
        """The value of all batches so far.

        Raises:
          ValueError: there is no update yet.
        """
        if self._value is None:
            raise ValueError(
                f'Please call update_state(...) on the "{self.name}" metric'
            )
        return self._value


def mean_metric(name: str) -> StreamingMetric:
    """The mean of values."""
    return StreamingMetric(mean, name)


def accuracy_metric(name: str) -> StreamingMetric:
    """How often predictions are the labels."""
    return StreamingMetric(accuracy, name)


def auc_metric(name: str, curve: str = "ROC") -> StreamingMetric:
    """The area under a curve."""
    summation = "trapezoidal" if curve == "ROC" else "careful_interpolation"
    return StreamingMetric(partial(auc, curve=curve, summation_method=summation), name)


def precision_metric(name: str, threshold: float = 0.5) -> StreamingMetric:
    """How many of the predicted ones are right."""
    return StreamingMetric(partial(_decided, precision, threshold), name)


def recall_metric(name: str, threshold: float = 0.5) -> StreamingMetric:
    """How many of the right ones are predicted."""
    return StreamingMetric(partial(_decided, recall, threshold), name)


def binary_accuracy_metric(name: str, threshold: float) -> StreamingMetric:
    """The mean over labels of how often a probability decides rightly."""
    return StreamingMetric(partial(_binary_accuracy, threshold), name)


def _decided(
    function: Callable[..., Pair],
    threshold: float,
    labels: Any,
    predictions: Any,
    weights: Any,
    name: str,
) -> Pair:
    decided = math_ops.greater(to_float(predictions), threshold)
    return function(labels, decided, weights=weights, name=name)


def _binary_accuracy(
    threshold: float, labels: Any, predictions: Any, weights: Any, name: str
) -> Pair:
    decided = to_float(math_ops.greater(to_float(predictions), threshold))
    right = to_float(math_ops.equal(to_float(labels), decided))
    return mean(right, weights=weights, name=name)
