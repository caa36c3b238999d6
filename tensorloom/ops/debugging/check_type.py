"""`tf.assert_type` and its relatives: conditions on dtypes, and monotonic sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import argument_aliases
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.control_flow import builders as control_flow_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_NUMERIC = frozenset(
    [
        *(dtypes.float32, dtypes.float64, dtypes.complex64),
        *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8),
        *(dtypes.qint8, dtypes.qint32, dtypes.quint8),
    ]
)


@export("assert_type", "debugging.assert_type")
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that does nothing, if `tensor` is of dtype `tf_type`.

    Raises:
      TypeError: it is of another.
    """
    message = message or ""
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(f"{message}  {tensor.name} must be of type {tf_type}")
        return control_flow_ops.no_op("statically_determined_correct_type")


@export("assert_integer", "debugging.assert_integer")
def assert_integer(
    x: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """An operation that does nothing, if `x` is of an integer dtype.

    Raises:
      TypeError: it is not.
    """
    message = message or ""
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message}  Expected "x" to be integer type.  Found: {x.name} of '
                f"dtype {x.dtype}"
            )
        return control_flow_ops.no_op("statically_determined_was_integer")


@export("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError unless `values` is iterable, and not a tensor, array or string.

    Those can be iterated over, but hardly ever by intention.
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: '
            f"{type(values)}"
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(
            f'Expected argument "values" to be iterable.  Found: {type(values)}'
        )


@export("assert_scalar", "debugging.assert_scalar", "contrib.framework.assert_scalar")
def assert_scalar(
    tensor: Any, name: str | None = None, message: str | None = None
) -> Tensor:
    """`tensor` as a tensor, if its static shape is that of a scalar.

    Raises:
      ValueError: it is not.
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.shape.rank != 0:
            raise ValueError(
                f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: "
                f"{tensor.shape}."
            )
        return tensor  # type: ignore[no-any-return]


@export(
    "assert_same_float_dtype",
    "debugging.assert_same_float_dtype",
    "contrib.framework.assert_same_float_dtype",
)
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The floating dtype that all `tensors`, and `dtype`, have in common.

    Raises:
      ValueError: they differ, or it is not a floating dtype.
    """
    if tensors:
        dtype = _common_dtype(tensors, dtype)
    if not dtype:
        return dtypes.float32
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype  # type: ignore[no-any-return]


def _common_dtype(items: Any, expected: Any) -> Any:
    origin: str | None = None
    for item in items:
        if item is None:
            continue
        name = item.name if hasattr(item, "name") else str(item)
        found = item.dtype.base_dtype
        if not expected:
            expected, origin = found, name
        elif expected != found:
            reason = f" as {origin}" if origin else ""
            raise ValueError(
                f"{name}, type={found}, must be of the same type ({expected}){reason}."
            )
    return expected


@export("is_numeric_tensor", "debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """True for a Tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype in _NUMERIC


@export("is_non_decreasing", "debugging.is_non_decreasing", "math.is_non_decreasing")
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """A bool scalar: no element of `x`, in row order, is below the one before it."""
    from tensorloom.ops.math import math_ops

    with name_scope(name, "is_non_decreasing", [x]):
        difference = _differences(x)
        zero = convert_to_tensor(0, dtype=difference.dtype)
        return math_ops.reduce_all(math_ops.less_equal(zero, difference))


@export(
    "is_strictly_increasing",
    "debugging.is_strictly_increasing",
    "math.is_strictly_increasing",
)
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """A bool scalar: every element of `x`, in row order, is above the one before it."""
    from tensorloom.ops.math import math_ops

    with name_scope(name, "is_strictly_increasing", [x]):
        difference = _differences(x)
        zero = convert_to_tensor(0, dtype=difference.dtype)
        return math_ops.reduce_all(math_ops.less(zero, difference))


def _differences(x: Any) -> Tensor:
    """Each element minus the one before it; empty for fewer than two elements."""
    x = reshape_ops.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    return x[1:] - x[:-1]  # type: ignore[no-any-return]


@export("debugging.assert_all_finite", "verify_tensor_all_finite")
def assert_all_finite(
    t: Any = None,
    msg: str | None = None,
    name: str | None = None,
    x: Any = None,
    message: str | None = None,
) -> Tensor:
    """The tensor; the step fails if it holds a NaN or an infinity.

    Args:
      t, x: the tensor, under either name.
      msg, message: of the error, under either name.
    """
    x = argument_aliases.either("x", x, "t", t)
    message = argument_aliases.either("message", message, "msg", msg)
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x, name="x")
        with colocate_with(x):
            check = identity_ops.check_numerics(x, message=message or "")
            return control_flow_ops.with_dependencies([check], x)  # type: ignore[no-any-return]
