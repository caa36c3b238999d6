"""Gradients that are multiplied on their way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.function import Defun
from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.types.tensor_shape import TensorShape


def _shape(op: Operation) -> list[TensorShape]:
    return [op.inputs[0].shape]


def _gradient(op: Operation, grad: Any) -> list[Any]:
    return [grad * op.inputs[1], None]


@export("contrib.layers.scale_gradient")
@Defun(python_grad_func=_gradient, shape_func=_shape)
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """`inputs`, with their gradient multiplied.

    Args:
      inputs: a tensor.
      gradient_multiplier: a tensor whose shape broadcasts to that of `inputs`.
    """
    del gradient_multiplier  # of the gradient alone
    return inputs
