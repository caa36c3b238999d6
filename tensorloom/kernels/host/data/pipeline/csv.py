"""Datasets of the records of CSV files (RFC 4180)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.host.data.pipeline.csv_records import Record, records
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.readers import file_names
from tensorloom.kernels.host.parsing.decoding import csv_number

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment

_Parse = Callable[[list[bytes]], Element]


class _CsvDataset(Dataset):
    def __init__(
        self, types: Any, shapes: Any, files: _CsvFiles, parse: _Parse
    ) -> None:
        super().__init__(types, shapes)
        self._files, self._parse = files, parse

    def iterate(self, env: Environment) -> DatasetIterator:
        return _CsvIterator(self._files, self._parse)


class _CsvFiles:
    """Which files, and what their records look like."""

    def __init__(
        self,
        names: list[str],
        compression: bytes,
        buffer_size: int,
        header: bool,
        separator: bytes,
        is_quoted: bool,
    ) -> None:
        self.names, self._compression = names, compression
        self._buffer_size = buffer_size
        self.header = header
        self._separator, self._is_quoted = separator, is_quoted

    def records(self, name: str) -> Iterator[Record]:
        """The records of one file."""
        return records(self._blocks(name), self._separator, self._is_quoted)

    def _blocks(self, name: str) -> Iterator[bytes]:
        from tensorloom.storage.files.byte_stream import ByteStream

        stream = ByteStream(name, self._compression, self._buffer_size)
        while block := stream.read_block():
            yield block
        stream.close()


class _CsvIterator(DatasetIterator):
    def __init__(self, files: _CsvFiles, parse: _Parse) -> None:
        self._files, self._parse = files, parse
        self._left = list(reversed(files.names))
        self._records: Iterator[Record] | None = None

    def __next__(self) -> Element:
        while True:
            if self._records is None:
                if not self._left:
                    raise StopIteration
                self._records = self._files.records(self._left.pop())
                if self._files.header and not isinstance(
                    next(self._records, None), list
                ):
                    raise invalid_argument("Can't read header of file")
            for record in self._records:
                if not isinstance(record, list):
                    raise record
                return self._parse(record)
            self._records = None


@dataset_kernel(
    "CSVDataset",
    "ExperimentalCSVDataset",
    "CSVDatasetV2",
    retains=("record_defaults",),
)
def csv_dataset(c: OpKernelConstruction) -> Compute:
    """The records of CSV files."""
    types, shapes = signature(c)
    may_exclude = c.op == "CSVDatasetV2"

    def compute(
        names: Any,
        compression: Any,
        buffer_size: Any,
        header: Any,
        delimiter: Any,
        quoted: Any,
        missing: Any,
        select: Any,
        *defaults: Any,
    ) -> Dataset:
        exclude: list[int] = []
        if may_exclude:
            *given, last = defaults
            defaults, exclude = tuple(given), last.tolist()
            if exclude and len(select):
                raise invalid_argument(
                    "Either select_cols or exclude_cols should be empty"
                )
        separator: bytes = delimiter[()]
        if len(separator) != 1:
            raise invalid_argument("field_delim should be only 1 char")
        if compression[()] not in (b"", b"ZLIB", b"GZIP"):
            raise invalid_argument(
                f"Unsupported compression_type: {compression[()].decode()}."
            )
        if int(buffer_size) <= 0:
            raise invalid_argument("buffer_size should be positive")
        files = _CsvFiles(
            file_names(names),
            compression[()],
            int(buffer_size),
            bool(header),
            separator,
            bool(quoted),
        )
        columns = _Columns(
            types,
            [d.reshape(-1) for d in defaults],
            missing[()],
            select.tolist(),
            frozenset(exclude),
        )
        return _CsvDataset(types, shapes, files, columns.parse)

    return compute


class _Columns:
    """From the fields of a record to an element."""

    def __init__(
        self,
        types: Any,
        defaults: list[Any],
        missing: bytes,
        select: list[int],
        exclude: frozenset[int] = frozenset(),
    ) -> None:
        self._types, self._defaults = types, defaults
        self._exclude = exclude
        self._missing, self._select = missing, select

    def parse(self, fields: list[bytes]) -> Element:
        """The components.

        Raises:
          errors.InvalidArgumentError: a wrong number of fields, or a bad one.
        """
        if self._exclude:
            fields = [f for i, f in enumerate(fields) if i not in self._exclude]
        if self._select:
            if self._select[-1] >= len(fields):
                found = sum(index < len(fields) for index in self._select)
                raise invalid_argument(
                    f"Expect {len(self._select)} fields but have {found} in record"
                )
            fields = [fields[index] for index in self._select]
        if len(fields) != len(self._types):
            more = "more" if len(fields) > len(self._types) else str(len(fields))
            raise invalid_argument(
                f"Expect {len(self._types)} fields but have {more} in record"
            )
        return tuple(self._field(text, index) for index, text in enumerate(fields))

    def _field(self, text: bytes, index: int) -> Any:
        dtype = self._types[index]
        if not text or text == self._missing:
            default = self._defaults[index]
            if not len(default):
                raise invalid_argument(
                    f"Field {index} is required but missing in record!"
                )
            value: Any = default[0]
        else:
            value = self._number(text, dtype, index)
        if dtype.name == "string":
            return object_scalar(value)
        return np.dtype(dtype.as_numpy_dtype).type(value)

    def _number(self, text: bytes, dtype: Any, index: int) -> Any:
        try:
            return csv_number(text, dtype, index, 0)
        except errors.InvalidArgumentError as error:
            # Records of a dataset have no number.
            message = error.message.replace(" in record 0 ", " in record ", 1)
            raise invalid_argument(message) from None
