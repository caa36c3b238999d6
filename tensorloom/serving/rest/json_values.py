"""JSON values as arrays of a signature's dtypes."""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.serving.calls.tensor_values import type_name

_quick_loads: Callable[[bytes], Any] | None
try:
    from orjson import loads as _quick_loads
except ImportError:
    _quick_loads = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.types.dtypes import DType
    from tensorloom.serving.manager.signature import Slot

# Errors show so much of a value.
_MOST_SHOWN: Final = 256
_KINDS: Final[dict[type, str]] = {
    type(None): "Null",
    dict: "Object",
    list: "Array",
    str: "String",
    int: "Number",
    float: "Number",
}


def parse(body: bytes) -> dict[str, Any]:
    """The object in a body. NaN, Infinity and -Infinity are numbers.

    Raises:
      errors.InvalidArgumentError: it is no JSON, or no object.
    """
    if not body:
        raise invalid("JSON Parse error: The document is empty")
    try:
        value = _loads(body)
    except json.JSONDecodeError as error:
        raise invalid(f"JSON Parse error: {error.msg} at offset: {error.pos}") from None
    except UnicodeDecodeError as error:
        raise invalid(f"JSON Parse error: {error}") from None
    except RecursionError:
        raise invalid("JSON Parse error: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise invalid(f"JSON Parse error: {error}") from None
    if not isinstance(value, dict):
        raise invalid(f"JSON Value: {shown(value)} Is not object")
    return value


def _loads(body: bytes) -> Any:
    if _quick_loads is not None:
        try:
            return _quick_loads(body)
        except ValueError:
            # Not in the standard, such as NaN, or wrong: the other one says where.
            pass
    return json.loads(body)


def to_array(value: Any, slot: Slot, pads: bool = False) -> Any:
    """The array for an input.

    Args:
      value: a scalar, or lists of equal lengths.
      slot: the input.
      pads: whether shorter lists are filled with the first element, as a batch is.

    Raises:
      errors.InvalidArgumentError: a value is of another type, or lists differ.
      errors.UnimplementedError: JSON has no values of the dtype.
    """
    dtype = slot.dtype
    found = _text(value) if dtype.name == "string" else _numbers(value, dtype)
    if found is not None:
        return found
    if pads and isinstance(value, list):
        return to_array(_padded(value), slot)
    _explain(value, dtype, 0, _shape(value))
    raise invalid(
        f"JSON Value: {shown(value)} is not of expected type: {type_name(dtype)}"
    )


def _numbers(value: Any, dtype: DType) -> Any:
    """The array; None if something is wrong with the value."""
    if dtype.is_complex or dtype.is_quantized or not dtype.is_numpy_compatible:
        raise errors.UnimplementedError(
            None,
            None,
            f"Conversion of JSON Value: {shown(value)} to type: {type_name(dtype)}",
        )
    if _is_empty(value):
        try:
            return np.asarray(value).astype(dtype.np_dtype)
        except ValueError:  # lists that differ
            return None
    flat = _flattened(value)
    if flat is None:
        return None
    elements, shape = flat
    kinds = set(map(type, elements))
    if dtype.is_bool:
        return np.array(elements).reshape(shape) if kinds == {bool} else None
    if dtype.is_integer:
        array = _integers(elements, dtype) if kinds == {int} else None
    else:
        array = _floats(elements, dtype) if kinds <= {int, float} else None
    return None if array is None else array.reshape(shape)


def _flattened(value: Any) -> tuple[list[Any], list[int]] | None:
    """The elements of nested lists, and the shape; None: the lists differ.

    NumPy does the same, but looks at each element for what all of them could be, which
    takes several times longer.
    """
    if not isinstance(value, list):
        return [value], []
    shape, elements = [len(value)], value
    while elements and type(elements[0]) is list:
        if set(map(type, elements)) != {list}:
            return None
        lengths = set(map(len, elements))
        if len(lengths) != 1:
            return None
        shape.append(*lengths)
        elements = list(itertools.chain.from_iterable(elements))
    return (elements, shape) if elements else None


def _integers(elements: list[int], dtype: DType) -> Any:
    limits = np.iinfo(dtype.np_dtype)
    if min(elements) < limits.min or max(elements) > limits.max:
        return None
    return np.array(elements, dtype.np_dtype)


def _floats(elements: list[float], dtype: DType) -> Any:
    first = np.float32 if dtype.name == "float32" else np.float64
    try:
        with np.errstate(over="ignore"):
            array = np.fromiter(elements, first, len(elements))
            return array.astype(dtype.np_dtype, copy=False)
    except OverflowError:  # an integer beyond all floats
        return None


def _is_empty(value: Any) -> bool:
    """Whether lists hold nothing but lists."""
    return isinstance(value, list) and all(map(_is_empty, value))


def _text(value: Any) -> Any:
    """The object array of bytes; None if something is wrong with the value."""
    array = np.empty((), dtype=object)
    if isinstance(value, list):
        try:
            array = np.array(value, dtype=object)
        except ValueError:
            return None
    else:
        array[()] = value
    flat = array.reshape(-1)
    decoded = [_bytes_of(element) for element in flat]
    if any(element is None for element in decoded):
        return None
    result = np.empty(len(decoded), dtype=object)
    result[:] = decoded
    return result.reshape(array.shape)


def _bytes_of(element: Any) -> bytes | None:
    if isinstance(element, str):
        # What is no character, such as half of a pair, stays what it was.
        return element.encode(errors="surrogatepass")
    if is_base64(element):
        return decode_base64(element["b64"])
    return None


def is_base64(element: Any) -> bool:
    """Whether a value is `{"b64": text}`."""
    return (
        isinstance(element, dict)
        and len(element) == 1
        and isinstance(element.get("b64"), str)
    )


def decode_base64(text: str) -> bytes:
    """The bytes; without the padding at the end, and in the alphabet of URLs, too.

    Raises:
      errors.InvalidArgumentError: it is not base64.
    """
    standard = text.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid("Unable to base64 decode") from None


def _padded(value: list[Any]) -> Any:
    """Nested lists of equal lengths, from those that differ."""
    shape: list[int] = []
    _longest(value, 0, shape)
    return _filled(value, shape, 0, _first(value))


def _longest(value: Any, level: int, shape: list[int]) -> None:
    if not isinstance(value, list):
        return
    if level == len(shape):
        shape.append(0)
    shape[level] = max(shape[level], len(value))
    for element in value:
        _longest(element, level + 1, shape)


def _filled(value: Any, shape: list[int], level: int, fill: Any) -> Any:
    if level == len(shape) or not isinstance(value, list):
        return value
    missing = shape[level] - len(value)
    extra: Any = fill
    for size in reversed(shape[level + 1 :]):
        extra = [extra] * size
    return [
        *(_filled(element, shape, level + 1, fill) for element in value),
        *[extra] * missing,
    ]


def _first(value: Any) -> Any:
    while isinstance(value, list) and value:
        value = value[0] or next((v for v in value if v not in ([], None)), 0)
    return 0 if isinstance(value, list) else value


# --- what is wrong -------------------------------------------------------------------


def _shape(value: Any) -> list[int]:
    """The lengths of the first list of each level."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


def _explain(value: Any, dtype: DType, level: int, shape: list[int]) -> None:
    """Raises what is wrong with the first value with which anything is."""
    if not isinstance(value, list):
        if level != len(shape):
            raise invalid(
                f"JSON Value: {shown(value)} found at incorrect level: {level + 1} in "
                f"the JSON DOM. Expected at level: {len(shape)}"
            )
        _explain_scalar(value, dtype)
        return
    if level >= len(shape):
        raise invalid(
            f"Encountered list at unexpected level: {level} expected < {len(shape)}"
        )
    if len(value) != shape[level]:
        raise invalid(
            f"Encountered list at unexpected size: {len(value)} at level: {level} "
            f"expected size: {shape[level]}"
        )
    for element in value:
        _explain(element, dtype, level + 1, shape)


def _explain_scalar(value: Any, dtype: DType) -> None:
    if dtype.name == "string":
        if isinstance(value, dict) and not is_base64(value):
            raise invalid(
                f"JSON Value: {shown(value)} not formatted correctly for base64 data"
            )
        is_right = isinstance(value, str | dict)
    elif dtype.is_bool:
        is_right = isinstance(value, bool)
    elif dtype.is_integer:
        limits = np.iinfo(dtype.np_dtype)
        is_right = type(value) is int and limits.min <= value <= limits.max
    else:
        is_right = type(value) in (int, float)
    if not is_right:
        raise invalid(
            f"JSON Value: {shown(value)} Type: {kind_of(value)} is not of expected "
            f"type: {type_name(dtype)}"
        )


def kind_of(value: Any) -> str:
    """JSON's name for the type of a value."""
    if isinstance(value, bool):
        return str(value)
    return _KINDS.get(type(value), "Object")


def shown(value: Any) -> str:
    """The beginning of a value, for errors."""
    text = ""
    # Only as much as is shown is written out.
    for part in json.JSONEncoder().iterencode(value):
        text += part
        if len(text) >= _MOST_SHOWN:
            break
    return text[:_MOST_SHOWN]


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error for a request that is wrong."""
    return errors.InvalidArgumentError(None, None, message)
