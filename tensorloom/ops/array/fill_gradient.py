"""The gradient of Fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Fill")
def _fill_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, math_ops.reduce_sum(grad)]
