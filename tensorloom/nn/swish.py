"""The swish activation, with a gradient that keeps only its input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.gradients.custom_gradient import custom_gradient
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.math import math_ops


@export("nn.swish")
@custom_gradient
def swish(features: Any) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """features * sigmoid(features); the gradient computes the sigmoid again."""
    features = convert_to_tensor(features, name="features")

    def grad(dy: Tensor) -> Tensor:
        with control_dependencies([dy]):
            sigmoid = math_ops.sigmoid(features)
        activation_grad = sigmoid * (1.0 + features * (1.0 - sigmoid))
        return dy * activation_grad  # type: ignore[no-any-return]

    return features * math_ops.sigmoid(features), grad
