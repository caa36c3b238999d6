"""Accuracies of `tf.contrib.eager.metrics`."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.eager.metric_objects import Mean
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check import assert_equal
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.reductions.reductions import argmax


class _Matches(Mean):
    """The mean of where predictions match labels.

    Args:
      name: see `Metric`.
      dtype: of the sums.
    """

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64) -> None:
        super().__init__(name=name, dtype=dtype)

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        """What is compared, after checks."""
        raise NotImplementedError

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Adds a batch.

        Args:
          labels: what is right.
          predictions: what was predicted.
          weights: one for each label, or for all; None is 1.

        Returns:
          What was compared, and the weights if there are any.
        """
        labels, predictions = self._compared(labels, predictions)
        super().call(cast(equal(labels, predictions), self.dtype), weights=weights)
        if weights is None:
            return labels, predictions
        return labels, predictions, weights


def _check_shapes(labels: Any, predictions: Any) -> None:
    assert_equal(
        shape(labels),
        shape(predictions),
        message="Shapes of labels and predictions are unequal",
    )


@export("contrib.eager.metrics.Accuracy")
class Accuracy(_Matches):
    """How often predictions are equal to labels of the same shape and dtype."""

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _check_shapes(labels, predictions)
        return labels, predictions


@export("contrib.eager.metrics.CategoricalAccuracy")
class CategoricalAccuracy(_Matches):
    """How often the greatest logit is at the 1 of one-hot labels."""

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _check_shapes(labels, predictions)
        return argmax(labels, axis=-1), argmax(predictions, axis=-1)


@export("contrib.eager.metrics.BinaryAccuracy")
class BinaryAccuracy(_Matches):
    """How often predictions are above the threshold where labels are not 0.

    Args:
      threshold: 0.5 for probabilities, 0 for logits.
      name: see `Metric`.
      dtype: of the sums.
    """

    def __init__(
        self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        _check_shapes(labels, predictions)
        above = convert_to_tensor(predictions) > self.threshold
        return cast(labels, dtypes.bool), above


@export("contrib.eager.metrics.SparseAccuracy")
class SparseAccuracy(_Matches):
    """How often the greatest logit is the label's, a class number."""

    def _compared(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        assert_equal(
            shape(labels),
            shape(predictions)[0],
            message="First axis of labels and predictions is unequal",
        )
        predictions = argmax(predictions, axis=-1)
        return cast(labels, dtypes.int64), predictions
