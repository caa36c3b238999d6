"""Python values to NumPy arrays, by the rules of `tf.constant`.

Python numbers become int32 (int64 where they need it) and float32; a NumPy array keeps
its dtype; an explicit dtype is checked against every leaf of a Python value, while an
array is cast to it. Strings become object arrays of `bytes`. The result is a fresh
read-only array in native byte order, C-contiguous, except that one value spread over a
larger shape is a view with strides of 0.
"""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_shape import Dimension, TensorShape

if TYPE_CHECKING:
    from collections.abc import Iterator

_INT32_MIN: Final = -(2**31)
_INT32_MAX: Final = 2**31 - 1
_FLOAT32_MAX: Final = 3.4028234e38
_INT32: Final = np.dtype(np.int32)
_FLOAT32: Final = np.dtype(np.float32)
_BOOL: Final = np.dtype(np.bool_)

# Where Python ints within 32 bits, and floats within float32's range, go directly.
_INT_TARGETS: Final[dict[DType | None, np.dtype[Any]]] = {
    None: _INT32,
    dtypes.int32: _INT32,
    dtypes.int64: dtypes.int64.np_dtype,
    dtypes.float32: _FLOAT32,
    dtypes.float64: dtypes.float64.np_dtype,
}
_FLOAT_TARGETS: Final[dict[DType | None, np.dtype[Any]]] = {
    None: _FLOAT32,
    dtypes.float32: _FLOAT32,
    dtypes.float64: dtypes.float64.np_dtype,
}

# Types whose values are never array-like and never hold a tensor.
_PLAIN: Final = frozenset((int, float, bool, str, bytes, complex))
_NOT_ARRAYS: Final = _PLAIN | {list, tuple, type(None)}
# Classes of tensors of a graph, see `register_tensor_class`.
_TENSOR_CLASSES: tuple[type, ...] = ()

# Exact types of leaves that each kind of dtype takes, for the common case, and the
# classes that decide all others.
_FAST_LEAVES: dict[DType, frozenset[type]] = {}
_LEAF_CLASSES: dict[DType, tuple[type, ...]] = {}


def _fill_leaf_tables() -> None:
    for number in range(1, 24):
        dtype = DType(number)
        exact: set[type]
        classes: tuple[type, ...]
        if dtype.is_bool:
            exact, classes = {bool}, (bool,)
        elif dtype.is_integer:
            exact, classes = {int, bool}, (numbers.Integral, np.integer, Dimension)
        elif dtype.is_floating:
            exact = {int, bool, float}
            classes = (numbers.Real, np.integer, np.floating)
        elif dtype.is_complex:
            exact = {int, bool, float, complex}
            classes = (numbers.Complex, np.number)
        elif dtype is dtypes.string:
            exact, classes = {str, bytes}, (str, bytes)
        else:
            continue
        for variant in (dtype, dtype._as_ref):
            _FAST_LEAVES[variant] = frozenset(exact)
            _LEAF_CLASSES[variant] = classes


_fill_leaf_tables()


