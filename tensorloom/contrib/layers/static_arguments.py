"""Arguments that layers need to know while they build: sizes, shapes and predicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types.constant_value import constant_value as tensor_value
from tensorloom.framework.types.tensor_shape import TensorShape


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """A value itself, or what a tensor is known to hold; None where it is not known.

    Raises:
      ValueError: there is no value, or the tensor or variable is of another dtype.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, Variable) else tensor_value(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """`fn1()` or `fn2()`. Raises TypeError if one cannot be called."""
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """`static_cond` of a predicate that is known while building, else `tf.cond`."""
    known = constant_value(pred)
    if known is None:
        return cond(pred, fn1, fn2, name=name)
    return static_cond(known, fn1, fn2)


def channel_dimension(shape: TensorShape, data_format: str, min_rank: int = 1) -> int:
    """How many channels a shape has: at 1 for "channels_first", else at the end.

    Raises:
      ValueError: the rank is below `min_rank`, or the size is unknown.
    """
    return _known_size(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: TensorShape, min_rank: int = 1) -> int:
    """The size of the last axis.

    Raises:
      ValueError: the rank is below `min_rank`, or the size is unknown.
    """
    return _known_size(shape, -1, min_rank)


def _known_size(shape: TensorShape, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(
            f"rank of shape must be at least {min_rank} not: {shape.ndims}"
        )
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(
            f"dimension {axis} of shape must be known but is None: {shape}"
        )
    return int(size)


def two_element_tuple(int_or_tuple: Any) -> tuple[Any, Any]:
    """Height and width, of a pair, of one integer for both, or of a shape.

    Raises:
      ValueError: it is none of these.
    """
    if isinstance(int_or_tuple, (list, tuple)):
        if len(int_or_tuple) != 2:
            raise ValueError(f"Must be a list with 2 elements: {int_or_tuple}")
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    if isinstance(int_or_tuple, int):
        return int(int_or_tuple), int(int_or_tuple)
    if isinstance(int_or_tuple, TensorShape) and int_or_tuple.ndims == 2:
        return int_or_tuple[0], int_or_tuple[1]
    raise ValueError(
        "Must be an int, a list with 2 elements or a TensorShape of length 2"
    )


def n_positive_integers(n: Any, value: Any) -> tuple[int, ...]:
    """`n` positive integers, of as many, or of one for all.

    Raises:
      TypeError: `n` is no number.
      ValueError: `n` or a value is no positive integer, or their number is another.
    """
    count = int(n)
    if count < 1 or count != n:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * count
    except (TypeError, ValueError):
        values = _integers(count, value)
    for each in values:
        if each < 1:
            raise ValueError(f"expected positive integer, but received {each}")
    return values


def _integers(count: int, value: Any) -> tuple[int, ...]:
    wrong = f"Expected sequence of {count} positive integers, but received {value!r}"
    if len(value) != count:
        raise ValueError(wrong)
    try:
        return tuple(int(each) for each in value)
    except (TypeError, ValueError):
        raise ValueError(wrong) from None
