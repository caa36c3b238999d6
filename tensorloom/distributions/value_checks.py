"""Checks that numbers are integers, or can be kept by a dtype."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.distributions.parameters import checked
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank
from tensorloom.ops.math import math_ops

_INTEGERS: Final = {
    dtypes.float16: dtypes.int16,
    dtypes.float32: dtypes.int32,
    dtypes.float64: dtypes.int64,
}
_UNSIGNED: Final = (dtypes.bool, dtypes.uint8, dtypes.uint16)
_SIGNED: Final = (*_INTEGERS, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_LARGEST_SIZE: Final = 2**31 - 1  # classes are numbered by int32
_NO_CLASSES: Final = "A categorical-distribution parameter must have at least"


def assert_integer_form(
    x: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    int_dtype: Any = None,
    name: str = "assert_integer_form",
) -> Any:
    """An operation that fails unless all elements are integers.

    Args:
      int_dtype: the dtype that must be able to hold them.

    Raises:
      TypeError: `x` has a dtype that is not known here.
    """
    with name_scope(name, values=[x, data]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return control_flow_ops.no_op()
        target = int_dtype or _INTEGERS.get(x.dtype.base_dtype)
        if target is None:
            raise TypeError(f"Unrecognized type {x.dtype.name}")
        return check_ops.assert_equal(
            x,
            math_ops.cast(math_ops.cast(x, target), x.dtype),
            data=data,
            summarize=summarize,
            message=message or f"{x} has non-integer components",
            name=name,
        )


def assert_symmetric(matrix: Any) -> Any:
    """The matrix, read after a check that it is symmetric."""
    transposed = array_ops.matrix_transpose(matrix)
    return checked(matrix, [check_ops.assert_equal(matrix, transposed)])


def embed_check_nonnegative_integer_form(
    x: Any, name: str = "embed_check_nonnegative_integer_form"
) -> Any:
    """The tensor, read after a check that it has integers of at least zero."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        message = f"'{x}' must be non-negative."
        checks = [check_ops.assert_non_negative(x, message=message)]
        if not x.dtype.is_integer:
            message = f"'{x}' cannot contain fractional components."
            checks.append(assert_integer_form(x, message=message))
        return checked(x, checks)


def _largest(dtype: Any) -> int:
    """The largest integer up to which a dtype holds all."""
    base = dtype.base_dtype
    if base not in _UNSIGNED and base not in _SIGNED:
        raise TypeError(f"Unrecognized dtype: {dtype.name}")
    if base.is_floating:
        return int(2 ** (np.finfo(base.as_numpy_dtype).nmant + 1))
    return 1 if base is dtypes.bool else int(np.iinfo(base.as_numpy_dtype).max)


def _smallest(dtype: Any) -> int:
    return 0 if dtype.base_dtype in _UNSIGNED else -_largest(dtype)


def embed_check_categorical_event_shape(
    categorical_param: Any, name: str = "embed_check_categorical_event_shape"
) -> Any:
    """Probabilities or logits [..., classes], after a check of how many classes.

    Raises:
      TypeError: the dtype is not known here.
      ValueError: there are fewer than two, or more than the dtype can number.
    """
    with name_scope(name, values=[categorical_param]):
        x = convert_to_tensor(categorical_param, name="categorical_param")
        if x.dtype.base_dtype not in _INTEGERS:
            raise TypeError(
                f"Unable to validate size of unrecognized dtype ({x.dtype.name})."
            )
        most = min(_largest(x.dtype), _LARGEST_SIZE)
        if x.shape.ndims == 0:
            raise ValueError(f"{_NO_CLASSES} 1 dimension.")
        classes = None if x.shape.ndims is None else x.shape.as_list()[-1]
        if classes is None:
            size = array_ops.shape(x, name="x_shape")[-1]
            too_many = (
                f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} "
                f"dtype cannot exceed {most} shape."
            )
            rank_message = f"{_NO_CLASSES} 1 dimension."
            return checked(
                x,
                [
                    check_rank.assert_rank_at_least(x, 1, message=rank_message),
                    check_ops.assert_greater_equal(
                        size, 2, message=f"{_NO_CLASSES} 2 events."
                    ),
                    check_ops.assert_less_equal(size, most, message=too_many),
                ],
            )
        if classes < 2:
            raise ValueError(f"{_NO_CLASSES} 2 events.")
        if classes > most:
            raise ValueError(
                f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} "
                f"implies shape ({classes}) cannot exceed {most}."
            )
        return x


def embed_check_integer_casting_closed(
    x: Any,
    target_dtype: Any,
    assert_nonnegative: bool = True,
    name: str = "embed_check_casting_closed",
) -> Any:
    """The tensor, after a check that its values are the same in another dtype.

    Raises:
      TypeError: a dtype is not known here, or neither is one of integers.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        mine, theirs = x.dtype.base_dtype, target_dtype
        for dtype, what in (
            (mine, f"{mine.name}.dtype"),
            (theirs, f"target_dtype ({theirs.name})"),
        ):
            if not (dtype.is_floating or _is_integer_like(dtype)):
                raise TypeError(f"{what} must be floating- or integer-type.")
        if mine.is_floating and theirs.is_floating:
            raise TypeError(
                f"At least one of {x}.dtype ({mine.name}) and target_dtype "
                f"({theirs.name}) must be integer-type."
            )
        checks = []
        if assert_nonnegative:
            message = "Elements must be non-negative."
            checks.append(check_ops.assert_non_negative(x, message=message))
        if mine.is_floating:
            message = f"Elements must be {theirs.name}-equivalent."
            checks.append(assert_integer_form(x, int_dtype=theirs, message=message))
            return checked(x, checks)
        if _largest(mine) > _largest(theirs):
            limit = np.array(_largest(theirs), x.dtype.as_numpy_dtype)
            message = f"Elements cannot exceed {limit}."
            checks.append(check_ops.assert_less_equal(x, limit, message=message))
        if not assert_nonnegative and _smallest(mine) < _smallest(theirs):
            limit = np.array(_smallest(theirs), x.dtype.as_numpy_dtype)
            message = f"Elements cannot be smaller than {limit}."
            checks.append(check_ops.assert_greater_equal(x, limit, message=message))
        return checked(x, checks)


def _is_integer_like(dtype: Any) -> bool:
    if dtype.base_dtype not in _UNSIGNED and dtype.base_dtype not in _SIGNED:
        raise TypeError(f"Unrecognized dtype: {dtype.name}")
    return bool(dtype.is_integer or dtype.base_dtype is dtypes.bool)
