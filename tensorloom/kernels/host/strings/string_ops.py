"""Host kernels of the string ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing.number_texts import (
    integer_texts,
    number_of,
    numbers_of,
)
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.characters import character_count
from tensorloom.kernels.host.strings.spans import lengths_of, spans_of


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
        joined = list(map(separator.join, zip(*flat, strict=True)))
        return to_strings(joined, whole[0].shape)

    return compute


# Lengths of fewer strings are asked for one by one.
_FEW = 128


@host_kernel("StringLength", large=True)
def _string_length(c: OpKernelConstruction) -> Compute:
    in_bytes = c["unit"] == b"BYTE"

    def compute(value: Any) -> Any:
        if value.size < _FEW:
            texts = value.reshape(-1).tolist()
            one = len if in_bytes else character_count
            lengths = np.fromiter(map(one, texts), np.int32, value.size)
        else:
            found = lengths_of(value) if in_bytes else _character_counts(value)
            lengths = found.astype(np.int32)
        return lengths.reshape(value.shape)[()]

    return compute


def _character_counts(value: Any) -> Any:
    from tensorloom.kernels.loops.strings import words

    spans, counts = spans_of(value), np.empty(value.size, np.int64)
    words.count_characters(spans.blob, spans.starts, spans.lengths, counts)
    return counts


# --- numbers to text ----------------------------------------------------------------


@host_kernel("AsString", large=True)
def _as_string(c: OpKernelConstruction) -> Compute:
    dtype = c["T"]
    if dtype == dtypes.string:
        return lambda value: value
    to_texts = _formatter(c, dtype)

    def compute(value: Any) -> Any:
        values = np.asarray(value)
        return to_texts(values.reshape(-1)).reshape(values.shape)

    return compute


# Fewer numbers are written without the loops.
_FEW_NUMBERS = 256
_TRUTHS = np.array([b"false", b"true"], object)


def _formatter(c: OpKernelConstruction, dtype: dtypes.DType) -> Callable[[Any], Any]:
    """The function from a vector of numbers to one of texts."""
    # Python writes "nan" and "inf" with the sign and width as C does.
    pattern = _pattern(c, dtype).encode()
    if dtype == dtypes.bool:
        return lambda flat: _TRUTHS[flat.astype(np.int8)]
    if dtype.is_complex:
        pattern = b"(%b,%b)" % (pattern, pattern)

    def to_texts(flat: Any) -> Any:
        if pattern == b"%d" and len(flat) >= _FEW_NUMBERS and flat.dtype != np.uint64:
            return integer_texts(flat)
        numbers = flat.view(flat.real.dtype) if dtype.is_complex else flat
        # One call for all takes two thirds of the time of one for each.
        lines = (pattern + b"\n") * len(flat) % tuple(numbers.tolist())
        return to_strings(lines.split(b"\n")[:-1], flat.shape)

    return to_texts


_TOO_LONG = 1 << 24


def _pattern(c: OpKernelConstruction, dtype: dtypes.DType) -> str:
    """A printf format from the attrs.

    Raises:
      InvalidArgumentError: attrs that contradict each other or the dtype.
      ResourceExhaustedError: texts of which one alone would take minutes.
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
    if max(width, precision) >= _TOO_LONG:
        raise errors.ResourceExhaustedError(
            None, None, f"OOM when writing a number of {max(width, precision)} digits"
        )
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
        flat = value.reshape(-1)
        numbers = numbers_of(flat, dtype)
        if numbers is None:
            numbers = np.array([_parse(text, dtype) for text in flat], to)
        result = numbers.reshape(value.shape)
        return result if result.ndim else result[()]

    return compute


def _parse(text: bytes, dtype: dtypes.DType) -> Any:
    try:
        return number_of(text, dtype)
    except ValueError:
        shown = text.decode("utf-8", "backslashreplace")
        raise invalid_argument(
            f"StringToNumberOp could not correctly convert string: {shown}"
        ) from None
