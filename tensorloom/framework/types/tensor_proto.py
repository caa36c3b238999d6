"""Arrays to `TensorProto` and back, in every packing that TensorFlow reads or writes.

A message holds either `tensor_content`, the raw little-endian bytes, which wins, or one
typed list: `float_val` for float32, `int_val` for the small integers, and so on. A list
shorter than the shape repeats its last entry; an empty one means zeros. So a message of
a few bytes may stand for a huge tensor: nothing is allocated here before the sizes are
checked, and one repeated entry becomes a view that takes no memory.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.array_conversion import (
    as_bytes,
    spread,
    to_unspread_ndarray,
)
from tensorloom.framework.types.varint import decode_varint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tensorloom.framework.types.dtypes import DType
    from tensorloom.protos.tensor_pb2 import TensorProto

# Types that TensorFlow's Python writes as raw bytes when there are two or more values.
_CONTENT_TYPES: Final = frozenset(
    (
        *(dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32),
        *(dtypes.int64, dtypes.uint8, dtypes.uint32, dtypes.uint64),
        *(dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32),
    )
)

_LIST_FIELDS: Final[dict[DType, str]] = {
    dtypes.float32: "float_val",
    dtypes.float64: "double_val",
    dtypes.int64: "int64_val",
    dtypes.uint32: "uint32_val",
    dtypes.uint64: "uint64_val",
    dtypes.bool: "bool_val",
    dtypes.string: "string_val",
    dtypes.complex64: "scomplex_val",
    dtypes.complex128: "dcomplex_val",
    dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val",
    dtypes.resource: "resource_handle_val",
    dtypes.variant: "variant_val",
    **dict.fromkeys(
        (
            *(dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint16, dtypes.uint8),
            *(dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16),
            dtypes.qint32,
        ),
        "int_val",
    ),
}

_MAX_CONTENT_BYTES: Final = 2**31 - 1
# A short list that claims a huge shape is no honest writer's.
_MAX_SPREAD_BYTES: Final = 2**30


# Writing --------------------------------------------------------------------------


@export("make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """The message for a Python value, with the conversions of `tf.constant`.

    A message is returned as it is.

    Raises:
        TypeError, ValueError: as `array_conversion.to_ndarray`.
    """
    from tensorloom.protos.tensor_pb2 import TensorProto

    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, TensorProto):
        return values
    array, sizes = to_unspread_ndarray(
        values,
        dtypes.as_dtype(dtype) if dtype else None,
        shape,
        verify_shape,
        allow_broadcast,
    )
    proto = TensorProto()
    _write(proto, array, dtypes.as_dtype(array.dtype), sizes, content_types=None)
    return proto


def encode_tensor(
    array: np.ndarray[Any, Any],
    dtype: DType | None = None,
    proto: TensorProto | None = None,
    prefer_content: bool = False,
) -> TensorProto:
    """The message for an array of a value dtype; `proto` is filled if given.

    Args:
        array: the value; strings as objects that are bytes or text.
        dtype: the array's, if the caller knows it; needed for an empty array of
            resources or variants, whose elements are messages.
        proto: an empty message to fill.
        prefer_content: write raw bytes for every type that has them, which is faster
            than the lists that TensorFlow's Python writes for some.

    Raises:
        TypeError: there is no DType for the array, or an element is not a string.
        ValueError: the content is larger than a message may be, 2 GiB.
    """
    if proto is None:
        from tensorloom.protos.tensor_pb2 import TensorProto

        proto = TensorProto()
    if dtype is None:
        dtype = _dtype_of(array)
    sizes = array.shape
    if array.size > 1 and not any(array.strides):
        array = array[(slice(0, 1),) * array.ndim]
    _write(
        proto, array, dtype.base_dtype, sizes, frozenset() if prefer_content else None
    )
    return proto


def _dtype_of(array: np.ndarray[Any, Any]) -> DType:
    if array.dtype == object and array.size:
        message = getattr(type(array.flat[0]), "DESCRIPTOR", None)
        if message is not None:
            is_handle = message.name == "ResourceHandleProto"
            return dtypes.resource if is_handle else dtypes.variant
    return dtypes.as_dtype(array.dtype)


def _write(
    proto: TensorProto,
    array: np.ndarray[Any, Any],
    dtype: DType,
    sizes: tuple[int, ...],
    content_types: frozenset[DType] | None,
) -> None:
    """Fills the message; an empty `content_types` means all types but strings."""
    proto.dtype = dtype.as_datatype_enum  # type: ignore[assignment]
    dims = proto.tensor_shape.dim
    for size in sizes:
        dims.add().size = size
    proto.tensor_shape.SetInParent()
    count = math.prod(sizes)
    raw = (
        dtype in _CONTENT_TYPES
        if content_types is None
        else dtype.is_numpy_compatible and dtype is not dtypes.string
    )
    # A single number takes fewer bytes in a list; who asked for content gets content.
    if raw and count > (content_types is None) and array.size == count:
        if array.nbytes > _MAX_CONTENT_BYTES:
            raise ValueError(
                "Cannot create a tensor proto whose content is larger than 2GB."
            )
        proto.tensor_content = array.tobytes()
    else:
        entries = _entries(array.ravel(), dtype)
        getattr(proto, _LIST_FIELDS[dtype]).extend(entries)


def _entries(flat: np.ndarray[Any, Any], dtype: DType) -> Iterable[Any]:
    """The values as the dtype's typed list has them."""
    if dtype is dtypes.string:
        return [as_bytes(text) for text in flat.tolist()]
    if dtype in (dtypes.float16, dtypes.bfloat16):
        flat = flat.view(np.uint16)
    elif dtype.is_complex:
        flat = flat.view(dtype.real_dtype.np_dtype)
    elif dtype.is_quantized:
        flat = dtypes.memory_view(flat)
    entries: list[Any] = flat.tolist()
    return entries


