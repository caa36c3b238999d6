"""Scans along an axis: Cumsum, Cumprod, CumulativeLogsumexp."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

_NUMBERS = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


def _register(op: str, types: str, doc: str) -> None:
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
        doc=doc,
    )


_register("Cumsum", _NUMBERS, "The sum of all elements up to each one.")
_register("Cumprod", _NUMBERS, "The product of all elements up to each one.")
_register(
    "CumulativeLogsumexp",
    "half, float, double, bfloat16",
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
