"""Host kernels that decode text and messages: CSV, JSON, TensorProto, compression."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.number_texts import number_of, numbers_of
from tensorloom.kernels.host.string_arrays import map_strings, to_strings

# --- tensors ----------------------------------------------------------------------


@host_kernel("SerializeTensor", large=True)
def serialize_tensor(c: OpKernelConstruction) -> Compute:
    """A tensor as a TensorProto."""
    dtype = c["T"]

    def compute(value: Any) -> Any:
        from tensorloom.framework.tensor_proto import encode_tensor

        array = np.asarray(value)
        proto = encode_tensor(array, dtype, prefer_content=True)
        return to_strings([proto.SerializeToString()], ())

    return compute


@host_kernel("ParseTensor", large=True)
def parse_tensor(c: OpKernelConstruction) -> Compute:
    """A tensor from a TensorProto."""
    wanted = c["out_type"]

    def compute(serialized: Any) -> Any:
        from google.protobuf.message import DecodeError

        from tensorloom.framework.tensor_proto import decode_tensor
        from tensorloom.protos import tensor_pb2

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
        return value if value.ndim or found == dtypes.string else value[()]

    return compute


# --- CSV --------------------------------------------------------------------------

_QUOTE = ord('"')
_LINE_END = ord("\n")
# Fewer records with quotes are taken one by one.
_FEW_LINES = 16


@host_kernel("DecodeCSV", large=True)
def decode_csv(c: OpKernelConstruction) -> Compute:
    """The columns of records."""
    types, missing = list(c["OUT_TYPE"]), c["na_value"]
    delimiter, quoted = c["field_delim"], c["use_quote_delim"]
    chosen = list(c["select_cols"])
    if len(delimiter) != 1:
        raise invalid_argument("field_delim should be only 1 char")

    def compute(records: Any, *defaults: Any) -> tuple[Any, ...]:
        lines = records.reshape(-1).tolist()
        wanted = len(types)
        if chosen:
            first = csv_fields(lines[0], delimiter, quoted) if lines else ()
            wanted = len(first) or max(chosen) + 1
        columns = _plain_columns(lines, delimiter, wanted)
        if columns is None and quoted and len(lines) >= _FEW_LINES:
            columns = quoted_columns(lines, delimiter, wanted)
        if columns is not None and chosen:
            inside = max(chosen) < wanted
            columns = [columns[i] for i in chosen] if inside else None
        if columns is None:
            rows = [
                _select(csv_fields(line, delimiter, quoted), chosen, len(types), i)
                for i, line in enumerate(lines)
            ]
            columns = list(map(list, zip(*rows, strict=True)))
        return tuple(
            _column(columns[i], defaults[i], dtype, missing, i, records.shape)
            for i, dtype in enumerate(types)
        )

    return compute


def _plain_columns(
    lines: list[bytes], delimiter: bytes, wanted: int
) -> list[list[bytes]] | None:
    """The fields of records, split in one go.

    None if there are quotes or line ends, or other numbers of fields.
    """
    blob = delimiter.join(lines)
    if any(char in blob for char in b'"\r\n'):
        return None
    if {line.count(delimiter) for line in lines} - {wanted - 1}:
        return None
    fields = blob.split(delimiter) if lines else []
    return [fields[i::wanted] for i in range(wanted)]


def quoted_columns(
    lines: list[bytes], delimiter: bytes, wanted: int
) -> list[list[bytes]] | None:
    """The fields of records, some of which are quoted, found in all bytes at once.

    None if there are line ends, or other numbers of fields, or malformed ones.
    """
    blob = b"\n".join([*lines, b""])
    if blob.count(b"\n") != len(lines) or b"\r" in blob or delimiter in b'"\r\n':
        return None
    data = np.frombuffer(blob, np.uint8)
    is_quote = data == _QUOTE
    before = is_quote.cumsum(dtype=np.int32)
    ends = np.flatnonzero((data == delimiter[0]) | (data == _LINE_END))
    # What has an odd number of quotes in front is inside of a field.
    ends = ends[before[ends] & 1 == 0]
    if len(ends) != wanted * len(lines):
        return None
    if (data[ends[wanted - 1 :: wanted]] != _LINE_END).any():
        return None
    kept = _without_quotes(is_quote, ends, np.diff(before[ends], prepend=0) > 0)
    if kept is None:
        return None
    separated = data.copy()
    separated[ends] = _LINE_END
    fields = separated[kept].tobytes().split(b"\n")[:-1]
    return [fields[i::wanted] for i in range(wanted)]


def _without_quotes(is_quote: Any, ends: Any, quoted: Any) -> Any:
    """Which bytes of fields are text; None where a quote is neither doubled nor around.

    Args:
      is_quote: of each byte; each field has an even number of quotes.
      ends: where the fields end.
      quoted: which fields have quotes.
    """
    firsts = np.append(0, ends[:-1] + 1)[quoted]
    lasts = ends[quoted] - 1
    if not (is_quote[firsts].all() and is_quote[lasts].all()):
        return None
    inside = is_quote.copy()
    inside[firsts] = inside[lasts] = False
    doubled = np.flatnonzero(inside).reshape(-1, 2)
    if (doubled[:, 1] - doubled[:, 0] != 1).any():
        return None
    kept = np.ones_like(is_quote)
    kept[firsts] = kept[lasts] = kept[doubled[:, 0]] = False
    return kept


def _select(
    fields: list[bytes], chosen: list[int], wanted: int, record: int
) -> list[bytes]:
    if chosen:
        fields = [fields[i] for i in chosen if i < len(fields)]
    if len(fields) != wanted:
        raise invalid_argument(
            f"Expect {wanted} fields but have {len(fields)} in record {record}"
        )
    return fields


def csv_fields(record: bytes, delimiter: bytes, quoted: bool) -> list[bytes]:
    """The fields of a record; quotes are doubled inside of quotes (RFC 4180)."""
    if not quoted or b'"' not in record:
        if quoted and (b"\n" in record or b"\r" in record):
            raise invalid_argument("Unquoted fields cannot have quotes/CRLFs inside")
        return record.split(delimiter)
    fields, at = [], 0
    while True:
        if at < len(record) and record[at] == _QUOTE:
            text, at = _quoted_field(record, at + 1)
            if at < len(record) and record[at : at + 1] != delimiter:
                raise invalid_argument(
                    "Quote inside a string has to be escaped by another quote"
                )
        else:
            end = record.find(delimiter, at)
            end = len(record) if end < 0 else end
            text, at = record[at:end], end
            if any(char in text for char in b'"\r\n'):
                raise invalid_argument(
                    "Unquoted fields cannot have quotes/CRLFs inside"
                )
        fields.append(text)
        if at >= len(record):
            return fields
        at += 1


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


def _column(
    texts: list[bytes],
    default: Any,
    dtype: dtypes.DType,
    missing: bytes,
    index: int,
    shape: tuple[int, ...],
) -> Any:
    given = np.asarray(default)
    if given.ndim > 1:
        raise invalid_argument("Each record default should be at most rank 1")
    given = given.reshape(-1)
    if len(given) > 1:
        raise invalid_argument(
            f"There should only be 1 default per field but field {index} has "
            f"{len(given)}"
        )
    result = _whole_column(texts, given, dtype, missing)
    if result is None:
        result = _mixed_column(texts, given, dtype, missing, index)
    result = result.reshape(shape)
    return result if result.ndim or dtype == dtypes.string else result[()]


def _whole_column(
    texts: list[bytes], given: Any, dtype: dtypes.DType, missing: bytes
) -> Any:
    """A column read in one go; None if a field has to be found that is wrong."""
    gaps = None
    if b"" in texts or missing in texts:
        gaps = np.array([text in (b"", missing) for text in texts])
        texts = [text for text in texts if text not in (b"", missing)]
        if not len(given):
            return None
    found = to_strings(texts, (-1,))
    if dtype != dtypes.string:
        found = numbers_of(texts, dtype)
    if gaps is None or found is None:
        return found
    whole = np.full(len(gaps), given[0], dtype.as_numpy_dtype)
    whole[~gaps] = found
    return whole


def _mixed_column(
    texts: list[bytes],
    given: Any,
    dtype: dtypes.DType,
    missing: bytes,
    index: int,
) -> Any:
    """A column by its fields, to tell what is wrong with one."""
    result = np.empty(len(texts), dtype.as_numpy_dtype)
    for i, text in enumerate(texts):
        if text in (b"", missing):
            if not len(given):
                raise invalid_argument(
                    f"Field {index} is required but missing in record {i}!"
                )
            result[i] = given[0]
        else:
            result[i] = csv_number(text, dtype, index, i)
    return result


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
        kind = {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)
        raise invalid_argument(
            f"Field {index} in record {record} is not a valid {kind}: "
            f"{text.decode(errors='replace')}"
        ) from None


# --- JSON, compression ------------------------------------------------------------


@host_kernel("DecodeJSONExample", large=True)
def decode_json_example(c: OpKernelConstruction) -> Compute:
    """Examples in JSON, serialized."""

    def decode(text: bytes) -> bytes:
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
