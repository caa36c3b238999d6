"""From what a user feeds to the host value that a step takes.

For each fed tensor a converter is made once; an array of the right dtype and shape
passes through it without a copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

from tensorloom.client.session.session_handles import TensorHandle
from tensorloom.framework.errors import InternalError, InvalidArgumentError
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import memory_view

Converter = Callable[[Any], Any]
_Dims = tuple[int | None, ...]
_INTEGERS: Final = "iu"  # kinds of NumPy dtypes


def feed_converter(tensor: Tensor) -> Converter:
    """A function from fed values to values of exactly the tensor's dtype.

    The function raises:
      TypeError: the value is a Tensor, a number that the dtype cannot hold, or no
        handle where one is to be fed.
      OverflowError: it is an integer that no dtype can hold.
      ValueError: it does not convert, or its shape does not fit.
      errors.InternalError: a string tensor is fed something that is no string.
    """
    dtype = tensor.dtype.base_dtype
    if dtype in (dtypes.resource, dtypes.variant):
        return lambda value: _handle(_not_a_tensor(value, tensor), tensor)
    general = _general_converter(tensor)
    if dtype is dtypes.string or dtype.is_quantized:
        return general
    dims = tensor.shape.dims_tuple
    if dims == ():
        return _scalar_converter(dtype, general)
    return _array_converter(dtype.np_dtype, dims, general)


def _scalar_converter(dtype: dtypes.DType, general: Converter) -> Converter:
    scalar_type = dtype.np_dtype.type
    if not dtype.is_floating:

        def convert_exact(value: Any) -> Any:
            return value if type(value) is scalar_type else general(value)

        return convert_exact

    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is float:
            return scalar_type(value)
        return value if kind is scalar_type else general(value)

    return convert


def _array_converter(
    np_dtype: np.dtype[Any], dims: _Dims | None, general: Converter
) -> Converter:
    is_integer = np_dtype.kind in _INTEGERS

    def convert_array(value: np.ndarray[Any, Any]) -> Any:
        if value.dtype == np_dtype:
            return value
        # Integers wrap around, without a warning to be kept back.
        if is_integer and value.dtype.kind in _INTEGERS:
            return value.astype(np_dtype)
        return general(value)

    if dims is not None and None not in dims:

        def convert_static(value: Any) -> Any:
            if type(value) is np.ndarray and value.shape == dims:
                return convert_array(value)
            return general(value)

        return convert_static

    def convert(value: Any) -> Any:
        if (
            type(value) is np.ndarray
            and value.ndim
            and (dims is None or _fits(value.shape, dims))
        ):
            return convert_array(value)
        return general(value)

    return convert


def _fits(shape: tuple[int, ...], dims: _Dims) -> bool:
    if len(shape) != len(dims):
        return False
    for size, dim in zip(shape, dims, strict=True):
        if dim is not None and dim != size:
            return False
    return True


def _general_converter(tensor: Tensor) -> Converter:
    """Takes whatever `numpy.asarray` takes, under TensorFlow's rules."""
    dtype = tensor.dtype.base_dtype
    numpy_type = dtype.as_numpy_dtype
    is_string = dtype is dtypes.string

    def convert(value: Any) -> Any:
        _not_a_tensor(value, tensor)
        if isinstance(value, TensorHandle):
            value = value.handle if is_string else _held(value, dtype)
        if isinstance(value, int) and not _holds(numpy_type, value):
            _raise_too_large(value, numpy_type)
        is_text = isinstance(value, np.ndarray) and value.dtype.kind == "U"
        array = value if is_string and is_text else _to_array(value, numpy_type)
        dims = tensor.shape.dims_tuple
        if dims is not None and not _fits(array.shape, dims):
            raise ValueError(
                f"Cannot feed value of shape {array.shape!r} for Tensor "
                f"{tensor.name!r}, which has shape '{tensor.shape}'"
            )
        if is_string:
            return _as_bytes(array)
        array = memory_view(array)
        return array if array.ndim else array[()]

    return convert


def _held(handle: TensorHandle, dtype: dtypes.DType) -> Any:
    """The value of a handle, which must be of the dtype: nothing converts it."""
    if handle.dtype.base_dtype is not dtype:
        raise InvalidArgumentError(
            None,
            None,
            f"Expects arg[0] to be {dtype.name} but {handle.dtype.name} is provided",
        )
    return handle.eval()


def _to_array(value: Any, numpy_type: Any) -> np.ndarray[Any, Any]:
    # What a float cannot hold becomes infinity, without a warning.
    with np.errstate(all="ignore"):
        try:
            return np.asarray(value, dtype=numpy_type)
        except OverflowError:
            array = np.asarray(value)
            if array.dtype.kind == "f":  # infinity for an integer
                raise
            # Integers inside of a list wrap around, as with TensorFlow's NumPy.
            return array.astype(numpy_type)


def _not_a_tensor(value: Any, tensor: Tensor) -> Any:
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
            "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
            f"For reference, the tensor object was {value} which was passed to the "
            f"feed with key {tensor}."
        )
    return value


_NO_HANDLES: Final = (int, float, complex, str, bytes, list, tuple, dict, np.generic)


def _handle(value: Any, tensor: Tensor) -> Any:
    """What a step gave for a resource or variant, alone or in an array of objects."""
    if (
        value is None
        or isinstance(value, _NO_HANDLES)
        or (isinstance(value, np.ndarray) and value.dtype != object)
    ):
        raise TypeError(
            f"The value {value!r} of type {type(value)} cannot be fed for {tensor}: "
            "handles can be fed only as a fetch gave them."
        )
    return value


def _holds(numpy_type: Any, value: int) -> bool:
    if numpy_type is object:
        return False
    if isinstance(numpy_type, np.dtype):  # a quantized dtype
        numpy_type = numpy_type[0].type
    try:
        # As a Python number: NumPy itself would compare in the narrow type.
        return bool(numpy_type(value).item() == value)
    except OverflowError:
        return False


def _raise_too_large(value: int, numpy_type: Any) -> NoReturn:
    if not -(2**63) <= value < 2**64:
        raise OverflowError(f"Python int too large for {numpy_type}: {value}")
    raise TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with "
        f"Tensor type {numpy_type}. Try explicitly setting the type of the feed "
        "tensor to a larger type (e.g. int64)."
    )


_LAST_ASCII: Final = 127


def _as_bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An object array of bytes; the same array if all of it is bytes already."""
    if array.dtype.kind == "U":
        ascii_bytes = _as_ascii(array)
        if ascii_bytes is not None:
            return ascii_bytes.astype(object)
        array = array.astype(object)
    flat = array.ravel().tolist()
    if set(map(type, flat)) <= {bytes}:
        return array
    result = np.empty(len(flat), dtype=object)
    result[:] = [_encode(item) for item in flat]
    return result.reshape(array.shape)


def _as_ascii(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Text as an array of bytes of one length; None where it is not all ASCII.

    Without Python for each string, which NumPy's own conversion makes.
    """
    width = array.itemsize // np.dtype(np.uint32).itemsize
    if not width or not array.size:
        return array.astype("S")
    text = np.ascontiguousarray(array, f"=U{width}").reshape(-1)
    codes = text.view(np.uint32)
    if codes.max() > _LAST_ASCII:
        return None
    return codes.astype(np.uint8).view(f"S{width}").reshape(array.shape)


def _encode(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode("utf-8")
    if isinstance(item, bytes):
        return bytes(item)
    raise InternalError(None, None, f"Unsupported object type {type(item).__name__}")