# Reading --------------------------------------------------------------------------


@export("make_ndarray")
def make_ndarray(tensor: TensorProto) -> np.ndarray[Any, Any]:
    """A new, writable array with the value of a message.

    Raises:
        TypeError: the dtype has no array form (resource, variant) or is unknown.
        ValueError: the content does not fit the shape.
    """
    dtype = dtypes.as_dtype(tensor.dtype)
    if not dtype.is_numpy_compatible or dtype._is_ref_dtype:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    try:
        return np.array(decode_tensor(tensor))
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None


def decode_tensor(proto: TensorProto) -> np.ndarray[Any, Any]:
    """The read-only array of a message, without a copy where that is possible.

    Strings are objects of bytes; the elements of resource and variant tensors are
    messages.

    Raises:
        InvalidArgumentError: dtype or shape are not those of a value, or the content
            does not fit them.
    """
    dtype = _decode_dtype(proto)
    sizes = sizes_of(proto)
    count = math.prod(sizes)
    if proto.tensor_content and dtype.is_numpy_compatible:
        array = _decode_content(proto.tensor_content, dtype, count)
    else:
        array = _decode_list(proto, dtype, count)
    if 1 < array.size < count and count * dtype.size > _MAX_SPREAD_BYTES:
        raise _invalid(
            f"{array.size} values cannot stand for a tensor of shape {list(sizes)}"
        )
    try:
        array = spread(array, sizes)
    except ValueError as error:
        # Shapes beyond NumPy's: more than 64 axes, or 2**63 bytes.
        raise _invalid_header(f"Shape {list(sizes)} is too large: {error}") from None
    array.flags.writeable = False
    return array


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        None, None, f"Cannot parse tensor from proto: {message}"
    )


def _invalid_header(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, f"Invalid TensorProto: {message}")


def _decode_dtype(proto: TensorProto) -> DType:
    try:
        dtype = dtypes.as_dtype(int(proto.dtype))
    except TypeError:
        raise _invalid_header(f"Unknown data type {proto.dtype} of a tensor") from None
    if dtype._is_ref_dtype:
        raise _invalid_header(f"A tensor cannot be of the reference type {dtype.name}")
    return dtype


def sizes_of(proto: TensorProto) -> tuple[int, ...]:
    """The shape of a message.

    Raises:
        InvalidArgumentError: a size is negative, or there are too many elements.
    """
    sizes = tuple([dim.size for dim in proto.tensor_shape.dim])
    for size in sizes:
        if size < 0:
            raise _invalid_header(
                f"Shape {list(sizes)} of a tensor has a negative size"
            )
    if math.prod(sizes) >= 2**63:
        raise _invalid_header(f"Shape {list(sizes)} has too many elements")
    return sizes


