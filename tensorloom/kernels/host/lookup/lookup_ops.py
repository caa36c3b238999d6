"""Host kernels of lookup tables."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.registry.shape_inference import format_shape
from tensorloom.framework.runtime.resource import container_of
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.lookup.dense import DenseHashTable
from tensorloom.kernels.host.lookup.resource import (
    HashTable,
    LookupTable,
    MutableHashTable,
)
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from tensorloom.framework.types.tensor_shape import TensorShape

_WHOLE_LINE, _LINE_NUMBER = -2, -1


def _known(shape: TensorShape) -> tuple[int, ...]:
    """The dimensions of the values.

    Raises:
      InvalidArgumentError: one of them is not known.
    """
    dims = shape.dims_tuple
    if dims is None or None in dims:
        raise invalid_argument(f"Shape {format_shape(shape)} is not fully defined")
    return tuple([dim for dim in dims if dim is not None])


def _table(c: OpKernelConstruction, kind: type[LookupTable]) -> Callable[[], Any]:
    """Finds or makes the table of this node, or of its shared name."""
    assert c.resources is not None
    resources = c.resources
    shared = (c["shared_name"] or b"").decode()
    container = container_of(c["container"])
    if not shared and c["use_node_name_sharing"]:
        shared = c.node_name
    name = shared or resources.own_name(c.node_name)
    value_shape = c.get("value_shape")
    dims = () if value_shape is None else _known(value_shape)
    types = c["key_dtype"], c["value_dtype"]

    def find() -> Any:
        # Tables of all kinds share their names.
        found: LookupTable = resources.lookup_or_create(
            container, name, LookupTable, lambda: kind(container, name, *types, dims)
        )
        found.check_types(*types)
        return found

    return find


def _anonymous(c: OpKernelConstruction, kind: type[LookupTable]) -> Callable[[], Any]:
    """Makes a table in each step."""
    value_shape = c.get("value_shape")
    dims = () if value_shape is None else _known(value_shape)
    types = c["key_dtype"], c["value_dtype"]
    return lambda: kind("localhost", f"_anonymous/{c.node_name}", *types, dims)


@host_kernel(["HashTable", "HashTableV2"], large=True)
def hash_table(c: OpKernelConstruction) -> Compute:
    """A table to fill once."""
    return _table(c, HashTable)


@host_kernel("AnonymousHashTable", large=True)
def anonymous_hash_table(c: OpKernelConstruction) -> Compute:
    """A table to fill once, of no name."""
    return _anonymous(c, HashTable)


@host_kernel(
    [
        "MutableHashTable",
        "MutableHashTableV2",
        "MutableHashTableOfTensors",
        "MutableHashTableOfTensorsV2",
    ],
    large=True,
)
def mutable_hash_table(c: OpKernelConstruction) -> Compute:
    """A table that changes."""
    _check_tensors(c)
    return _table(c, MutableHashTable)


@host_kernel(
    ["AnonymousMutableHashTable", "AnonymousMutableHashTableOfTensors"], large=True
)
def anonymous_mutable_hash_table(c: OpKernelConstruction) -> Compute:
    """A table that changes, of no name."""
    _check_tensors(c)
    return _anonymous(c, MutableHashTable)


def _check_tensors(c: OpKernelConstruction) -> None:
    """Raises InvalidArgumentError if a table of tensors shall hold no vectors."""
    if "OfTensors" in c.op and c["value_shape"].rank != 1:
        shape = format_shape(c["value_shape"])
        raise invalid_argument(f"Default value must be a vector, got shape {shape}")


@host_kernel(
    [
        "MutableDenseHashTable",
        "MutableDenseHashTableV2",
        "AnonymousMutableDenseHashTable",
    ],
    large=True,
)
def mutable_dense_hash_table(c: OpKernelConstruction) -> Compute:
    """A table with reserved keys."""
    is_anonymous = c.op.startswith("Anonymous")
    find = (_anonymous if is_anonymous else _table)(c, DenseHashTable)
    buckets, load = c["initial_num_buckets"], c["max_load_factor"]

    def compute(empty_key: Any, deleted_key: Any = None) -> Any:
        table = find()
        table.configure(empty_key, deleted_key, buckets, load)
        return table

    return compute


@host_kernel(["LookupTableFind", "LookupTableFindV2"], large=True)
def find(c: OpKernelConstruction) -> Compute:
    """The values of keys."""
    key_type, value_type = c["Tin"], c["Tout"]

    def compute(table: LookupTable, keys: Any, default: Any) -> Any:
        table.check_types(key_type, value_type)
        return table.find(keys, default)

    return compute


@host_kernel(
    [
        *("LookupTableInsert", "LookupTableInsertV2"),
        *("LookupTableImport", "LookupTableImportV2"),
    ],
    large=True,
)
def insert(c: OpKernelConstruction) -> Compute:
    """Adds pairs, or replaces all."""
    replaces = c.op.startswith("LookupTableImport")
    key_type, value_type = c["Tin"], c["Tout"]

    def compute(table: LookupTable, keys: Any, values: Any) -> None:
        table.check_types(key_type, value_type)
        if replaces:
            table.replace(keys, values)
        elif isinstance(table, HashTable):
            raise errors.UnimplementedError(
                None, None, "Insert not supported by HashTable implementations"
            )
        else:
            table.insert(keys, values)

    return compute


@host_kernel("LookupTableRemoveV2", large=True)
def remove(c: OpKernelConstruction) -> Compute:
    """Removes keys."""

    def compute(table: LookupTable, keys: Any) -> None:
        table.check_types(c["Tin"], None)
        if isinstance(table, HashTable):
            raise errors.UnimplementedError(
                None, None, "Remove not supported by HashTable implementations"
            )
        table.remove(keys)

    return compute


@host_kernel(["LookupTableSize", "LookupTableSizeV2"], large=True)
def size(c: OpKernelConstruction) -> Compute:
    """The number of keys."""
    return lambda table: np.int64(table.size())


@host_kernel(["LookupTableExport", "LookupTableExportV2"], large=True)
def export(c: OpKernelConstruction) -> Compute:
    """All pairs."""
    return lambda table: table.export()


@host_kernel(["InitializeTable", "InitializeTableV2"], large=True)
def initialize(c: OpKernelConstruction) -> Compute:
    """Fills a table."""

    def compute(table: Any, keys: Any, values: Any) -> None:
        table.check_types(c["Tkey"], c["Tval"])
        table.initialize(keys, values)

    return compute


# --- from a file ------------------------------------------------------------------


@host_kernel(
    ["InitializeTableFromTextFile", "InitializeTableFromTextFileV2"], large=True
)
def initialize_from_file(c: OpKernelConstruction) -> Compute:
    """Fills a table from the lines of a file."""
    key_index, value_index = c["key_index"], c["value_index"]
    most, delimiter, offset = c["vocab_size"], c["delimiter"], c["offset"]
    if len(delimiter) != 1:
        raise invalid_argument("delimiter should be only 1 char")

    def compute(table: Any, filename: Any) -> None:
        if filename.ndim:
            shape = shape_text(filename.shape)
            raise invalid_argument(
                f"filename should be a single string, but got {shape}"
            )
        if key_index == _LINE_NUMBER and table.key_dtype != dtypes.int64:
            raise invalid_argument(
                "Key index for line number requires table key dtype of int64, got "
                f"{table.key_dtype.name}"
            )
        name = os.fsdecode(filename.item())
        if not name:
            raise invalid_argument("filename cannot be empty.")
        lines = _lines(name, most)

        def column(index: int, dtype: dtypes.DType) -> Any:
            if index == _LINE_NUMBER:
                return _numbers(len(lines), offset, dtype)
            return _column(lines, index, delimiter, dtype, name)

        keys = column(key_index, table.key_dtype)
        table.initialize(keys, column(value_index, table.value_dtype))

    return compute


def _lines(name: str, most: int) -> list[bytes]:
    with filesystem.open_file(name) as file:
        lines = [line.rstrip(b"\n").rstrip(b"\r") for line in file]
    if not most:
        raise errors.OutOfRangeError(
            None, None, f"Finished reading 0 of lines from {name}"
        )
    if most > 0:
        if len(lines) < most:
            raise invalid_argument(
                f"Invalid vocab_size in {name}: expected {most} but got {len(lines)}"
            )
        lines = lines[:most]
    return lines


def _numbers(count: int, offset: int, dtype: dtypes.DType) -> Any:
    result = np.empty(count, dtype.as_numpy_dtype)
    result[:] = range(offset, offset + count)
    return result


def _column(
    lines: list[bytes], index: int, delimiter: bytes, dtype: dtypes.DType, name: str
) -> Any:
    result = np.empty(len(lines), dtype.as_numpy_dtype)
    if index == _WHOLE_LINE:
        result[:] = [_value(line, dtype) for line in lines]
    else:
        result[:] = [
            _value(_word(line, index, delimiter, name), dtype) for line in lines
        ]
    return result


def _word(line: bytes, index: int, delimiter: bytes, name: str) -> bytes:
    words = line.split(delimiter)
    if index >= len(words):
        raise invalid_argument(
            f"Invalid number of columns in {name} line: expected at least {index + 1} "
            f"got {len(words)}"
        )
    return words[index]


def _value(text: bytes, dtype: dtypes.DType) -> Any:
    if dtype == dtypes.string:
        return text
    try:
        return int(text) if dtype.is_integer else float(text)
    except ValueError:
        shown = text.decode(errors="replace")
        raise invalid_argument(
            f"Field {shown} in line is not a valid {dtype.name}."
        ) from None
