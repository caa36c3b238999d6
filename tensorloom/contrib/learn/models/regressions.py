"""Linear and logistic regression as functions of features and labels."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.learn.ops.losses_ops import (
    mean_squared_error_regressor,
    softmax_classifier,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph
from tensorloom.ops.state.initializers import RandomNormal
from tensorloom.summary import summary


@export("contrib.learn.models.linear_regression_zero_init")
def linear_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """`linear_regression`, whose variables begin with zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


@export("contrib.learn.models.logistic_regression_zero_init")
def logistic_regression_zero_init(x: Any, y: Any) -> tuple[Any, Any]:
    """`logistic_regression`, whose variables begin with zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _variables(
    x: Any, outputs: Any, init_mean: float | None, init_stddev: float
) -> tuple[Any, Any]:
    """Weights [features, outputs] and bias [outputs]."""
    dtype = x.dtype.base_dtype
    initializer = None
    if init_mean is not None:
        initializer = RandomNormal(init_mean, init_stddev, dtype=dtype)
    weights = get_variable(
        "weights",
        [x.get_shape()[1], outputs],
        initializer=initializer,
        dtype=dtype,
    )
    bias = get_variable("bias", [outputs], initializer=initializer, dtype=dtype)
    return weights, bias


@export("contrib.learn.models.linear_regression")
def linear_regression(
    x: Any, y: Any, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Any, Any]:
    """Predictions and loss of a linear regression.

    Args:
      x: features [batch, features].
      y: labels [batch] or [batch, outputs].
      init_mean: variables begin with normal values of this mean; as `get_variable`
        says when None.
      init_stddev: and this standard deviation.
    """
    with variable_scope("linear_regression"):
        scope = get_variable_scope().name
        summary.histogram(f"{scope}.x", x)
        summary.histogram(f"{scope}.y", y)
        shape = y.get_shape()
        outputs = 1 if len(shape) == 1 else shape[1]
        weights, bias = _variables(x, outputs, init_mean, init_stddev)
        summary.histogram(f"{scope}.weights", weights)
        summary.histogram(f"{scope}.bias", bias)
        return mean_squared_error_regressor(x, y, weights, bias)


@export("contrib.learn.models.logistic_regression")
def logistic_regression(
    x: Any,
    y: Any,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Any, Any]:
    """Probabilities and loss of a logistic regression.

    Args:
      x: features [batch, features].
      y: one-hot labels [batch, classes].
      class_weight: what logits are multiplied with: [classes]. The graph's tensor
        `class_weight:0` when None, if there is one.
      init_mean: variables begin with normal values of this mean; as `get_variable`
        says when None.
      init_stddev: and this standard deviation.
    """
    with variable_scope("logistic_regression"):
        scope = get_variable_scope().name
        summary.histogram(f"{scope}.x", x)
        summary.histogram(f"{scope}.y", y)
        classes = y.get_shape()[-1]
        weights, bias = _variables(x, classes, init_mean, init_stddev)
        summary.histogram(f"{scope}.weights", weights)
        summary.histogram(f"{scope}.bias", bias)
        if class_weight is None:
            class_weight = _named_class_weight()
        return softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _named_class_weight() -> Any:
    try:
        return get_default_graph().get_tensor_by_name("class_weight:0")
    except KeyError:
        return None
