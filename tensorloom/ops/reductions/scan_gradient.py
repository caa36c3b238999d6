"""Gradients of Cumsum, Cumprod and CumulativeLogsumexp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.scan import cumprod, cumsum, cumulative_logsumexp

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Cumsum")
def _cumsum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """dy summed from the other end."""
    flags = _reversed_flags(op)
    return [cumsum(grad, op.inputs[1], **flags), None]


@RegisterGradient("Cumprod")
def _cumprod_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Sum of y dy from the other end, over x (not defined where x is 0)."""
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [out / x, None]


@RegisterGradient("CumulativeLogsumexp")
def _cumulative_logsumexp_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Computed for the positive and the negative part of dy, whose logarithms exist."""
    x, axis, y = op.inputs[0], op.inputs[1], op.outputs[0]
    flags = _reversed_flags(op)
    log_positive = array_ops.where_v2(
        math_ops.greater(grad, 0), math_ops.log(grad), grad.dtype.min
    )
    log_negative = array_ops.where_v2(
        math_ops.less(grad, 0), math_ops.log(-grad), grad.dtype.min
    )
    positive = math_ops.exp(cumulative_logsumexp(log_positive - y, axis, **flags) + x)
    negative = math_ops.exp(cumulative_logsumexp(log_negative - y, axis, **flags) + x)
    return [positive - negative, None]


def _reversed_flags(op: Operation) -> dict[str, Any]:
    return {
        "exclusive": op.get_attr("exclusive"),
        "reverse": not op.get_attr("reverse"),
    }
