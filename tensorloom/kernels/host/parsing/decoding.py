"""Host kernels that decode text and messages: CSV, JSON, TensorProto, compression."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import pairwise
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
from tensorloom.kernels.host.parsing.number_texts import number_of, numbers_at, reader
from tensorloom.kernels.host.strings.arrays import map_strings, to_strings
from tensorloom.kernels.host.strings.spans import Spans, in_each_byte, spans_of

# --- tensors ----------------------------------------------------------------------


@host_kernel("SerializeTensor", large=True)
def serialize_tensor(c: OpKernelConstruction) -> Compute:
    """A tensor as a TensorProto."""
    dtype = c["T"]

    def compute(value: Any) -> Any:
        from tensorloom.framework.types.tensor_proto import encode_tensor
        from tensorloom.storage.checkpoints.variants import to_messages

        array = np.asarray(value)
        if dtype is dtypes.variant:
            array = to_messages(array)
        proto = encode_tensor(array, dtype, prefer_content=True)
        return to_strings([proto.SerializeToString()], ())

    return compute


@host_kernel("ParseTensor", large=True)
def parse_tensor(c: OpKernelConstruction) -> Compute:
    """A tensor from a TensorProto."""
    wanted = c["out_type"]

    def compute(serialized: Any) -> Any:
        from google.protobuf.message import DecodeError

        from tensorloom.framework.types.tensor_proto import decode_tensor
        from tensorloom.protos import tensor_pb2
        from tensorloom.storage.checkpoints.variants import from_messages

        text = serialized.item()
        try:
            proto = tensor_pb2.TensorProto.FromString(text)
        except DecodeError:
            raise invalid_argument(
                "Could not parse `serialized` as TensorProto: "
                f"'{text.decode(errors='replace')}'"
            ) from None
        try:
            value = decode_tensor(proto)
        except errors.InvalidArgumentError as error:
            raise invalid_argument(
                f"Cannot parse tensor from proto: {error.message}"
            ) from None
        found = dtypes.as_dtype(proto.dtype)
        if found != wanted:
            raise invalid_argument(
                f"Type mismatch between parsed tensor ({found.name}) and dtype "
                f"({wanted.name})"
            )
        if found == dtypes.variant:
            try:
                value = from_messages(value)
            except ValueError as error:
                raise invalid_argument(f"Cannot parse tensor: {error}") from None
        if not value.ndim and found != dtypes.string:
            return value[()]
        # What a session gives may be written to.
        return value if value.flags.writeable else value.copy()

    return compute


# --- CSV --------------------------------------------------------------------------

_LINE_ENDS = b"\r\n"
# Fewer records are taken one by one: they are not worth loading the loops.
_FEW_LINES = 16


@dataclass
class RecordColumns:
    """What is wanted of CSV records."""

    types: list[dtypes.DType]
    delimiter: bytes
    quoted: bool
    missing: bytes  # a field like this is not there
    chosen: list[int]  # the fields of the columns; none for all

    def one_by_one(self, lines: list[bytes], given: list[Any]) -> list[Any]:
        """The columns of records.

        Raises:
          InvalidArgumentError: a record is malformed, or has not these fields.
        """
        found: list[list[Any]] = [[] for _ in self.types]
        readers = [bytes if t == dtypes.string else reader(t) for t in self.types]
        columns = list(zip(found, readers, given, strict=True))
        gaps = b"", self.missing
        for record, line in enumerate(lines):
            fields = record_fields(line, self.delimiter, self.quoted, self._most)
            fields = self._select(fields, record)
            for index, (values, read, default) in enumerate(columns):
                try:
                    text = fields[index]
                    values.append(default[0] if text in gaps else read(text))
                except (IndexError, ValueError):
                    raise self._refusal(text, index, record) from None
        return [
            to_strings(values, (-1,))
            if dtype == dtypes.string
            else np.array(values, dtype.as_numpy_dtype)
            for values, dtype in zip(found, self.types, strict=True)
        ]

    @property
    def _most(self) -> int | None:
        return self.chosen[-1] + 1 if self.chosen else None

    def _select(self, fields: list[bytes], record: int) -> list[bytes]:
        if self.chosen:
            fields = [fields[i] for i in self.chosen if i < len(fields)]
        if len(fields) != len(self.types):
            raise invalid_argument(
                f"Expect {len(self.types)} fields but have {len(fields)} in record "
                f"{record}"
            )
        return fields

    def _refusal(
        self, text: bytes, index: int, record: int
    ) -> errors.InvalidArgumentError:
        if text in (b"", self.missing):
            return invalid_argument(
                f"Field {index} is required but missing in record {record}!"
            )
        return _no_number(text, self.types[index], index, record)

    def together(self, lines: Any, given: list[Any]) -> list[Any] | None:
        """The columns of many records; None if one of them has to be refused."""
        from tensorloom.kernels.loops.parsing import csv_records

        if self.delimiter in b'"\r\n':
            return None
        spans, count = spans_of(lines), len(self.types)
        marks = in_each_byte(
            self.delimiter + _LINE_ENDS + (b'"' if self.quoted else b"")
        )
        chosen = self.chosen or list(range(count))
        if chosen[-1] >= len(spans.blob):  # no record has so many fields
            return None
        columns = np.full(chosen[-1] + 1, -1, np.int64)
        columns[chosen] = np.arange(count)
        starts, lengths = np.empty((2, count, len(lines)), np.int64)
        where = spans.blob, spans.starts, spans.lengths
        every = not self.chosen
        if csv_records.find_fields(*where, marks, columns, every, starts, lengths) >= 0:
            return None
        found = []
        for i in range(count):
            fields = Spans(spans.blob, starts[i], lengths[i])
            column = self._column(fields, given[i], self.types[i])
            if column is None:
                return None
            found.append(column)
        return found

    def _column(self, fields: Spans, given: Any, dtype: dtypes.DType) -> Any:
        """The values of fields; None if one is wrong."""
        from tensorloom.kernels.loops.parsing import csv_records

        count = len(fields.starts)
        gaps, missing = np.empty(count, np.bool_), np.frombuffer(self.missing, np.uint8)
        where = fields.blob, fields.starts, fields.lengths
        csv_records.find_text(*where, missing, gaps)
        has_gaps = gaps.any()
        if has_gaps:
            if not len(given):
                return None
            there = ~gaps
            fields = Spans(fields.blob, fields.starts[there], fields.lengths[there])
        is_text = dtype == dtypes.string
        found = fields.strings() if is_text else numbers_at(fields, dtype)
        if not has_gaps or found is None:
            return found
        whole = np.full(count, given[0], dtype.as_numpy_dtype)
        whole[there] = found
        return whole


@host_kernel("DecodeCSV", large=True)
def decode_csv(c: OpKernelConstruction) -> Compute:
    """The columns of records."""
    columns = RecordColumns(
        *(list(c["OUT_TYPE"]), c["field_delim"], c["use_quote_delim"], c["na_value"]),
        list(c["select_cols"]),
    )
    if len(columns.delimiter) != 1:
        raise invalid_argument("field_delim should be only 1 char")
    if any(i >= j for i, j in pairwise([-1, *columns.chosen])):
        raise invalid_argument("select_cols should be strictly increasing indices")
    if columns.chosen and len(columns.chosen) != len(columns.types):
        raise invalid_argument(
            f"There are {len(columns.chosen)} select_cols, but "
            f"{len(columns.types)} columns"
        )

    def compute(records: Any, *defaults: Any) -> tuple[Any, ...]:
        lines, found = records.reshape(-1), None
        given = [_default(value, i) for i, value in enumerate(defaults)]
        if len(lines) >= _FEW_LINES:
            found = columns.together(lines, given)
        if found is None:
            found = columns.one_by_one(lines.tolist(), given)
        return tuple([_shaped(column, records.shape) for column in found])

    return compute


def _default(value: Any, index: int) -> Any:
    """What stands for missing fields of a column, [0] or [1]."""
    given = np.asarray(value)
    if given.ndim > 1:
        raise invalid_argument("Each record default should be at most rank 1")
    if given.size > 1:
        raise invalid_argument(
            f"There should only be 1 default per field but field {index} has "
            f"{given.size}"
        )
    return given.reshape(-1)


def _shaped(column: Any, shape: tuple[int, ...]) -> Any:
    result = column.reshape(shape)
    return result if result.ndim or result.dtype == object else result[()]


def record_fields(
    record: bytes, delimiter: bytes, quoted: bool, most: int | None = None
) -> list[bytes]:
    """The fields of a record; quotes are doubled inside of quotes (RFC 4180).

    An empty record has none, and line ends in front of a field are nothing.

    Args:
      most: the number of fields behind which nothing is looked at.

    Raises:
      InvalidArgumentError: a quote or a line end is where none may be.
    """
    special = b'"\r\n' if quoted else _LINE_ENDS
    is_plain = b"\n" not in record and b"\r" not in record
    if record and is_plain and not (quoted and b'"' in record):
        return record.split(delimiter, -1 if most is None else most)[:most]
    fields: list[bytes] = []
    at = 0
    while at < len(record):
        if record[at] in _LINE_ENDS:
            at += 1
            continue
        text, at = _field(record, at, delimiter, special)
        fields.append(text)
        if len(fields) == most:
            return fields
        at += 1
    return [*fields, b""] if record.endswith(delimiter) else fields


def _field(
    record: bytes, at: int, delimiter: bytes, special: bytes
) -> tuple[bytes, int]:
    """(text of a field, where it ends); `special` is what only quoted ones may have."""
    if b'"' in special and record[at : at + 1] == b'"':
        text, at = _quoted_field(record, at + 1)
        if at < len(record) and record[at : at + 1] != delimiter:
            raise invalid_argument(
                "Quote inside a string has to be escaped by another quote"
            )
        return text, at
    end = record.find(delimiter, at)
    end = len(record) if end < 0 else end
    text = record[at:end]
    if any(char in text for char in special):
        raise invalid_argument("Unquoted fields cannot have quotes/CRLFs inside")
    return text, end


def _quoted_field(record: bytes, at: int) -> tuple[bytes, int]:
    """(text of a field, position behind its closing quote)."""
    parts = []
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise invalid_argument(
                "Quoted field has to end with quote followed by delim or end"
            )
        parts.append(record[at:end])
        if record[end + 1 : end + 2] != b'"':
            return b'"'.join(parts), end + 1
        at = end + 2


def csv_number(text: bytes, dtype: dtypes.DType, index: int, record: int) -> Any:
    """The value of a field of a CSV record, by its text.

    Raises:
      InvalidArgumentError: it is no number of the dtype; field and record are named.
    """
    if dtype == dtypes.string:
        return text
    try:
        return number_of(text, dtype)
    except ValueError:
        raise _no_number(text, dtype, index, record) from None


def _no_number(
    text: bytes, dtype: dtypes.DType, index: int, record: int
) -> errors.InvalidArgumentError:
    kind = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
    return invalid_argument(
        f"Field {index} in record {record} is not a valid {kind}: "
        f"{text.decode(errors='replace')}"
    )


# --- JSON, compression ------------------------------------------------------------


@host_kernel("DecodeJSONExample", large=True)
def decode_json_example(c: OpKernelConstruction) -> Compute:
    """Examples in JSON, serialized."""

    from tensorloom.kernels.host.parsing import json_examples

    def decode(text: bytes) -> bytes:
        try:
            return json_examples.serialized(text)
        except json_examples.Unusual:
            return decode_any(text)

    def decode_any(text: bytes) -> bytes:
        from google.protobuf import json_format

        from tensorloom.protos import example_pb2

        try:
            message = json_format.Parse(text, example_pb2.Example())
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise invalid_argument(
                f"Error while parsing JSON: {str(error).splitlines()[0]}"
            ) from None
        return message.SerializeToString(deterministic=True)

    return lambda value: map_strings(decode, value)


_WINDOWS = {b"ZLIB": 15, b"GZIP": 31}


@host_kernel("DecodeCompressed", large=True, aliases=True)
def decode_compressed(c: OpKernelConstruction) -> Compute:
    """Strings decompressed."""
    kind = c["compression_type"]
    if kind == b"":
        return lambda value: value
    if kind not in _WINDOWS:
        raise invalid_argument("Only ZLIB, GZIP or NONE are supported compressions")

    def decode(text: bytes) -> bytes:
        try:
            return zlib.decompress(text, _WINDOWS[kind])
        except zlib.error as error:
            told = str(error).removeprefix("Error ").partition(" ")
            code, reason = told[0], told[2].partition(": ")[2]
            message = f"inflate() failed with error {code}: {reason}"
            raise errors.DataLossError(None, None, message) from None

    return lambda value: map_strings(decode, value)
