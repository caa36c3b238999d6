"""Lookup tables: the classes of `tf.lookup` and `tf.contrib.lookup`."""

from __future__ import annotations

import uuid
from collections import namedtuple
from typing import TYPE_CHECKING, Any

from tensorloom.framework import dtypes
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph import (
    GraphKeys,
    add_to_collection,
    device,
    name_scope,
)
from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.sparse_tensor import SparseTensor
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.framework.tensor_shape import TensorShape
from tensorloom.ops import (
    array_ops,
    math_ops,
    selection_ops,
    string_codec_ops,
    string_ops,
)

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType
    from tensorloom.framework.tensor import Tensor


@export("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """What a column index may say besides a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


# --- initializers ----------------------------------------------------------------------


@export("contrib.lookup.TableInitializerBase")
class TableInitializerBase:
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
        if not isinstance(filename, str | bytes) and not hasattr(filename, "dtype"):
            raise ValueError("Filename required for text file initializer")
        _check_column("Key", key_index, dtypes.as_dtype(key_dtype))
        _check_column("Value", value_index, dtypes.as_dtype(value_dtype))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._raw_filename = filename
        self._indices = key_index, value_index
        self._vocab_size, self._delimiter = vocab_size, delimiter
        self._name = "text_file_init" if name is None else name
        with device("CPU"):
            self._filename = convert_to_tensor(
                filename, dtypes.string, name="asset_path"
            )
        add_to_collection(GraphKeys.ASSET_FILEPATHS, self._filename)
        super().__init__(key_dtype, value_dtype)

    @property
    def shared_name(self) -> str:
        """Tables with the same file and columns share one resource."""
        parts = [f"hash_table_{self._raw_filename}"]
        if self._vocab_size:
            parts.append(str(self._vocab_size))
        return "_".join([*parts, *map(str, self._indices)])

    def initialize(self, table: Any) -> Any:
        """The operation that fills a table."""
        self._check(table)
        with name_scope(self._name, "text_file_init", (table.resource_handle,)):
            init = apply_op(
                "InitializeTableFromTextFileV2",
                table_handle=table.resource_handle,
                filename=self._filename,
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


# --- tables ----------------------------------------------------------------------------


@export("contrib.lookup.LookupInterface")
class LookupInterface:
    """What every table has: dtypes, a name, `size` and `lookup`."""

    _name = "table"
    resource_handle: Tensor

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
        self.resource_handle = self._create_resource()
        self._init_op = initializer.initialize(self)

    def _create_resource(self) -> Tensor:
        raise TypeError(f"{type(self).__name__} must define _create_resource()")

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

    def _create_resource(self) -> Tensor:
        return apply_op(  # type: ignore[no-any-return]
            "HashTableV2",
            shared_name=self._shared_name,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            name=self._name,
        )

    def export(self, name: str | None = None) -> Any:
        """(keys, values), in no order."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]) as name:
            keys, values = apply_op(
                "LookupTableExportV2",
                table_handle=self.resource_handle,
                Tkeys=self._key_dtype,
                Tvalues=self._value_dtype,
                name=name,
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


# --- tables with buckets for unknown keys ------------------------------------------------


@export("contrib.lookup.HasherSpec")
class HasherSpec(namedtuple("HasherSpec", ["hasher", "key"])):
    """Which hash function unknown keys go through."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)
export_value(FastHashSpec, "contrib.lookup.FastHashSpec")


@export("contrib.lookup.StrongHashSpec")
class StrongHashSpec(HasherSpec):
    """SipHash under a key of two integers.

    Raises:
      ValueError: the key is not two integers.
    """

    __slots__ = ()

    def __new__(cls, key: Any) -> StrongHashSpec:
        """Makes the specification."""
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(x, int) for x in key):
            raise TypeError("Invalid key; expected unsigned integers.")
        return super().__new__(cls, "stronghash", key)


@export("contrib.lookup.IdTableWithHashBuckets")
class IdTableWithHashBuckets(LookupInterface):
    """Ids of a table, and of hash buckets behind them for keys it does not have."""

    def __init__(
        self,
        table: Any,
        num_oov_buckets: int,
        hasher_spec: Any = FastHashSpec,
        name: str | None = None,
        key_dtype: Any = None,
    ) -> None:
        key_dtype = key_dtype or (dtypes.string if table is None else table.key_dtype)
        self._name = name or (table.name if table else "hash_bucket")
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._table, self._buckets = table, num_oov_buckets
        self._hasher = hasher_spec
        super().__init__(key_dtype, dtypes.int64)

    @property
    def initializer(self) -> Any:
        """The operation that fills the table behind."""
        from tensorloom.ops import control_flow_ops

        if self._table is None:
            with name_scope(None, "init"):
                return control_flow_ops.no_op()
        return self._table.initializer

    init = initializer

    @property
    def resource_handle(self) -> Any:  # type: ignore[override]
        """The handle of the table behind, None without one."""
        return None if self._table is None else self._table.resource_handle

    def size(self, name: str | None = None) -> Tensor:
        """The number of ids, int64."""
        with name_scope(name, f"{self.name}_Size"):
            table_size = self._table.size() if self._table else array_ops.constant(
                0, dtype=dtypes.int64
            )
            return table_size + self._buckets  # type: ignore[no-any-return]

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The ids of keys, a tensor or a SparseTensor."""
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(
                "Signature mismatch. Keys must be dtype "
                f"{self._key_dtype}, got {keys.dtype}."
            )
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = math_ops.cast(values, dtypes.int64)
        if not self._buckets:
            ids = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                ids = self._bucket_ids(values)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, ids, keys.dense_shape)
        return ids

    def _bucket_ids(self, values: Tensor) -> Tensor:
        text = values
        if values.dtype != dtypes.string:
            text = string_ops.as_string(values)
        buckets = self._hash(text)
        if self._table is None:
            return buckets
        ids = self._table.lookup(values)
        buckets = math_ops.add(buckets, self._table.size())
        known = math_ops.not_equal(ids, self._table.default_value)
        return selection_ops.where_v2(known, ids, buckets)  # type: ignore[no-any-return]

    def _hash(self, text: Tensor) -> Tensor:
        if self._hasher.hasher == "fasthash":
            return string_codec_ops.string_to_hash_bucket_fast(
                text, num_buckets=self._buckets, name="hash_bucket"
            )
        return string_codec_ops.string_to_hash_bucket_strong(
            text, num_buckets=self._buckets, key=self._hasher.key, name="hash_bucket"
        )


@export("lookup.StaticVocabularyTable")
class StaticVocabularyTable(IdTableWithHashBuckets):
    """A vocabulary with at least one bucket for words that are not in it.

    Raises:
      ValueError: no bucket.
      TypeError: values that are not int64, or keys neither integers nor strings.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
    ) -> None:
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table = None
        if initializer is not None:
            if initializer.value_dtype != dtypes.int64:
                raise TypeError("Invalid value dtype, expected int64.")
            table = StaticHashTable(initializer, default_value=-1)
        super().__init__(
            table, num_oov_buckets, FastHashSpec, name, key_dtype=lookup_key_dtype
        )
