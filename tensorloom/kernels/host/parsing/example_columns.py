"""Columns of features: one feature of every message of a batch.

A column comes from the bytes of the batch (`example_wire.py`), or from protobuf
messages where those are few or irregular. Sparse, dense and ragged outputs are made of
it here, either way.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing import example_wire as wire
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.spans import spans_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensorloom.framework.types.dtypes import DType

#: The name of a Feature's list by dtype; the others' is `bytes_list`.
LISTS = {dtypes.float32: "float_list", dtypes.int64: "int64_list"}
_KINDS = {"float_list": "float", "int64_list": "int64", "bytes_list": "string"}

# What errors add to `Where.place` for values of another dtype.
DENSE_MISMATCH = (
    ".  Data types don't match. Data type: {got} but expected type: {wanted}"
)
SPARSE_MISMATCH = (
    ".  Data types don't match. Expected type: {wanted}, Actual type: {got}"
)


# Fewer messages of fewer bytes are read by protobuf.
_FEW, _FEW_BYTES = 16, 4000


class Where:
    """How errors name messages of a batch."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def row(self, row: int) -> str:
        """The start of a sentence about a message."""
        return f"Name: {self.name(row)}, "

    def place(self, row: int, key: str) -> str:
        """The start of a sentence about a feature of a message."""
        return f"{self.row(row)}Key: {key}, Index: {row}"

    def detail(self, text: str) -> str:
        """What the error says of the values."""
        return text

    def name(self, row: int) -> str:
        """The name of a message."""
        return self._names[row] if self._names else "<unknown>"


class OnlyOne(Where):
    """Errors of the op that parses a single message: there is nothing to count."""

    def __init__(self) -> None:
        super().__init__(())

    def row(self, row: int) -> str:
        """Nothing: there is one message."""
        return ""

    def place(self, row: int, key: str) -> str:
        """The feature."""
        return f"Key: {key}"

    def detail(self, text: str) -> str:
        """TensorFlow tells no more."""
        return "  Can't parse serialized Example."


class Column(NamedTuple):
    """A feature of all messages: their values one after another."""

    values: NDArray[Any]
    counts: NDArray[np.int64]  # how many values each message has
    present: NDArray[np.bool_]  # which messages have the feature at all


class Examples:
    """Serialized Examples whose columns are asked for by key.

    Args:
      texts: an array of strings [n], or a list.
      refuse: makes the error of a text that is no Example, from its number.

    Raises:
      InvalidArgumentError: the one of `refuse`.
    """

    def __init__(
        self,
        texts: Any,
        keys: Sequence[bytes],
        where: Where,
        refuse: Callable[[int], Exception],
    ) -> None:
        self._texts, self._where, self._refuse = texts, where, refuse
        self._keys = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        self._messages: list[Any] | None = None
        self._walk: wire.Walk | None = None
        if not (self._is_little() and self._parse_little()):
            self._walk = self._walk_over(texts)
            odd = np.flatnonzero(self._walk.odd).tolist()
            if odd:
                self._walk = self._walk_again(odd)

    def _is_little(self) -> bool:
        """Whether it is not worth loading the loops."""
        texts = self._texts
        return len(texts) < _FEW and sum(map(len, texts)) < _FEW_BYTES

    def _parse_little(self) -> bool:
        """Whether protobuf can read all messages; it wants all keys to be UTF-8."""
        found = [read_message("Example", text) for text in self._texts]
        if None in found or not all(map(_is_utf_8, self._keys)):
            return False
        self._messages = [message.features.feature for message in found]
        return True

    def _walk_again(self, odd: list[int]) -> wire.Walk | None:
        """With odd messages made regular; None if one cannot be."""
        regular = list(self._texts)
        for row in odd:
            regular[row] = self._regular(row)
        walk = self._walk_over(regular)
        if not walk.odd.any():
            return walk
        self._parse()
        return None

    def _walk_over(self, texts: Any) -> wire.Walk:
        return wire.Walk(spans_of(texts), list(self._keys), wire.CONTEXT, only=True)

    def column(self, key: bytes, dtype: DType, mismatch: str) -> Column:
        """The column of one of the keys.

        Args:
          mismatch: see `message_column`.

        Raises:
          InvalidArgumentError: a message has values of another dtype.
        """
        if self._walk is not None:
            with suppress(wire.Irregular):
                return Column(*self._walk.lists(self._keys[key]).column(dtype))
        name = key.decode(errors="replace")
        features = [_pick(message, name) for message in self._parse()]
        return message_column(
            features, dtype, lambda i: self._where.place(i, name) + mismatch
        )

    def _regular(self, row: int) -> bytes:
        """The wanted features of a message, as a standard writer writes them."""
        from tensorloom.protos import example_pb2

        given, result = self._message(row), example_pb2.Example()
        for key in self._keys:
            name = key.decode(errors="replace")
            if name in given:
                result.features.feature[name].CopyFrom(given[name])
        return bytes(result.SerializeToString())

    def _message(self, row: int) -> Mapping[str, Any]:
        message = read_message("Example", self._texts[row])
        if message is None:
            raise self._refuse(row)
        return message.features.feature  # type: ignore[no-any-return]

    def _parse(self) -> list[Any]:
        if self._messages is None:
            self._messages = [self._message(i) for i in range(len(self._texts))]
        return self._messages