def _decode_content(content: bytes, dtype: DType, count: int) -> np.ndarray[Any, Any]:
    if dtype is dtypes.string:
        return _decode_string_content(content, count)
    if len(content) != count * dtype.size:
        raise _invalid(
            f"Tensor content has {len(content)} bytes, but {count} elements of "
            f"{dtype.name} need {count * dtype.size}"
        )
    if dtype.is_bool:
        # Any byte but 0 is true; NumPy takes only 0 and 1 for bool.
        return np.frombuffer(content, dtype=np.uint8).astype(np.bool_)
    return np.frombuffer(content, dtype=dtype.np_dtype)


def _decode_string_content(content: bytes, count: int) -> np.ndarray[Any, Any]:
    """All lengths as varints, then all bytes: the form of TensorFlow's workers."""
    if count > len(content):
        raise _invalid(f"{len(content)} bytes cannot hold {count} strings")
    position = 0
    lengths = []
    try:
        for _ in range(count):
            length, position = decode_varint(content, position)
            lengths.append(length)
    except ValueError:
        raise _invalid("A string's length in the content is cut off") from None
    if position + sum(lengths) != len(content):
        raise _invalid("Lengths of strings do not match the tensor's content")
    array = np.empty(count, dtype=object)
    for index, length in enumerate(lengths):
        array[index] = content[position : position + length]
        position += length
    return array


def _decode_list(proto: TensorProto, dtype: DType, count: int) -> np.ndarray[Any, Any]:
    entries = getattr(proto, _LIST_FIELDS[dtype])
    if not dtype.is_numpy_compatible and len(entries) < count:
        entries = _with_empty_last(entries, dtype)
    array = _LIST_DECODERS.get(dtype, _decode_numbers)(entries, dtype)
    # More entries than elements are legal; the rest is ignored.
    return array[:count]


def _with_empty_last(entries: Any, dtype: DType) -> list[Any]:
    """The messages; the last of them stands in for missing ones."""
    from tensorloom.protos.resource_handle_pb2 import ResourceHandleProto
    from tensorloom.protos.tensor_pb2 import VariantTensorDataProto

    if dtype is dtypes.variant:
        # Variants do not repeat: the rest is empty.
        return [*entries, VariantTensorDataProto()]
    return list(entries) or [ResourceHandleProto()]


def _decode_numbers(entries: Any, dtype: DType) -> np.ndarray[Any, Any]:
    return np.array(entries, dtype=dtype.np_dtype)


def _decode_int_val(entries: Any, dtype: DType) -> np.ndarray[Any, Any]:
    # The list is of 32-bit integers; narrower types take the low bits.
    target = dtypes.memory_dtype(dtype)
    return np.array(entries, dtype=np.int32).astype(target).view(dtype.np_dtype)


def _decode_half(entries: Any, dtype: DType) -> np.ndarray[Any, Any]:
    return np.array(entries, dtype=np.int32).astype(np.uint16).view(dtype.np_dtype)


def _decode_complex(entries: Any, dtype: DType) -> np.ndarray[Any, Any]:
    parts = np.array(entries, dtype=dtype.real_dtype.np_dtype)
    return parts[: len(parts) // 2 * 2].view(dtype.np_dtype)


def _decode_objects(entries: Any, dtype: DType) -> np.ndarray[Any, Any]:
    array = np.empty(len(entries), dtype=object)
    array[:] = list(entries)
    return array


_LIST_DECODERS: Final[dict[DType, Callable[[Any, DType], np.ndarray[Any, Any]]]] = {
    dtypes.string: _decode_objects,
    dtypes.resource: _decode_objects,
    dtypes.variant: _decode_objects,
    dtypes.float16: _decode_half,
    dtypes.bfloat16: _decode_half,
    dtypes.complex64: _decode_complex,
    dtypes.complex128: _decode_complex,
    **{
        dtype: _decode_int_val
        for dtype, field in _LIST_FIELDS.items()
        if field == "int_val"
    },
}
