"""Scans along an axis: Cumsum, Cumprod, CumulativeLogsumexp."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import GradientFn, register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

_NUMBERS = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


def _cumsum_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """dy summed from the other end."""
    flags = _reversed_flags(op)
    return [cumsum(grad, op.inputs[1], **flags), None]


def _cumprod_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Sum of y dy from the other end, over x (not defined where x is 0)."""
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    product = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    out = cumsum(product * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [out / x, None]


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


def _register(op: str, types: str, gradient: GradientFn, doc: str) -> None:
    register_op(
        op,
        inputs=["x: T", "axis: Tidx"],
        outputs=["out: T"],
        attrs=[
            "exclusive: bool = false",
            "reverse: bool = false",
            f"T: {{{types}}}",
            "Tidx: {int32, int64} = DT_INT32",
        ],
        shape_fn=unchanged_shape,
        gradient=gradient,
        doc=doc,
    )


_register("Cumsum", _NUMBERS, _cumsum_grad, "The sum of all elements up to each one.")
_register(
    "Cumprod", _NUMBERS, _cumprod_grad, "The product of all elements up to each one."
)
_register(
    "CumulativeLogsumexp",
    "half, float, double, bfloat16",
    _cumulative_logsumexp_grad,
    "log(sum(exp(x))) of all elements up to each one.",
)


def _scan(
    op: str, x: Any, axis: Any, exclusive: bool, reverse: bool, name: str | None
) -> Tensor:
    with name_scope(name, op, [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply_op(  # type: ignore[no-any-return]
            op, scope, x=x, axis=axis, exclusive=exclusive, reverse=reverse
        )


@export("math.cumsum", "cumsum")
def cumsum(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of all elements up to each one along an axis.

    Args:
      exclusive: without the element itself.
      reverse: from the other end.
    """
    return _scan("Cumsum", x, axis, exclusive, reverse, name)


@export("math.cumprod", "cumprod")
def cumprod(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of all elements up to each one along an axis.

    Args:
      exclusive: without the element itself.
      reverse: from the other end.
    """
    return _scan("Cumprod", x, axis, exclusive, reverse, name)


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(
    x: Any,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """log(sum(exp(x))) of all elements up to each one along an axis.

    Args:
      exclusive: without the element itself.
      reverse: from the other end.
    """
    return _scan("CumulativeLogsumexp", x, axis, exclusive, reverse, name)
