"""`tf.assert_*`: conditions on values, checked at once where they are static.

Each returns an operation to put into `tf.control_dependencies`; it fails at run time
with InvalidArgumentError. Conditions on static facts raise when the graph is built.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow import builders as control_flow_ops

Data = Sequence[Any] | None


def _check_static(holds: bool, data: Sequence[Any]) -> None:
    if not holds:
        text = "\n".join(str(_static_text(x)) for x in data)
        raise errors.InvalidArgumentError(None, None, text)


def _static_text(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return str(value)
    constant = constant_value(value)
    return value if constant is None else str(constant)


def _binary(
    name: str | None,
    kind: str,
    symbol: str,
    arguments: tuple[Any, Any, Data, int | None, str | None],
    compare: Callable[[Tensor, Tensor], Tensor],
    compare_static: Callable[[Any, Any], Any],
) -> Operation:
    from tensorloom.ops.math import math_ops

    x, y, data, summarize, message = arguments
    with name_scope(name, kind, [x, y, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {symbol} y did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = math_ops.reduce_all(compare(x, y))
        static_x, static_y = constant_value(x), constant_value(y)
        if static_x is not None and static_y is not None:
            _check_static(bool(np.all(compare_static(static_x, static_y))), data)
        return control_flow_ops.Assert(condition, data, summarize=summarize)


@export("assert_equal", "debugging.assert_equal")
def assert_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x == y` for all elements; see the module's docstring."""
    from tensorloom.ops.math import math_ops

    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return control_flow_ops.no_op()
    arguments = (x, y, data, summarize, message)
    return _binary(name, "assert_equal", "==", arguments, math_ops.equal, np.equal)


@export("assert_none_equal", "debugging.assert_none_equal")
def assert_none_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x != y` for all elements."""
    from tensorloom.ops.math import math_ops

    arguments = (x, y, data, summarize, message)
    return _binary(
        name, "assert_none_equal", "!=", arguments, math_ops.not_equal, np.not_equal
    )


@export("assert_less", "debugging.assert_less")
def assert_less(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x < y` for all elements."""
    from tensorloom.ops.math import math_ops

    arguments = (x, y, data, summarize, message)
    return _binary(name, "assert_less", "<", arguments, math_ops.less, np.less)


@export("assert_less_equal", "debugging.assert_less_equal")
def assert_less_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x <= y` for all elements."""
    from tensorloom.ops.math import math_ops

    arguments = (x, y, data, summarize, message)
    return _binary(
        name, "assert_less_equal", "<=", arguments, math_ops.less_equal, np.less_equal
    )


@export("assert_greater", "debugging.assert_greater")
def assert_greater(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x > y` for all elements."""
    from tensorloom.ops.math import math_ops

    arguments = (x, y, data, summarize, message)
    return _binary(name, "assert_greater", ">", arguments, math_ops.greater, np.greater)


@export("assert_greater_equal", "debugging.assert_greater_equal")
def assert_greater_equal(
    x: Any,
    y: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x >= y` for all elements."""
    from tensorloom.ops.math import math_ops

    arguments = (x, y, data, summarize, message)
    return _binary(
        name,
        "assert_greater_equal",
        ">=",
        arguments,
        math_ops.greater_equal,
        np.greater_equal,
    )


@export("assert_near", "debugging.assert_near")
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `|x - y| <= atol + rtol * |y|` for all elements.

    Args:
      rtol, atol: ten times the precision of the dtype when None.
    """
    from tensorloom.ops.math import math_ops

    message = message or ""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        precision = np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = 10 * precision if rtol is None else rtol
        atol = 10 * precision if atol is None else atol
        rtol = convert_to_tensor(rtol, name="rtol", dtype=x.dtype)
        atol = convert_to_tensor(atol, name="atol", dtype=x.dtype)
        if data is None:
            data = [
                message,
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        tolerance = atol + rtol * math_ops.abs(y)
        difference = math_ops.abs(x - y)
        condition = math_ops.reduce_all(math_ops.less(difference, tolerance))
        return control_flow_ops.Assert(condition, data, summarize=summarize)


# --- sign ---------------------------------------------------------------------------


def _sign(
    name: str | None,
    kind: str,
    text: str,
    arguments: tuple[Any, Data, int | None, str | None],
    check: Callable[[Tensor, Tensor, Data, int | None], Operation],
) -> Operation:
    x, data, summarize, message = arguments
    with name_scope(name, kind, [x, data]):
        x = convert_to_tensor(x, name="x")
        if data is None:
            said = [f"Condition {text} did not hold element-wise:", f"x ({x.name}) = "]
            if kind == "assert_non_positive":
                said = ["".join(said)]  # TensorFlow has one text here
            data = [message or "", *said, x]
        zero = convert_to_tensor(0, dtype=x.dtype)
        return check(x, zero, data, summarize)


@export("assert_negative", "debugging.assert_negative")
def assert_negative(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x < 0` for all elements."""
    return _sign(
        name,
        "assert_negative",
        "x < 0",
        (x, data, summarize, message),
        lambda x, zero, data, n: assert_less(x, zero, data=data, summarize=n),
    )


@export("assert_positive", "debugging.assert_positive")
def assert_positive(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x > 0` for all elements."""
    return _sign(
        name,
        "assert_positive",
        "x > 0",
        (x, data, summarize, message),
        lambda x, zero, data, n: assert_less(zero, x, data=data, summarize=n),
    )


@export("assert_non_negative", "debugging.assert_non_negative")
def assert_non_negative(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x >= 0` for all elements."""
    return _sign(
        name,
        "assert_non_negative",
        "x >= 0",
        (x, data, summarize, message),
        lambda x, zero, data, n: assert_less_equal(zero, x, data=data, summarize=n),
    )


@export("assert_non_positive", "debugging.assert_non_positive")
def assert_non_positive(
    x: Any,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts `x <= 0` for all elements."""
    return _sign(
        name,
        "assert_non_positive",
        "x <= 0",
        (x, data, summarize, message),
        lambda x, zero, data, n: assert_less_equal(x, zero, data=data, summarize=n),
    )
