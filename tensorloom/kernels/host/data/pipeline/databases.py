"""Datasets of databases: SQL through sqlite3, and LMDB."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types.object_arrays import object_scalar
from tensorloom.kernels.host.data.pipeline.dataset import (
    Dataset,
    DatasetIterator,
    Element,
    dataset_kernel,
    signature,
)
from tensorloom.kernels.host.data.pipeline.readers import file_names
from tensorloom.kernels.host.data.pipeline.stored import Elements

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.kernels.host.data.pipeline.environment import Environment


class _SqlDataset(Dataset):
    def __init__(self, types: Any, shapes: Any, database: str, query: str) -> None:
        super().__init__(types, shapes)
        self._database, self._query = database, query

    def iterate(self, env: Environment) -> DatasetIterator:
        return Elements(self._rows())

    def _rows(self) -> Iterator[Element]:
        import sqlite3

        try:
            # Only to read: a query may not change the file, and does not make one.
            connection = sqlite3.connect(
                f"file:{self._database}?mode=ro", uri=True, check_same_thread=False
            )
            try:
                connection.text_factory = bytes
                try:
                    cursor = connection.execute(self._query)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode == sqlite3.SQLITE_READONLY:
                        self._check_columns(0)  # what writes has no results
                    raise
                self._check_columns(len(cursor.description or ()))
                for row in cursor:
                    pairs = zip(row, self.types, strict=True)
                    yield tuple(_sql_value(value, dtype) for value, dtype in pairs)
            finally:
                connection.close()
        except sqlite3.Error as error:
            message = f"Failed to run the query on {self._database}: {error}"
            raise errors.UnknownError(None, None, message) from None

    def _check_columns(self, count: int) -> None:
        if count != len(self.types):
            raise invalid_argument(
                f"The number of columns in query ({count}) must match the number of "
                f"elements in output_types ({len(self.types)})."
            )


def _sql_value(value: Any, dtype: Any) -> Any:
    """A column in its dtype, as SQLite converts: NULL and text that is no number: 0."""
    if dtype.name == "string":
        if value is None:
            return object_scalar(b"")
        text = value if isinstance(value, bytes) else str(value).encode()
        return object_scalar(text)
    if isinstance(value, bytes):
        value = _leading_number(value)
    value = 0 if value is None else value
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    if numpy_type.kind == "b":
        return np.bool_(value != 0)
    if numpy_type.kind in "iu":
        return np.asarray(int(value)).astype(numpy_type)[()]
    return numpy_type.type(value)


def _leading_number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


@dataset_kernel("SqlDataset", "ExperimentalSqlDataset")
def sql_dataset(c: OpKernelConstruction) -> Compute:
    """The rows of a query."""
    types, shapes = signature(c)
    for dtype in types:
        if dtype.name not in _SQL_TYPES:
            raise invalid_argument(
                "Each element of `output_types_` must be one of: "
                "DT_STRING, DT_INT8, DT_INT16, DT_INT32, DT_INT64, DT_UINT8, "
                "DT_UINT16, DT_BOOL, DT_DOUBLE "
            )
    for shape in shapes:
        if shape.dims_tuple not in ((), None):
            raise invalid_argument("Each element of `output_shapes_` must be a scalar.")

    def compute(driver: Any, source: Any, query: Any) -> Dataset:
        name = driver[()].decode()
        if name != "sqlite":
            raise invalid_argument(
                f"The database type, {name}, is not supported by SqlDataset. The set "
                "of supported databases is: {'sqlite'}."
            )
        return _SqlDataset(types, shapes, source[()].decode(), query[()].decode())

    return compute


_SQL_TYPES = frozenset(
    ["string", "int8", "int16", "int32", "int64", "uint8", "uint16", "bool", "float64"]
)


# A process opens an LMDB database once; whoever reads it keeps it open.
_OPENED: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_OPENING = threading.Lock()


class _LmdbDataset(Dataset):
    def __init__(self, types: Any, shapes: Any, names: list[str]) -> None:
        super().__init__(types, shapes)
        self._names = names

    def iterate(self, env: Environment) -> DatasetIterator:
        def elements() -> Iterator[Element]:
            for name in self._names:
                for key, value in lmdb_records(name):
                    yield object_scalar(key), object_scalar(value)

        return Elements(elements())


def lmdb_records(name: str) -> Iterator[tuple[bytes, bytes]]:
    """The keys and values of a database, in the order of their keys.

    Raises:
      errors.UnimplementedError: the package `lmdb` is not installed.
      errors.InvalidArgumentError: the database cannot be opened.
    """
    try:
        import lmdb
    except ImportError:
        message = "LMDB databases need the package lmdb: pip install lmdb"
        raise errors.UnimplementedError(None, None, message) from None
    path = os.path.realpath(name)
    with _OPENING:
        database = _OPENED.get(path)
        if database is None:
            try:
                database = lmdb.open(
                    path, subdir=os.path.isdir(path), readonly=True, lock=False
                )
            except lmdb.Error as error:
                raise invalid_argument(str(error)) from None
            _OPENED[path] = database
    with database.begin() as transaction:
        yield from ((bytes(k), bytes(v)) for k, v in transaction.cursor())


@dataset_kernel("LMDBDataset", "ExperimentalLMDBDataset")
def lmdb_dataset(c: OpKernelConstruction) -> Compute:
    """The keys and values of databases."""
    types, shapes = signature(c)
    return lambda names: _LmdbDataset(types, shapes, file_names(names))