@functools.cache
def _is_utf_8(key: bytes) -> bool:
    return "\ufffd" not in key.decode(errors="replace")


def read_message(kind: str, text: bytes) -> Any:
    """A protobuf message of the Example family, None if the text is none."""
    from google.protobuf.message import DecodeError

    from tensorloom.protos import example_pb2

    try:
        return getattr(example_pb2, kind).FromString(text)
    except DecodeError:
        return None


def _pick(features: Any, key: str) -> Any:
    # Looking up a missing key in a protobuf map would create it.
    return features[key] if key in features else None  # noqa: SIM401


def message_column(
    features: Sequence[Any], dtype: DType, mismatch: Callable[[int], str]
) -> Column:
    """The column of Feature messages, None for a missing one.

    Args:
      mismatch: the message of the error for values of another dtype in a row, with the
        dtypes as `{wanted}` and `{got}`.

    Raises:
      InvalidArgumentError: there is such a row.
    """
    wanted = LISTS.get(dtype, "bytes_list")
    rows: list[Any] = []
    present = np.zeros(len(features), bool)
    for i, feature in enumerate(features):
        kind = None if feature is None else feature.WhichOneof("kind")
        if kind is None:
            rows.append(())
            continue
        if kind != wanted:
            text = mismatch(i).replace("{wanted}", _KINDS[wanted])
            raise invalid_argument(text.replace("{got}", _KINDS[kind]))
        present[i] = True
        rows.append(getattr(feature, kind).value)
    counts = np.fromiter(map(len, rows), np.int64, len(rows))
    flat = [value for row in rows for value in row]
    if dtype == dtypes.string:
        return Column(to_strings(flat, (len(flat),)), counts, present)
    return Column(np.array(flat, dtype.as_numpy_dtype), counts, present)


# --- outputs ----------------------------------------------------------------------


def sparse_output(column: Column) -> tuple[Any, Any, Any]:
    """(indices, values, shape) of a column."""
    return ragged_indices(column.counts), column.values, sparse_shape(column.counts)


