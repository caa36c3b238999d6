"""The columns of CSV files: their names, and the types that their values have."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections.abc import Generator, Iterable, Sequence
from typing import Any

from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value


class CsvProbe:
    """Looks into CSV files while the graph is built."""

    def __init__(
        self, names: list[str], delimiter: str, quoted: bool, compression: Any
    ) -> None:
        self._names = names
        self._options: dict[str, Any] = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        }
        self._compression = compression

    def _rows(self, name: str) -> Generator[list[str], None, None]:
        from tensorloom.storage.files import filesystem

        kind = self._compression
        kind = constant_value(kind).item() if isinstance(kind, Tensor) else kind
        kind = kind.decode() if isinstance(kind, bytes) else kind or ""
        if kind == "ZLIB":
            raise ValueError(
                f"compression_type ({kind}) is not supported for probing columns"
            )
        file: Any = filesystem.open_file(name)
        if kind == "GZIP":
            import gzip

            file = gzip.open(file)  # noqa: SIM115
        elif kind:
            raise ValueError(f"compression_type ({kind}) is not supported")
        with io.TextIOWrapper(file) as text:
            yield from csv.reader(text, **self._options)

    def _head(self, name: str, count: int | None) -> list[list[str]]:
        """The first rows of a file."""
        with contextlib.closing(self._rows(name)) as rows:
            return list(itertools.islice(rows, count))

    def column_names(self) -> list[str]:
        """The names in the header, which all files share.

        Raises:
          ValueError: a file is empty, or has another header.
        """
        headers: list[list[str]] = []
        for name in self._names:
            found = self._head(name, 1)
            if not found:
                raise ValueError(
                    "Received StopIteration when reading the header line of "
                    f"{name}.  Empty file?"
                )
            headers += found
        if any(header != headers[0] for header in headers):
            raise ValueError("Files have different column names in the header row.")
        return headers[0]

    def column_defaults(
        self,
        width: int,
        missing: str,
        header: bool,
        limit: int | None,
        chosen: list[int] | None,
    ) -> list[Any]:
        """Defaults of the types that fit the first rows.

        Raises:
          ValueError: a row has another number of fields.
        """
        from tensorloom.ops.array.constant import constant

        numbers = list(range(width)) if chosen is None else chosen
        found: list[int] = [-1] * len(numbers)
        for row in self._first_rows(1 if header else 0, limit):
            if len(row) != width:
                raise ValueError(
                    "Problem inferring types: CSV row has different number of fields "
                    "than expected."
                )
            for index, number in enumerate(numbers):
                found[index] = max(found[index], _kind_of(row[number], missing))
        types = [_KINDS[kind] if kind >= 0 else dtypes.string for kind in found]
        return [constant(["" if t == dtypes.string else 0], dtype=t) for t in types]

    def _first_rows(self, skip: int, limit: int | None) -> list[list[str]]:
        """Up to `limit` rows of all files, behind `skip` rows of each."""
        rows: list[list[str]] = []
        for name in self._names:
            if limit is None or len(rows) < limit:
                count = None if limit is None else limit - len(rows) + skip
                rows += self._head(name, count)[skip:]
        return rows


# From the least to the most permissive.
_KINDS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _kind_of(text: str, missing: str) -> int:
    """The number of the first kind that a text fits; -1 for a missing value."""
    if text in ("", missing):
        return -1
    try:
        number = int(text)
    except ValueError:
        pass
    else:
        if -(2**31) <= number < 2**31:
            return 0
        if -(2**63) <= number < 2**63:
            return 1
    try:
        value = float(text)
    except ValueError:
        return 4
    if value != value or abs(value) == float("inf"):
        return 2
    return 2 if abs(value) <= dtypes.float32.max else 3


def known_names(names: Any, probe: CsvProbe, header: bool) -> Any:
    """The names of the columns, from the header when None.

    Raises:
      ValueError: there is no header, or a name comes twice.
    """
    if names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        names = probe.column_names()
    if len(names) != len(set(names)):
        raise ValueError("Cannot have duplicate column names.")
    return names


def chosen_names(names: Any, chosen: Sequence[int], defaults: int) -> list[str]:
    """The names of the chosen columns.

    Raises:
      ValueError: there is another number of defaults.
    """
    if defaults != len(chosen):
        raise ValueError(
            "If specified, column_defaults and select_columns must have same length."
        )
    return [names[i] for i in chosen]


def chosen_numbers(columns: Iterable[Any], names: Sequence[str]) -> list[int]:
    """The numbers of columns that are given by number or name, ascending.

    Raises:
      ValueError: there is no such column, or one comes twice.
    """
    chosen = list(columns)
    numbers = {name: number for number, name in enumerate(names)}
    for index, value in enumerate(chosen):
        if isinstance(value, int):
            if not 0 <= value < len(names):
                raise ValueError(
                    f"Column index {value} specified in select_columns out of valid "
                    "range."
                )
        elif value not in numbers:
            raise ValueError(
                f"Value '{value}' specified in select_columns not a valid column index "
                "or name."
            )
        else:
            chosen[index] = numbers[value]
    result = sorted(set(chosen))
    if len(result) != len(chosen):
        raise ValueError("select_columns contains duplicate columns")
    return result
