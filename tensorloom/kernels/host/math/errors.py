"""What elementwise kernels say when shapes or values do not fit, in either memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


def shape_text(shape: Sequence[int]) -> str:
    """A shape as TensorFlow prints it: `[2,3]`."""
    return "[" + ",".join(str(int(d)) for d in shape) + "]"


def shapes_fit(c: OpKernelConstruction) -> bool:
    """True when the static input shapes prove that the inputs broadcast."""
    shapes = [s.dims_tuple for s in c.input_shapes]
    if any(dims is None or None in dims for dims in shapes):
        # Two unknown shapes of which one is a scalar always broadcast.
        return sum(dims != () for dims in shapes) <= 1
    try:
        np.broadcast_shapes(*shapes)  # type: ignore[arg-type]
    except ValueError:
        return False
    return True


def broadcasting(c: OpKernelConstruction, function: Compute) -> Compute:
    """`function`, with TensorFlow's error for two shapes that do not broadcast.

    Where the static shapes are known to fit, that is `function` itself.
    """
    if shapes_fit(c):
        return function

    def compute(x: Any, y: Any) -> Any:
        try:
            return function(x, y)
        except (RuntimeError, ValueError):
            check_broadcast(x.shape, y.shape)
            raise

    return compute


def same_shapes(c: OpKernelConstruction, function: Compute) -> Compute:
    """`function` of two tensors that may not broadcast."""

    def compute(x: Any, y: Any) -> Any:
        if x.shape != y.shape:
            raise invalid_argument(
                "x and y must be of the same shape. "
                f"x shape: {shape_text(x.shape)}. y shape: {shape_text(y.shape)}"
            )
        return function(x, y)

    return compute


def check_precision(c: OpKernelConstruction) -> None:
    """Raises InvalidArgumentError unless complex numbers and their parts fit.

    The attrs of Complex, Real, Imag, Angle and ComplexAbs allow both precisions on
    either side; there are kernels for equal ones.
    """
    source, target = c["T"], c["Tout"]
    if source.real_dtype != target.real_dtype:
        raise invalid_argument(
            f"Signature mismatch, have: {source.name}->{target.name}, expected numbers "
            "of one precision"
        )


def clip_checked(c: OpKernelConstruction, function: Compute) -> Compute:
    """ClipByValue's function: its bounds are scalars or of the value's shape."""
    if c.input_shapes[1].dims_tuple == c.input_shapes[2].dims_tuple == ():
        return function

    def compute(t: Any, low: Any, high: Any) -> Any:
        if any(b.shape not in ((), t.shape) for b in (low, high)):
            raise invalid_argument(
                "clip_value_min and clip_value_max must be either of the same shape "
                f"as input, or a scalar. input shape: {shape_text(t.shape)}"
                f"clip_value_min shape: {shape_text(low.shape)}"
                f"clip_value_max shape: {shape_text(high.shape)}"
            )
        return function(t, low, high)

    return compute


def check_broadcast(a: Sequence[int], b: Sequence[int]) -> None:
    """Raises InvalidArgumentError unless two shapes broadcast."""
    try:
        np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        raise invalid_argument(
            f"Incompatible shapes: {shape_text(a)} vs. {shape_text(b)}"
        ) from None


# TensorFlow words division by zero only for these; for the truncating ops that came
# later it has no words of its own.
_NAMED_DIVISIONS = frozenset({"Div", "Mod", "FloorDiv", "FloorMod"})


def division_by_zero(op: str) -> Callable[[], NoReturn]:
    """The function that raises an op's error for an integer division by zero."""

    def fail() -> NoReturn:
        if op in _NAMED_DIVISIONS:
            raise invalid_argument("Integer division by zero")
        raise errors.InternalError(
            None,
            None,
            "Unexpected error in binary operator "
            "(only integer div and mod should have errors)",
        )

    return fail


def negative_exponent() -> NoReturn:
    """Raises the error for an integer to a negative integer power."""
    raise invalid_argument("Integers to negative integer powers are not allowed")
