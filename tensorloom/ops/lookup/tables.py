"""Lookup tables: the classes of `tf.lookup` and `tf.contrib.lookup`."""

from __future__ import annotations

import uuid
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_default_graph,
    init_scope,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.lookup.trackable_resources import (
    CapturableResource,
    TrackableAsset,
)

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.types.dtypes import DType


@export("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """What a column index may say besides a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


def _outside_bodies() -> AbstractContextManager[Any]:
    """Leaves branches and bodies of loops: tables are filled before they run."""
    return init_scope() if get_default_graph().outer_scope else nullcontext()


# --- initializers -----------------------------------------------------------------


@export("contrib.lookup.TableInitializerBase")
class TableInitializerBase(Trackable):
    """What fills a table."""

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def shared_name(self) -> str:
        """The name of the table resource; unique unless contents can be compared."""
        return f"hash_table_{uuid.uuid4()}"

    def initialize(self, table: Any) -> Any:
        """The operation that fills a table."""
        raise TypeError(f"{type(self).__name__} must define initialize()")

    def _check(self, table: Any) -> None:
        for what, mine, theirs in (
            ("key", self.key_dtype, table.key_dtype),
            ("value", self.value_dtype, table.value_dtype),
        ):
            if mine != theirs.base_dtype:
                raise TypeError(
                    f"Invalid {what} dtype, expected {theirs.name} but got {mine.name}."
                )


@export("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with keys [n] and values [n]."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: Any = None,
        value_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        with _outside_bodies():
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        """The operation that fills a table."""
        self._check(table)
        with name_scope(self._name, values=[self._keys, self._values]):
            init = apply_op(
                "LookupTableImportV2",
                table_handle=table.resource_handle,
                keys=self._keys,
                values=self._values,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, init)
        return init


@export("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a file.

    Raises:
      ValueError: a column index below -2, or a dtype that does not fit it.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        is_tensor = hasattr(filename, "dtype")
        if not is_tensor and not (isinstance(filename, str | bytes) and filename):
            raise ValueError("Filename required for text file initializer")
        _check_column("Key", key_index, dtypes.as_dtype(key_dtype))
        _check_column("Value", value_index, dtypes.as_dtype(value_dtype))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._raw_filename = filename
        self._indices = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter
        self._name = "text_file_init" if name is None else name
        self._filename = self._track_trackable(TrackableAsset(filename), "_filename")
        # A name that steps are fed with is no file of the program's.
        if constant_value(self._filename.asset_path) is not None:
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename.asset_path)
        super().__init__(key_dtype, value_dtype)

    @property
    def shared_name(self) -> str:
        """Tables with the same file and columns share one resource."""
        parts = [f"hash_table_{self._raw_filename}"]
        if self._vocab_size:
            parts.append(str(self._vocab_size))
        return "_".join([*parts, *map(str, self._indices)])

    @property
    def _shared_name(self) -> str:
        return self.shared_name

    def initialize(self, table: Any) -> Any:
        """The operation that fills a table."""
        self._check(table)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            init = apply_op(
                "InitializeTableFromTextFileV2",
                table_handle=table.resource_handle,
                filename=self._filename.asset_path,
                key_index=self._indices[0],
                value_index=self._indices[1],
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, init)
        return init


def _check_column(what: str, index: int, dtype: DType) -> None:
    if index < -2:
        raise ValueError(f"Invalid {what.lower()} index {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
        raise ValueError(
            f"Signature mismatch. {what}s must be dtype {dtypes.int64}, got {dtype}."
        )
    if index == TextFileIndex.WHOLE_LINE and not (
        dtype.is_integer or dtype == dtypes.string
    ):
        raise ValueError(
            f"Signature mismatch. {what}s must be integer or string, got {dtype}."
        )


@export("contrib.lookup.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """From line numbers (int64) to lines (strings)."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


@export("contrib.lookup.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """From lines to line numbers (int64)."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: Any = dtypes.string,
    ) -> None:
        super().__init__(
            filename,
            key_dtype,
            key_column_index,
            dtypes.int64,
            value_column_index,
            vocab_size,
            delimiter,
            name,
        )


# --- tables -----------------------------------------------------------------------


@export("contrib.lookup.LookupInterface")
class LookupInterface(CapturableResource):
    """What every table has: dtypes, a name, `size` and `lookup`."""

    _name = "table"

    def __init__(self, key_dtype: Any, value_dtype: Any) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The table's name."""
        return self._name

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys, int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return apply_op("LookupTableSizeV2", table_handle=self.resource_handle)  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, a tensor or a SparseTensor.

        Raises:
          TypeError: the keys are not of the table's dtype.
        """
        raise TypeError(f"{type(self).__name__} must define lookup()")

    def _check_keys(self, keys: Tensor) -> None:
        if keys.dtype.base_dtype != self.key_dtype:
            raise TypeError(
                "Signature mismatch. Keys must be dtype "
                f"{self.key_dtype}, got {keys.dtype}."
            )


@export("contrib.lookup.InitializableLookupTableBase")
class InitializableLookupTableBase(LookupInterface):
    """A table that its initializer fills, once."""

    def __init__(self, default_value: Any, initializer: Any) -> None:
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with(TensorShape.of(()))
        self._initializer = initializer
        if isinstance(initializer, Trackable):
            self._track_trackable(initializer, "_initializer")
        with _outside_bodies():
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()

    def _initialize(self) -> Any:
        return self._initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        """What a key that is not there gives."""
        return self._default_value

    @property
    def initializer(self) -> Any:
        """The operation that fills the table."""
        return self._init_op

    init = initializer

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys, a tensor or a SparseTensor; the default for others."""
        key_tensor = keys.values if isinstance(keys, SparseTensor) else keys
        self._check_keys(key_tensor)
        scope = [self.resource_handle, key_tensor, self._default_value]
        with name_scope(name, f"{self.name}_Lookup", scope):
            values = apply_op(
                "LookupTableFindV2",
                table_handle=self.resource_handle,
                keys=key_tensor,
                default_value=self._default_value,
            )
        values.set_shape(key_tensor.shape)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values


@export("lookup.StaticHashTable")
class StaticHashTable(InitializableLookupTableBase):
    """A table of fixed contents."""

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None
    ) -> None:
        self._shared_name = initializer.shared_name
        self._name = name or "hash_table"
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.shape

    def _create_resource(self) -> Any:
        handle = apply_op(
            "HashTableV2",
            shared_name=self._shared_name,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            name=self._name,
        )
        if self._resource_handle is None:
            self._name = handle.op.name.split("/")[-1]
        return handle

    def export(self, name: str | None = None) -> Any:
        """(keys, values), in no order."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = apply_op(
                "LookupTableExportV2",
                table_handle=self.resource_handle,
                Tkeys=self._key_dtype,
                Tvalues=self._value_dtype,
            )
        values.set_shape(keys.shape.concatenate(self._value_shape))
        return keys, values


@export("contrib.lookup.HashTable")
class HashTable(StaticHashTable):
    """A table of fixed contents, with a shared name of one's own."""

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ) -> None:
        self._shared_name = shared_name or ""
        self._name = name or "hash_table"
        InitializableLookupTableBase.__init__(self, default_value, initializer)
        self._value_shape = self._default_value.shape
