"""Lookup tables that change: `MutableHashTable` and `MutableDenseHashTable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph import name_scope
from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.ops.lookup_tables import LookupInterface

if TYPE_CHECKING:
    from tensorloom.framework.tensor import Tensor


class _MutableTable(LookupInterface):
    """What both kinds share: one handle and a default value."""

    _default_value: Tensor

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """The operation that adds or replaces the values of keys."""
        scope = f"{self.name}_lookup_table_insert"
        with name_scope(name, scope, [self.resource_handle, keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            return apply_op(
                "LookupTableInsertV2",
                table_handle=self.resource_handle,
                keys=keys,
                values=values,
            )

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values of keys; the default for those that are not there."""
        scope = f"{self.name}_lookup_table_find"
        with name_scope(name, scope, [self.resource_handle, keys]):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            return apply_op(
                "LookupTableFindV2",
                table_handle=self.resource_handle,
                keys=keys,
                default_value=self._default_value,
            )

    def remove(self, keys: Any, name: str | None = None) -> Any:
        """The operation that removes keys, a tensor of the table's dtype.

        Raises:
          TypeError: the keys are of another dtype.
        """
        if keys.dtype != self._key_dtype:
            raise TypeError(
                "Signature mismatch. Keys must be dtype "
                f"{self._key_dtype}, got {keys.dtype}."
            )
        scope = f"{self.name}_lookup_table_remove"
        with name_scope(name, scope, [self.resource_handle, keys]):
            return apply_op(
                "LookupTableRemoveV2", table_handle=self.resource_handle, keys=keys
            )

    def export(self, name: str | None = None) -> Any:
        """(keys, values), in no order."""
        scope = f"{self.name}_lookup_table_export_values"
        with name_scope(name, scope, [self.resource_handle]):
            return apply_op(
                "LookupTableExportV2",
                table_handle=self.resource_handle,
                Tkeys=self._key_dtype,
                Tvalues=self._value_dtype,
            )


@export("contrib.lookup.MutableHashTable")
class MutableHashTable(_MutableTable):
    """A table whose contents change; `default_value` may be a vector."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype)
        shape = self._default_value.shape
        attrs: dict[str, Any] = {}
        if shape.rank != 0:
            attrs["value_shape"] = shape
        op = "MutableHashTableV2" if shape.rank == 0 else "MutableHashTableOfTensorsV2"
        self.resource_handle = apply_op(
            op,
            use_node_name_sharing=True,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            name=name,
            **attrs,
        )
        self._name = self.resource_handle.op.name.split("/")[-1]


@export("contrib.lookup.MutableDenseHashTable", "lookup.experimental.DenseHashTable")
class DenseHashTable(_MutableTable):
    """A table whose contents change, with two keys that may not be used."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
    ) -> None:
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(
            default_value, dtype=value_dtype, name="default_value"
        )
        empty = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        deleted = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        attrs = {}
        if initial_num_buckets is not None:
            attrs["initial_num_buckets"] = initial_num_buckets
        self.resource_handle = apply_op(
            "MutableDenseHashTableV2",
            empty_key=empty,
            deleted_key=deleted,
            use_node_name_sharing=True,
            value_dtype=self._value_dtype,
            value_shape=self._default_value.shape,
            name=name,
            **attrs,
        )
        self._name = self.resource_handle.op.name.split("/")[-1]

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """As `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """As `remove`."""
        return self.remove(keys, name)
