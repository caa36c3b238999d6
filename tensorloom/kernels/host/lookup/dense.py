"""`MutableDenseHashTable` at run time, which is saved bucket by bucket.

TensorFlow exports and imports the buckets of its table as they are: a bucket's place
follows from the hash of its key. So keys are laid out here in the same way, though only
when a table is exported; look-ups go through a dictionary.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.lookup.key_tables import NotIndexed
from tensorloom.kernels.host.lookup.resource import LookupTable
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.hashes import hash64

if TYPE_CHECKING:
    from tensorloom.kernels.host.lookup.key_tables import NumberIndex, StringIndex

_M = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7800


class DenseHashTable(LookupTable):
    """A table that refuses two keys. Keys may be tensors of one shape."""

    reserved: tuple[Any, ...] = ()
    key_shape: tuple[int, ...] = ()
    _buckets = 0
    _load = 0.8

    def configure(self, empty: Any, deleted: Any, buckets: int, load: float) -> None:
        """Sets the two keys, and how large it is at first.

        Args:
          deleted: None for the older op, which cannot remove keys.

        Raises:
          InvalidArgumentError: the keys are equal or of different shapes; `buckets` is
            no power of two; `load` is not between 0 and 1.
        """
        if deleted is not None and np.shape(empty) != np.shape(deleted):
            raise invalid_argument(
                "Empty and deleted keys must have same shape, got shapes: "
                f"{shape_text(np.shape(empty))} and {shape_text(np.shape(deleted))}"
            )
        if buckets <= 0 or buckets & (buckets - 1):
            raise invalid_argument(
                f"initial_num_buckets must be a power of 2, got: {buckets}"
            )
        if not 0 < load < 1:
            raise invalid_argument(
                f"max_load_factor must be between 0 and 1, got: {load}"
            )
        self.key_shape = np.shape(empty)
        self.reserved = tuple(
            None if key is None else self._flat(np.asarray(key))[0]
            for key in (empty, deleted)
        )
        if self.reserved[0] == self.reserved[1]:
            raise invalid_argument("Empty and deleted keys cannot be equal")
        self._load = load
        self._buckets = self._buckets or buckets

    def _outer_shape(self, keys: Any) -> tuple[int, ...]:
        rank = len(self.key_shape)
        if not rank:
            return super()._outer_shape(keys)
        if keys.shape[-rank:] != self.key_shape:
            raise invalid_argument(
                f"Input key shape {shape_text(keys.shape)} must end with the table's "
                f"key shape {shape_text(self.key_shape)}"
            )
        return keys.shape[:-rank]  # type: ignore[no-any-return]

    def _flat(self, keys: Any) -> list[Any]:
        if not self.key_shape:
            return super()._flat(keys)
        size = int(np.prod(self.key_shape))
        return [tuple(row) for row in keys.reshape(-1, size).tolist()]

    def _index_of(self, keys: list[Any]) -> StringIndex | NumberIndex:
        if self.key_shape:
            raise NotIndexed
        return super()._index_of(keys)

    def find(self, keys: Any, default: Any) -> Any:
        """As the base class; the two keys are errors."""
        self._check_keys(keys)
        return super().find(keys, default)

    def insert(self, keys: Any, values: Any) -> None:
        """As the base class; the two keys are errors."""
        self._check_keys(keys)
        with self._lock:
            self._grow(len(self._items) + math.prod(self._outer_shape(keys)))
        super().insert(keys, values)

    def remove(self, keys: Any) -> None:
        """As the base class; the two keys are errors."""
        self._check_keys(keys)
        super().remove(keys)

    def _check_keys(self, keys: Any) -> None:
        rank = len(self._outer_shape(keys))
        # Other tables take keys of any shape; this one, as in TensorFlow, one list.
        whole = (keys.shape[0] if keys.ndim else 1, *self.key_shape)
        if keys.size != math.prod(whole):
            raise invalid_argument(
                f"Expected key shape {shape_text(whole)} got {shape_text(keys.shape)}"
            )
        axes = tuple(range(rank, keys.ndim))
        for what, key in zip(("empty_key", "deleted_key"), self.reserved, strict=True):
            if key is None:
                continue
            same = keys == np.asarray(key, keys.dtype).reshape(self.key_shape)
            if same.all(axes).any():
                raise invalid_argument(
                    f"Using the {what} as a table key is not allowed"
                )

    def _grow(self, entries: int) -> None:
        while entries > self._buckets * self._load:
            self._buckets *= 2

    def replace(self, keys: Any, values: Any) -> None:
        """Takes buckets for all contents; those with one of the two keys are free."""
        size = int(np.prod(self.key_shape))
        width = int(np.prod(self.value_shape))
        if keys.size != len(keys) * size or values.size != len(keys) * width:
            raise invalid_argument(
                f"Expected shape {shape_text((len(keys), size))} for keys and "
                f"{shape_text((len(keys), width))} for values, got "
                f"{shape_text(keys.shape)} and {shape_text(values.shape)}"
            )
        flat = self._flat(keys.reshape(-1, *self.key_shape))
        rows = values.reshape(-1, *self.value_shape)
        used = [i for i, key in enumerate(flat) if key not in self.reserved]
        with self._lock:
            self._items = self._no_items()
            self._items.update([flat[i] for i in used], rows[used])
            self._changed()
            if len(keys) and not len(keys) & (len(keys) - 1):
                self._buckets = len(keys)
            self._grow(len(self._items))

    def export(self) -> tuple[Any, Any]:
        """Its buckets: (keys [buckets, key size], values [buckets, value size])."""
        with self._lock:
            items, rows = self._items.keys(), self._items.values()
            count = self._buckets
        width = int(np.prod(self.value_shape))
        keys = np.empty((count, int(np.prod(self.key_shape))), self._key_type())
        keys[:] = self.reserved[0]
        values = np.zeros((count, width), self.value_dtype.as_numpy_dtype)
        if values.dtype == object:
            values[:] = b""
        used = bytearray(count)
        places = []
        for key in items:
            at = self._hash(key) & (count - 1)
            probes = 0
            while used[at]:
                probes += 1
                at = (at + probes) & (count - 1)
            used[at] = 1
            keys[at] = key
            places.append(at)
        values[places] = rows.reshape(len(items), width)
        return keys, values

    def _key_type(self) -> Any:
        return self.key_dtype.as_numpy_dtype

    def _hash(self, key: Any) -> int:
        """TensorFlow's: `core/kernels/lookup_table_op.cc`, `core/lib/hash/hash.h`."""
        if not self.key_shape or len(key) == 1:
            return _hash_scalar(key if not self.key_shape else key[0])
        result = 0
        for part in key:
            mixed = _hash_scalar(part) + _GOLDEN + (result << 10) + (result >> 4)
            result ^= mixed & _M
        return result


def _hash_scalar(key: Any) -> int:
    return hash64(key) if isinstance(key, bytes) else int(key) & _M
