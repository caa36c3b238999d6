"""The protocol's datatypes, and tensors as its bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.serving.manager.signature import Slot

_NAMES: Final = {
    "bool": "BOOL",
    **{f"uint{bits}": f"UINT{bits}" for bits in (8, 16, 32, 64)},
    **{f"int{bits}": f"INT{bits}" for bits in (8, 16, 32, 64)},
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    "bfloat16": "BF16",
    "string": "BYTES",
}
_DTYPES: Final = {theirs: dtypes.as_dtype(ours) for ours, theirs in _NAMES.items()}
BYTES: Final = "BYTES"
_LENGTH: Final = struct.Struct("<I")
_LARGEST: Final = 2**59
# Of an array of numpy.
_MOST_AXES: Final = 64


def name_of(dtype: DType) -> str:
    """The datatype of a dtype.

    Raises:
      errors.UnimplementedError: the protocol has none.
    """
    found = _NAMES.get(dtype.name)
    if found is None:
        raise errors.UnimplementedError(
            None,
            None,
            f"The inference protocol has no datatype for {dtype.name}; use "
            "TensorFlow Serving's interface",
        )
    return found


def check(datatype: str, slot: Slot) -> None:
    """Checks the datatype of an input.

    Raises:
      errors.InvalidArgumentError: it is not known, or the input has another one.
    """
    if datatype not in _DTYPES:
        raise invalid(f"input '{slot.alias}' has the unknown datatype '{datatype}'")
    if _DTYPES[datatype] is not slot.dtype:
        raise invalid(
            f"input '{slot.alias}' has the datatype {datatype}; the model wants "
            f"{name_of(slot.dtype)}"
        )


def count_of(shape: Sequence[Any], name: str) -> int:
    """The number of elements of a shape.

    Raises:
      errors.InvalidArgumentError: it is no shape.
    """
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise invalid(f"input '{name}' has the shape {list(shape)}")
    # Without those of 0: numpy has no array of such a shape either.
    if len(shape) > _MOST_AXES or math.prod(s for s in shape if s) >= _LARGEST:
        raise invalid(f"input '{name}' has the shape {list(shape)}, which is too large")
    return math.prod(shape)


def from_bytes(content: Any, shape: Sequence[int], slot: Slot) -> Any:
    """The array of an input from its bytes.

    Args:
      content: the elements, one after the other; those of BYTES with their lengths.
      shape: of the array.
      slot: the input; its datatype was checked.

    Raises:
      errors.InvalidArgumentError: there are more or fewer bytes.
    """
    count = count_of(shape, slot.alias)
    if slot.dtype.name == "string":
        elements = list(_read_elements(content, slot.alias))
        return as_array(elements, count, shape, slot)
    numpy_dtype = slot.dtype.np_dtype
    if len(content) != count * numpy_dtype.itemsize:
        raise invalid(
            f"input '{slot.alias}' has {len(content)} bytes; its shape {list(shape)} "
            f"has {count * numpy_dtype.itemsize}"
        )
    return np.frombuffer(content, numpy_dtype).reshape(shape)


def as_array(
    elements: Sequence[Any], count: int, shape: Sequence[int], slot: Slot
) -> Any:
    """The array of a flat list of elements.

    Raises:
      errors.InvalidArgumentError: there are more or fewer than the shape has.
    """
    if len(elements) != count:
        raise invalid(
            f"input '{slot.alias}' has {len(elements)} elements; its shape "
            f"{list(shape)} has {count}"
        )
    array = np.empty(count, dtype=slot.dtype.np_dtype)
    array[:] = elements
    return array.reshape(shape)


def _read_elements(content: Any, name: str) -> Iterable[bytes]:
    view, at = memoryview(content), 0
    while at < len(view):
        start = at + _LENGTH.size
        size = _LENGTH.unpack_from(view, at)[0] if start <= len(view) else len(view)
        at = start + size
        if at > len(view):
            raise invalid(f"input '{name}' ends in the middle of an element")
        yield bytes(view[start:at])


def to_bytes(array: Any) -> bytes:
    """The bytes of an output."""
    if array.dtype != object:
        return np.ascontiguousarray(array).tobytes()
    parts = []
    for element in array.reshape(-1):
        parts += [_LENGTH.pack(len(element)), element]
    return b"".join(parts)


def output_array(value: Any) -> Any:
    """A fetched value as an array."""
    if isinstance(value, bytes):
        return np.array(value, dtype=object)
    return np.asarray(value)


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error for a request that is wrong."""
    return errors.InvalidArgumentError(None, None, message)