def ragged_indices(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row and column of each value of rows of these lengths, [n, 2]."""
    if len(counts) == 1:
        total = counts.item()
        indices = np.zeros((total, 2), np.int64)
        if total > 1:
            indices[:, 1] = np.arange(total)
        return indices
    ends = counts.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    indices = np.empty((total, 2), np.int64)
    if total == len(counts) and bool((counts == 1).all()):
        indices[:, 0] = np.arange(total)
        indices[:, 1] = 0
        return indices
    indices[:, 0] = np.repeat(np.arange(len(counts)), counts)
    indices[:, 1] = np.arange(total) - np.repeat(ends - counts, counts)
    return indices


def sparse_shape(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """[rows, longest row]."""
    # One number is had in a tenth of the time of a greatest one.
    longest = counts.item() if len(counts) == 1 else counts.max(initial=0)
    return np.array([len(counts), longest], np.int64)


def row_splits(counts: NDArray[np.int64], dtype: DType) -> Any:
    """0 and the ends of rows of these lengths.

    Raises:
      InvalidArgumentError: int32 cannot count so far.
    """
    splits = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=splits[1:])
    if dtype == dtypes.int32 and splits[-1] > 2**31 - 1:
        raise invalid_argument("Too many values for int32 row_splits")
    return splits.astype(dtype.as_numpy_dtype)


def dense_output(
    column: Column,
    key: str,
    default: Any,
    shape: tuple[int, ...],
    dtype: DType,
    where: Where,
) -> Any:
    """[batch, *shape]; the default where the feature is missing.

    Raises:
      InvalidArgumentError: it is missing and has no default, or has another number
        of values.
    """
    width = math.prod(shape)
    every = bool(column.present.all())
    if not every and not default.size:
        row = int(np.argmin(column.present))
        raise invalid_argument(
            f"{where.row(row)}Feature: {key} (data type: {type_name(dtype)}) is "
            "required but could not be found."
        )
    wrong = (column.counts != width) & column.present
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "bytes" if dtype == dtypes.string else type_name(dtype)
        raise invalid_argument(
            f"{where.place(row, key)}."
            + where.detail(
                f"  Number of {what} values != expected.  Values size: "
                f"{column.counts[row]} but output shape: {shape_text(shape)}"
            )
        )
    if every:
        return column.values.reshape(len(column.counts), *shape)
    result = np.empty((len(column.counts), width), dtype.as_numpy_dtype)
    result[:] = default.reshape(-1)
    result[column.present] = column.values.reshape(-1, width)
    return result.reshape(-1, *shape)


def type_name(dtype: DType) -> str:
    """A dtype as TensorFlow's kernels print it."""
    return "float" if dtype == dtypes.float32 else dtype.name


def padded_output(
    column: Column,
    key: str,
    default: Any,
    inner: tuple[int, ...],
    dtype: DType,
    where: Where,
) -> Any:
    """[batch, most steps, *inner]: steps of a fixed shape, padded with the default.

    Raises:
      InvalidArgumentError: a row has a part of a step.
      ResourceExhaustedError: one long row makes too large a table of many short ones.
    """
    width = int(np.prod(inner, dtype=np.int64))
    partial = column.counts % width > 0 if width else np.ones(len(column.counts), bool)
    if partial.any():
        row = int(np.argmax(partial))
        what = "bytes" if dtype == dtypes.string else type_name(dtype)
        shape = ",".join(map(str, ("?", *inner)))
        raise invalid_argument(
            f"{where.place(row, key)}."
            + where.detail(
                f"  Number of {what} values is not a multiple of stride length. Saw "
                f"{column.counts[row]} values but output shape is: [{shape}]"
            )
        )
    rows = len(column.counts)
    longest = int(column.counts.max()) if rows else 0
    check_shape((rows, longest), dtype, "CPU:0")
    fill = default.reshape(-1)[0] if default.size else _zero(dtype)
    result = np.empty((rows, longest), dtype.as_numpy_dtype)
    result.fill(fill)
    result[np.arange(longest) < column.counts[:, None]] = column.values
    return result.reshape(rows, longest // width, *inner)


def _zero(dtype: DType) -> Any:
    return b"" if dtype == dtypes.string else dtype.as_numpy_dtype(0)
