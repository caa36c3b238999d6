"""Linear models with their losses."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.losses.cross_entropies import softmax_cross_entropy
from tensorloom.losses.element_losses import mean_squared_error
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.nn.bias import xw_plus_b
from tensorloom.ops.nn.softmax import softmax


@export("contrib.learn.ops.mean_squared_error_regressor")
def mean_squared_error_regressor(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None
) -> tuple[Any, Any]:
    """Predictions and loss of a linear regression.

    Args:
      tensor_in: [batch, features].
      labels: [batch] or [batch, outputs].
      weights: [features, outputs].
      biases: [outputs].
      name: of the name scope.
    """
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = xw_plus_b(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = squeeze(predictions, axis=[1])
        return predictions, mean_squared_error(labels, predictions)


@export("contrib.learn.ops.softmax_classifier")
def softmax_classifier(
    tensor_in: Any,
    labels: Any,
    weights: Any,
    biases: Any,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Probabilities and loss of a linear classifier.

    Args:
      tensor_in: [batch, features].
      labels: one-hot [batch, classes].
      weights: [features, classes].
      biases: [classes].
      class_weight: what logits are multiplied with: [classes], or None.
      name: of the name scope.
    """
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = multiply(logits, class_weight)
        return softmax(logits), softmax_cross_entropy(labels, logits)
