"""States in tables, by times; and one state for each part of a batch."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.runtime.scopes import control_dependencies
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import concat, fill, identity, pad, reshape, shape
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.lookup.mutable_tables import DenseHashTable


class TensorValuedMutableDenseHashTable(DenseHashTable):
    """A table whose values are tensors of any shape; inside they are vectors."""

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Makes the table; arguments as of `MutableDenseHashTable`."""
        self._element_shape = shape.shape(default_value)
        super().__init__(
            key_dtype,
            value_dtype,
            reshape.reshape(default_value, [-1]),
            *args,
            **kwargs,
        )

    def insert(self, keys: Any, values: Any, name: str | None = None) -> Any:
        """Puts values in, of the shape of the keys and then of one value."""
        flat = reshape.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        rows = reshape.reshape(values, [shape.shape(flat)[0], -1])
        return super().insert(flat, rows, name=name)

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The values, of the shape of the keys and then of one value."""
        flat = reshape.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        found = super().lookup(flat, name=name)
        return reshape.reshape(
            found, concat.concat([shape.shape(keys), self._element_shape], 0)
        )


class TupleOfTensorsLookup:
    """A table for each tensor of a structure."""

    def __init__(
        self,
        key_dtype: Any,
        default_values: Any,
        empty_key: Any,
        deleted_key: Any,
        name: str,
        checkpoint: bool = True,
    ) -> None:
        """Makes the tables.

        Args:
          key_dtype: of the keys.
          default_values: the structure, for keys that are not there.
          empty_key, deleted_key: keys that are never used.
          name: of the tables, with their numbers.
          checkpoint: whether checkpoints have them.
        """
        tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=default.dtype.base_dtype,
                default_value=default,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, default in enumerate(nest.flatten(default_values))
        ]
        self._hash_tables = nest.pack_sequence_as(default_values, tables)

    def lookup(self, keys: Any) -> Any:
        """The structures of the keys."""
        return nest.map_structure(lambda table: table.lookup(keys), self._hash_tables)

    def insert(self, keys: Any, values: Any) -> Any:
        """The operation that puts structures in."""
        nest.assert_same_structure(self._hash_tables, values)
        # All are computed before any is put in: one may depend on what another was.
        computed = [identity.identity(value) for value in nest.flatten(values)]
        with control_dependencies(computed):
            tables = nest.flatten(self._hash_tables)
            inserts = [
                table.insert(keys, value)
                for table, value in zip(tables, computed, strict=True)
            ]
        return group(*inserts)


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """The state once for each part of a batch, along a new first dimension."""

    def replicated(tensor: Any) -> Any:
        ones = fill.ones([shape.rank(tensor)], dtype=dtypes.int32)
        multiples = concat.concat([[batch_size], ones], 0)
        return pad.tile(reshape.expand_dims(tensor, 0), multiples)

    return nest.map_structure(replicated, start_state)


def batch_start_time(times: Any) -> Any:
    """The first time of each window, [batch]."""
    return times[:, 0]


def batch_end_time(times: Any) -> Any:
    """The last time of each window, [batch]."""
    return times[:, -1]
