"""Tables with hash buckets behind them, for keys that they do not have."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.lookup.tables import LookupInterface, StaticHashTable
from tensorloom.ops.math import math_ops
from tensorloom.ops.strings import codec as string_codec_ops
from tensorloom.ops.strings import string_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


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
        key_dtype = dtypes.as_dtype(key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(
                f"Invalid key_dtype, expected integer or string, got {key_dtype}."
            )
        self._name = name or (table.name if table else "hash_bucket")
        if table is None and num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(
                f"hasher_spec must be of type HasherSpec, got {hasher_spec}"
            )
        self._table, self._buckets = table, num_oov_buckets
        self._hasher = hasher_spec
        super().__init__(key_dtype, dtypes.int64)

    @property
    def initializer(self) -> Any:
        """The operation that fills the table behind."""
        from tensorloom.ops.control_flow import builders as control_flow_ops

        if self._table is None:
            with name_scope(None, "init"):
                return control_flow_ops.no_op()
        return self._table.initializer

    init = initializer

    @property
    def resource_handle(self) -> Any:
        """The handle of the table behind, None without one."""
        return None if self._table is None else self._table.resource_handle

    def _create_resource(self) -> Any:
        return None if self._table is None else self._table._create_resource()

    def _initialize(self) -> Any:
        return None if self._table is None else self._table._initialize()

    def _list_extra_dependencies_for_serialization(self, cache: Any) -> dict[str, Any]:
        # The files of the table behind are files of this one.
        behind = getattr(self._table, "_initializer", None)
        return {"_initializer": behind} if isinstance(behind, Trackable) else {}

    def size(self, name: str | None = None) -> Tensor:
        """The number of ids, int64."""
        with name_scope(name, f"{self.name}_Size"):
            table_size = (
                self._table.size()
                if self._table
                else array_ops.constant(0, dtype=dtypes.int64)
            )
            return table_size + self._buckets

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
        return selection_ops.where_v2(known, ids, buckets)

    def _hash(self, text: Tensor) -> Tensor:
        if self._hasher.hasher == "fasthash":
            return string_codec_ops.string_to_hash_bucket_fast(
                text, num_buckets=self._buckets, name="hash_bucket"
            )
        if self._hasher.hasher != "stronghash":
            raise ValueError(f"Unknown hasher {self._hasher.hasher}")
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
