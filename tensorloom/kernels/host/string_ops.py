"""Host kernels of the string ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.math_ops_errors import invalid_argument, shape_text


def _map(function: Callable[[Any], bytes], array: Any) -> Any:
    """An object array of what a function makes of each element."""
    values = np.asarray(array)
    result = np.empty(values.size, object)
    result[:] = [function(x) for x in values.reshape(-1).tolist()]
    return result.reshape(values.shape)


@host_kernel("StringJoin", large=True)
def _string_join(c: OpKernelConstruction) -> Compute:
    separator = c["separator"]

    def compute(*inputs: Any) -> Any:
        shapes = {value.shape for value in inputs if value.ndim}
        if len(shapes) > 1:
            raise invalid_argument(
                "Input shapes do not match: "
                + " vs. ".join(shape_text(value.shape) for value in inputs)
            )
        whole = np.broadcast_arrays(*inputs) if shapes else inputs
        flat = [value.reshape(-1).tolist() for value in whole]
        result = np.empty(len(flat[0]), object)
        result[:] = [separator.join(parts) for parts in zip(*flat, strict=True)]
        return result.reshape(whole[0].shape)

    return compute


@host_kernel("StringLength", large=True)
def _string_length(c: OpKernelConstruction) -> Compute:
    in_bytes = c["unit"] == b"BYTE"

    def length(text: bytes) -> int:
        if in_bytes:
            return len(text)
        # Bytes of the form 10xxxxxx continue a character.
        return sum(byte & 0xC0 != 0x80 for byte in text)

    def compute(value: Any) -> Any:
        lengths = [length(text) for text in value.reshape(-1).tolist()]
        result = np.array(lengths, np.int32).reshape(value.shape)
        return result if result.ndim else result[()]

    return compute


# --- numbers to text ----------------------------------------------------------------


@host_kernel("AsString", large=True)
def _as_string(c: OpKernelConstruction) -> Compute:
    dtype = c["T"]
    if dtype == dtypes.string:
        return lambda value: value
    to_text = _formatter(c, dtype)
    return lambda value: _map(lambda x: to_text(x).encode(), value)


def _formatter(c: OpKernelConstruction, dtype: dtypes.DType) -> Callable[[Any], str]:
    pattern = _pattern(c, dtype)
    if dtype == dtypes.bool:
        return lambda x: "true" if x else "false"
    if dtype.is_complex:
        return lambda x: f"({_printf(pattern, x.real)},{_printf(pattern, x.imag)})"
    return lambda x: _printf(pattern, x)


def _printf(pattern: str, value: Any) -> str:
    # Python writes "nan" and "inf" with the sign and width as C does.
    return pattern % value  # type: ignore[no-any-return]


def _pattern(c: OpKernelConstruction, dtype: dtypes.DType) -> str:
    """A printf format from the attrs.

    Raises:
      InvalidArgumentError: attrs that contradict each other or the dtype.
    """
    precision, width, fill = c["precision"], c["width"], c["fill"].decode()
    is_real = dtype.is_floating or dtype.is_complex
    if len(fill) > 1:
        raise invalid_argument(f"Fill string must be one or fewer characters: {fill}")
    if c["scientific"] and c["shortest"]:
        raise invalid_argument("Cannot select both scientific and shortest notation")
    if not is_real and (c["scientific"] or c["shortest"] or precision >= 0):
        what = "precision" if precision >= 0 else "scientific and shortest format"
        raise invalid_argument(f"{what} not supported for datatype {dtype.name}")
    letter = "d"
    if is_real:
        letter = "e" if c["scientific"] else "g" if c["shortest"] else "f"
    text = "%" + (fill if width > -1 else "")
    if width > -1:
        text += str(width)
    if precision > -1:
        text += f".{precision}"
    return text + letter


# --- text to numbers ----------------------------------------------------------------


@host_kernel("StringToNumber", large=True)
def _string_to_number(c: OpKernelConstruction) -> Compute:
    dtype = c["out_type"]
    to = dtype.np_dtype

    def compute(value: Any) -> Any:
        numbers = [_parse(text, dtype) for text in value.reshape(-1).tolist()]
        result = np.array(numbers, to).reshape(value.shape)
        return result if result.ndim else result[()]

    return compute


def _parse(text: bytes, dtype: dtypes.DType) -> Any:
    try:
        word = text.decode("ascii")
        # Python takes digits grouped by underscores; C does not.
        if "_" in word:
            raise ValueError
        number: Any = int(word) if dtype.is_integer else float(word)
        if dtype.is_integer and not dtype.min <= number <= dtype.max:
            raise ValueError
    except ValueError:
        shown = text.decode("utf-8", "backslashreplace")
        raise invalid_argument(
            f"StringToNumberOp could not correctly convert string: {shown}"
        ) from None
    return number
