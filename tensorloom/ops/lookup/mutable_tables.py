"""Lookup tables that change: `MutableHashTable` and `MutableDenseHashTable`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.ops.lookup.tables import LookupInterface

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


class TableSaveable(SaveableObject):
    """A table as its keys and its values, which a saver saves."""

    def __init__(self, table: Any, name: str) -> None:
        keys, values = table.export()
        specs = [
            SaveSpec(keys, "", name + "-keys"),
            SaveSpec(values, "", name + "-values"),
        ]
        super().__init__(table, specs, name)

    def restore(
        self, restored_tensors: Any, restored_shapes: Any, name: str | None = None
    ) -> Any:
        """Replaces what is in the table."""
        with (
            name_scope(name, f"{self.name}_table_restore"),
            colocate_with(self.op.resource_handle),
        ):
            return apply_op(
                "LookupTableImportV2",
                table_handle=self.op.resource_handle,
                keys=restored_tensors[0],
                values=restored_tensors[1],
            )


class _MutableTable(LookupInterface):
    """What both kinds share: one handle and a default value."""

    _default_value: Tensor

    def _save_as(self, name: str) -> None:
        """Makes savers save it."""
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TableSaveable(self, name))

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """What a saver saves of a table that is given to it."""
        return {"table": functools.partial(TableSaveable, self, name=self.name)}

    def size(self, name: str | None = None) -> Any:
        """How many entries there are."""
        with colocate_with(self.resource_handle):
            return super().size(name)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """The operation that adds or replaces the values of keys."""
        scope = f"{self.name}_lookup_table_insert"
        with name_scope(name, scope, [self.resource_handle, keys, values]):
            keys = convert_to_tensor(keys, self._key_dtype, name="keys")
            values = convert_to_tensor(values, self._value_dtype, name="values")
            with colocate_with(self.resource_handle):
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
            with colocate_with(self.resource_handle):
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
        with (
            name_scope(name, scope, [self.resource_handle]),
            colocate_with(self.resource_handle),
        ):
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
        self._name, self._checkpoint = name, checkpoint
        self._resource_handle = self._create_resource()
        self._name = self._resource_handle.op.name.split("/")[-1]
        if checkpoint:
            self._save_as(name)

    def _create_resource(self) -> Any:
        shape = self._default_value.shape
        attrs: dict[str, Any] = {}
        if shape.rank != 0:
            attrs["value_shape"] = shape
        op = "MutableHashTableV2" if shape.rank == 0 else "MutableHashTableOfTensorsV2"
        return apply_op(
            op,
            use_node_name_sharing=self._checkpoint,
            key_dtype=self._key_dtype,
            value_dtype=self._value_dtype,
            name=self._name,
            **attrs,
        )


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
        self._empty_key = convert_to_tensor(empty_key, key_dtype, "empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, key_dtype, "deleted_key")
        self._initial_num_buckets = initial_num_buckets
        self._name, self._checkpoint = name, checkpoint
        self._resource_handle = self._create_resource()
        self._name = self._resource_handle.op.name.split("/")[-1]
        if checkpoint:
            self._save_as(name)

    def _create_resource(self) -> Any:
        attrs = {}
        if self._initial_num_buckets is not None:
            attrs["initial_num_buckets"] = self._initial_num_buckets
        return apply_op(
            "MutableDenseHashTableV2",
            empty_key=self._empty_key,
            deleted_key=self._deleted_key,
            use_node_name_sharing=self._checkpoint,
            value_dtype=self._value_dtype,
            value_shape=self._default_value.shape,
            name=self._name,
            **attrs,
        )

    def insert_or_assign(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """As `insert`."""
        return self.insert(keys, values, name)

    def erase(self, keys: Any, name: str | None = None) -> Any:
        """As `remove`."""
        return self.remove(keys, name)