def to_ndarray(
    values: Any,
    dtype: DType | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> np.ndarray[Any, Any]:
    """Converts a value to a read-only array, as `tf.constant` does.

    Args:
        values: number, string, nested lists of them, or anything array-like.
        dtype: the result's type; inferred if None.
        shape: the result's shape, fully known. With fewer values than it has
            elements, the last value repeats.
        verify_shape: the values must have exactly `shape`.
        allow_broadcast: unless there is one value, the number must match `shape`.

    Raises:
        TypeError: a leaf does not fit the dtype, there is no dtype for it, or the
            shape fails one of the two checks.
        ValueError: `values` is None or ragged, or has more elements than `shape`.
    """
    if shape is None and not (verify_shape and allow_broadcast):
        array = _simple(values, dtype)
        if array is None:
            array = _convert(values, dtype)
    else:
        array, sizes = to_unspread_ndarray(
            values, dtype, shape, verify_shape, allow_broadcast
        )
        array = spread(array, sizes)
    array.flags.writeable = False
    return array


def _simple(value: Any, dtype: DType | None) -> np.ndarray[Any, Any] | None:
    """The array of a Python number, or a flat list of numbers of one type, that surely
    fit the type; None: take the general way."""
    kind = type(value)
    low = high = value
    if kind is list or kind is tuple:
        kinds = set(map(type, value))
        if len(kinds) != 1:
            return None
        (kind,) = kinds
        if kind is int or kind is float:
            low, high = min(value), max(value)
    if kind is int:
        target = _INT_TARGETS.get(dtype)
        if target is None or low < _INT32_MIN or high > _INT32_MAX:
            return None
    elif kind is float:
        target = _FLOAT_TARGETS.get(dtype)
        # False for NaN too: what is compared with it goes the general way.
        if target is None or not (low >= -_FLOAT32_MAX and high <= _FLOAT32_MAX):
            return None
    elif kind is bool and (dtype is None or dtype is dtypes.bool):
        target = _BOOL
    else:
        return None
    return np.array(value, target)


def _convert(values: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    if is_array_like(values):
        return _from_array(values, dtype)
    if values is None:
        raise ValueError("None values not supported.")
    return _from_python(values, dtype)


def is_array_like(value: Any) -> bool:
    """Whether NumPy takes the object as an array by a protocol, not as a sequence."""
    if type(value) in _NOT_ARRAYS:
        return False
    if isinstance(value, (np.ndarray, np.generic)):
        return True
    if _is_tensor_type(type(value)):
        return False
    if callable(getattr(value, "__array__", None)) or isinstance(
        getattr(value, "__array_interface__", None), dict
    ):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return not isinstance(value, bytes)


def register_tensor_class(cls: type) -> None:
    """Makes a class known whose objects are tensors of a graph, and no arrays.

    The graph structure builds on this module, and says so of its classes itself.
    """
    global _TENSOR_CLASSES
    _TENSOR_CLASSES = (*_TENSOR_CLASSES, cls)


def _is_tensor_type(cls: type) -> bool:
    return issubclass(cls, _TENSOR_CLASSES)


# Arrays ---------------------------------------------------------------------------


def _from_array(values: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    array = np.asarray(values)
    if dtype is None or not dtype.is_numpy_compatible:
        found = dtypes.as_dtype(array.dtype)
        if dtype is not None:
            raise _incompatible(dtype, array, values)
    else:
        found = dtype
    if found.base_dtype is dtypes.string:
        return _bytes_array(array)
    # Values out of the range of the target wrap or become infinite in silence, as in
    # TensorFlow.
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(found.np_dtype, order="C", copy=True)


def _incompatible(dtype: DType, array: np.ndarray[Any, Any], values: Any) -> TypeError:
    return TypeError(
        f"Incompatible types: {dtype} vs. {array.dtype}. Value is {values}"
    )


def _bytes_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An object array of bytes from an array of any kind of strings."""
    result = np.empty(array.size, dtype=object)
    result[:] = [as_bytes(text) for text in array.ravel().tolist()]
    return result.reshape(array.shape)


def as_bytes(text: Any) -> bytes:
    """Text in UTF-8; bytes as they are.

    Raises:
      TypeError: it is neither.
    """
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode("utf-8")
    if isinstance(text, bytearray):
        return bytes(text)
    raise TypeError(f"Expected binary or unicode string, got {text!r}")


# Python values --------------------------------------------------------------------


def _from_python(values: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    types = _leaf_types(values)
    if dtype is None:
        if not types <= _PLAIN and any(map(_is_tensor_type, types)):
            raise TypeError("List of Tensors when single Tensor expected")
    elif not types <= _FAST_LEAVES.get(dtype, frozenset()):
        _check_leaves(values, dtype)
    array = _numpy_array(values, dtype)
    if dtype is not None and not dtype.is_numpy_compatible:
        raise _incompatible(dtype, array, values)
    if dtype is None or not dtype.is_quantized:
        _check_dense(values, array)
    if array.dtype.kind in "OUS":
        return _string_array(values, array.shape)
    if dtype is None:
        return _narrow(array)
    return array


def _leaf_types(values: Any) -> set[type]:
    if not isinstance(values, (list, tuple)):
        return {type(values)}
    types = set(map(type, values))
    nested = tuple([kind for kind in types if issubclass(kind, (list, tuple))])
    if nested:
        types.difference_update(nested)
        for value in values:
            if isinstance(value, nested):
                types |= _leaf_types(value)
    return types


def _leaves(values: Any) -> Iterator[Any]:
    if isinstance(values, (list, tuple, range)):
        for value in values:
            yield from _leaves(value)
    else:
        yield values


def _check_leaves(values: Any, dtype: DType) -> None:
    if dtype.is_quantized:
        mismatch = list(_not_quantized(values))
    elif dtype in _LEAF_CLASSES:
        classes = _LEAF_CLASSES[dtype]
        mismatch = [leaf for leaf in _leaves(values) if not isinstance(leaf, classes)]
    else:
        mismatch = [leaf for leaf in _leaves(values) if _is_tensor_type(type(leaf))]
    if mismatch:
        leaf = mismatch[0]
        raise TypeError(
            f"Expected {dtype.name}, got {leaf!r} of type "
            f"'{type(leaf).__name__}' instead."
        )


def _not_quantized(values: Any) -> Iterator[Any]:
    """Leaves that are not integers in a tuple: quantized values are written (1,)."""
    if isinstance(values, tuple):
        integers = _LEAF_CLASSES[dtypes.int32]
        yield from (leaf for leaf in _leaves(values) if not isinstance(leaf, integers))
    elif isinstance(values, list):
        for value in values:
            yield from _not_quantized(value)
    else:
        yield values


def _numpy_array(values: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    if dtype is None or not dtype.is_numpy_compatible:
        try:
            return np.array(values)
        except ValueError:
            # Ragged lists: an array of lists has the shape that messages show.
            return np.array(values, dtype=object)
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            return np.array(values, dtype=dtype.np_dtype)
        except OverflowError:
            if not dtype.is_integer:
                raise
            # Integers out of range wrap, as long as they are 64-bit integers.
            return np.array(values, dtype=np.int64).astype(dtype.np_dtype)


def _check_dense(values: Any, array: np.ndarray[Any, Any]) -> None:
    wanted = _dense_dimensions(values)
    if list(array.shape) != wanted:
        raise ValueError(
            f"Argument must be a dense tensor: {values} - got shape "
            f"{list(array.shape)}, but wanted {wanted}."
        )


def _dense_dimensions(values: Any) -> list[int]:
    sizes = []
    while isinstance(values, (list, tuple)):
        sizes.append(len(values))
        if not values:
            break
        values = values[0]
    return sizes


def _string_array(values: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    # From the values, not from NumPy's array: that one cuts trailing zero bytes, and
    # turns the numbers of a mixed list to text.
    try:
        texts = [as_bytes(leaf) for leaf in _leaves(values)]
    except TypeError:
        raise TypeError(
            f"Failed to convert object of type {type(values)} to Tensor. "
            f"Contents: {values}. Consider casting elements to a supported type."
        ) from None
    result = np.empty(len(texts), dtype=object)
    result[:] = texts
    return result.reshape(shape)


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """float64 to float32, and int64 to int32 if no value is lost."""
    if array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(_FLOAT32)
    if array.dtype == np.int64:
        fits = array.size == 0 or (
            array.min() >= _INT32_MIN and array.max() <= _INT32_MAX
        )
        return array.astype(_INT32) if fits else array
    dtypes.as_dtype(array.dtype)
    return array


# Shapes ---------------------------------------------------------------------------


def to_unspread_ndarray(
    values: Any,
    dtype: DType | None = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> tuple[np.ndarray[Any, Any], tuple[int, ...]]:
    """`to_ndarray` before the last value is repeated: the values, and the shape.

    Raises:
        TypeError, ValueError: as `to_ndarray`.
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if shape is None:
        array = _convert(values, dtype)
        return array, array.shape
    sizes = _sizes(shape)
    count = math.prod(sizes)
    if count == 0 and values is not None and not is_array_like(values):
        # The values are not looked at; without a dtype the result is float32.
        empty = _FLOAT32 if dtype is None else dtype.np_dtype
        array = np.empty(sizes, dtype=empty)
    else:
        array = _convert(values, dtype)
    _check_shape(array, sizes, verify_shape, allow_broadcast)
    return array, sizes


def _check_shape(
    array: np.ndarray[Any, Any],
    sizes: tuple[int, ...],
    verify_shape: bool,
    allow_broadcast: bool,
) -> None:
    count = math.prod(sizes)
    if allow_broadcast:
        matches = array.shape in ((), (1,)) or array.size == count
    else:
        matches = not verify_shape or array.shape == sizes
    if not matches:
        raise TypeError(f"Expected Tensor's shape: {sizes}, got {array.shape}.")
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Needed at most {count}, but received "
            f"{array.size}"
        )
    TensorShape(sizes)  # raises ValueError for negative sizes


def _sizes(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, TensorShape) and shape.dims_tuple is None:
        raise ValueError("Cannot iterate over a shape with unknown rank.")
    return tuple([int(size) for size in shape])


def spread(array: np.ndarray[Any, Any], sizes: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """The values in the given shape, the last one repeated as often as needed.

    Without any value, all elements are the dtype's zero. One value becomes a view that
    takes no memory.
    """
    count = math.prod(sizes)
    if array.size == count:
        return array.reshape(sizes)
    if array.size == 0:
        zero = np.zeros((), dtype=array.dtype)
        if array.dtype == object:
            zero[()] = b""
        return np.broadcast_to(zero, sizes)
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), sizes)
    flat = np.empty(count, dtype=array.dtype)
    flat[: array.size] = array.ravel()
    flat[array.size :] = array.ravel()[-1]
    return flat.reshape(sizes)
