"""Calling Python functions as ops."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.functions import py_functions
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.types.object_arrays import object_scalar

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType

# Which error a user's exception becomes; the first class that fits counts.
_ERRORS: tuple[tuple[type[BaseException], type[errors.OpError]], ...] = (
    (ValueError, errors.InvalidArgumentError),
    (TypeError, errors.InvalidArgumentError),
    (StopIteration, errors.OutOfRangeError),
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (BaseException, errors.UnknownError),
)


@host_kernel(["PyFunc", "PyFuncStateless", "EagerPyFunc"], large=True)
def py_func(c: OpKernelConstruction) -> Compute:
    """Calls the function over NumPy values and checks what it returns."""
    token = c["token"].decode()
    types: Sequence[DType] = c["Tout"]

    def compute(*arguments: Any) -> tuple[Any, ...]:
        values = _call(token, [_argument(a) for a in arguments])
        if len(values) != len(types):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{token} returns {len(values)} values, but expects to see "
                f"{len(types)} values.",
            )
        return tuple(
            _result(value, dtype, i, token)
            for i, (value, dtype) in enumerate(zip(values, types, strict=True))
        )

    return compute


def _argument(value: Any) -> Any:
    """What the function sees: arrays, and Python's bytes for a string scalar."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return value[()]
        # The function may write into its argument; the graph must not see that.
        return value.copy()
    return value


def _call(token: str, arguments: list[Any]) -> list[Any]:
    try:
        function = py_functions.find(token)
        result = function(*arguments)
    except KeyboardInterrupt:  # of the user, while a step runs in the main thread
        raise
    except BaseException as error:
        kind = next(kind for cause, kind in _ERRORS if isinstance(error, cause))
        raise kind(
            None,
            None,
            f"{type(error).__name__}: {error}\n{traceback.format_exc()}",
        ) from error
    if result is None:
        return []
    if isinstance(result, list | tuple):
        return list(result)
    return [result]


def _result(value: Any, dtype: DType, index: int, token: str) -> Any:
    wanted = dtype.as_numpy_dtype
    if isinstance(value, np.generic) and type(value) is wanted:  # nobody changes it
        return value
    array = _to_array(value)
    if array.dtype != np.dtype(wanted):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{index}-th value returned by {token} is {_type_name(array.dtype)}, but "
            f"expects {_type_name(np.dtype(wanted))}",
        )
    if array.ndim == 0 and array.dtype != object:
        return array[()]
    # The function may keep what it returned and change it later.
    return array.copy() if array is value else array


_CPP_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "half",
    "object": "string",
}


def _type_name(dtype: np.dtype[Any]) -> str:
    return _CPP_NAMES.get(dtype.name, dtype.name)


def _to_array(value: Any) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value, order="C")
    except ValueError:  # rows of different lengths
        array = np.asarray(value, object)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind == "U":
        encoded = np.empty(array.shape, object)
        for index in np.ndindex(array.shape):
            encoded[index] = str(array[index]).encode()
        return encoded
    if array.dtype.kind == "S":
        if isinstance(value, bytes):  # not through NumPy, which drops final zeros
            return object_scalar(value)
        return array.astype(object)
    if array.dtype.kind == "O":
        encoded = np.empty(array.shape, object)
        for index in np.ndindex(array.shape):
            encoded[index] = _to_bytes(array[index])
        return encoded
    return array


def _to_bytes(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode()
    if not isinstance(item, bytes):
        raise errors.InternalError(
            None, None, f"Unsupported object type {type(item).__name__}"
        )
    return item
