"""Lookup tables at run time: a dictionary from keys to values, under a lock."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.lookup.key_tables import (
    NotIndexed,
    NumberIndex,
    StringIndex,
)
from tensorloom.kernels.host.lookup.table_items import RowItems, ScalarItems
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.strings.spans import Spans, kept_spans_of

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


# For so few a dictionary is as fast.
_FEW_KEYS = 256


class LookupTable(Resource):
    """Keys are Python scalars, or tuples of one flat tensor each."""

    # Whether it is filled once and then fixed.
    initialized_once = False
    # An index is made when so many keys were asked for since the last change, times the
    # number of its own.
    _asked_for_index = 2.0
    _asked = 0
    _index: Any = None  # a StringIndex or a NumberIndex
    _index_values: Any = None  # in its order, and one for the default

    def __init__(
        self,
        container: str,
        name: str,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...] = (),
    ) -> None:
        super().__init__(container, name)
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.value_shape = value_shape
        self.ready = not self.initialized_once
        self._lock = threading.Lock()
        self._items = self._no_items()

    def _no_items(self) -> ScalarItems | RowItems:
        dtype = self.value_dtype.as_numpy_dtype
        shape = self.value_shape
        return RowItems(dtype, shape) if shape else ScalarItems(dtype)

    def check_types(self, key: DType, value: DType | None) -> None:
        """Raises InvalidArgumentError unless these are the table's dtypes."""
        same = key == self.key_dtype and value in (None, self.value_dtype)
        if not same:
            raise invalid_argument(
                f"Conflicting key/value dtypes {key.name}->"
                f"{value.name if value else '?'} with {self.key_dtype.name}-"
                f"{self.value_dtype.name} for table {self.name}"
            )

    def size(self) -> int:
        """The number of keys."""
        with self._lock:
            return len(self._items)

    def find(self, keys: Any, default: Any) -> Any:
        """An array of the keys' values; `default` is one value, or one for each key.

        Many keys are found by an index, without dictionary.
        """
        shape = self._outer_shape(keys)
        self._check_default(default, shape)
        self._check_ready()
        with self._lock:
            found = None
            if keys.size >= _FEW_KEYS and default.shape == self.value_shape:
                index = self._index or self._make_index(keys.size)
                if index is not None:
                    found = self._by_index(index, keys.reshape(-1), default)
            if found is None:
                found = self._items.find(self._flat(keys), default)
        found = found.reshape((*shape, *self.value_shape))
        return found if found.ndim or found.dtype == object else found[()]

    def find_words(self, words: Spans, default: Any) -> Any:
        """As `find`, of words that are not strings yet; None where they have to be."""
        self._check_ready()
        if default.shape or self.value_shape:
            return None
        with self._lock:
            index = self._index or self._make_index(len(words.starts))
            return (
                None if index is None else self._values_at(index.find(words), default)
            )

    def _by_index(
        self, index: StringIndex | NumberIndex, keys: Any, default: Any
    ) -> Any:
        if isinstance(index, NumberIndex):
            return self._values_at(index.find(keys), default)
        return self._values_at(index.find(kept_spans_of(keys)), default)

    def _values_at(self, places: Any, default: Any) -> Any:
        """The values of keys; `default` for the place behind the last one."""
        found = self._index_values.take(places, axis=0)
        missing = places == len(self._items)
        if missing.any():
            found[missing] = default
        return found

    def _make_index(self, asked: int) -> Any:
        self._asked += asked
        if self._asked < len(self._items) * self._asked_for_index:
            return None
        self._asked = -(1 << 62)  # once is enough, should there be no index
        try:
            index = self._index_of(self._items.keys())
        except NotIndexed:
            return None
        values = self._items.values()
        none = np.zeros_like(values, shape=(1, *self.value_shape))
        self._index_values = np.concatenate([values, none])
        self._index = index
        return index

    def _index_of(self, keys: list[Any]) -> StringIndex | NumberIndex:
        if self.key_dtype == dtypes.string:
            return StringIndex(keys)
        if self.key_dtype.is_integer:
            return NumberIndex(np.array(keys, np.int64))
        raise NotIndexed

    def _changed(self) -> None:
        self._asked, self._index, self._index_values = 0, None, None

    def _check_default(self, default: Any, shape: tuple[int, ...]) -> None:
        if default.shape not in (self.value_shape, (*shape, *self.value_shape)):
            raise invalid_argument(
                f"Expected shape {shape_text(self.value_shape)} for default value, "
                f"got {shape_text(default.shape)}"
            )

    def insert(self, keys: Any, values: Any) -> None:
        """Adds or replaces."""
        pairs = self._pairs(keys, values)
        with self._lock:
            self._items.update(*pairs)
            self._changed()

    def replace(self, keys: Any, values: Any) -> None:
        """Takes these pairs for all contents."""
        pairs = self._pairs(keys, values)
        with self._lock:
            self._items = self._no_items()
            self._items.update(*pairs)
            self._changed()

    def remove(self, keys: Any) -> None:
        """Removes keys."""
        flat = self._flat(keys)
        with self._lock:
            self._items.remove(flat)
            self._changed()

    def _outer_shape(self, keys: Any) -> tuple[int, ...]:
        """The shape in which the keys come."""
        return keys.shape  # type: ignore[no-any-return]

    def _flat(self, keys: Any) -> list[Any]:
        """The keys one after the other."""
        return keys.reshape(-1).tolist()  # type: ignore[no-any-return]

    def export(self) -> tuple[Any, Any]:
        """(keys [n], values [n, ...])."""
        self._check_ready()
        with self._lock:
            keys, values = self._items.keys(), self._items.values()
        return np.fromiter(keys, self.key_dtype.as_numpy_dtype, len(keys)), values

    def _pairs(self, keys: Any, values: Any) -> tuple[list[Any], Any]:
        """(the keys one after the other, their values [n, ...])."""
        shape = self._outer_shape(keys)
        if values.shape != (*shape, *self.value_shape):
            raise invalid_argument(
                f"Expected shape {shape_text((*shape, *self.value_shape))} for value, "
                f"got {shape_text(values.shape)}"
            )
        flat = self._flat(keys)
        return flat, values.reshape(len(flat), *self.value_shape)

    def _check_ready(self) -> None:
        if not self.ready:
            raise errors.FailedPreconditionError(None, None, "Table not initialized.")


class HashTable(LookupTable):
    """A table that is filled once."""

    initialized_once = True
    # It stays: it will be asked for more. This is a fourth of what an index costs.
    _asked_for_index = 0.25

    def initialize(self, keys: Any, values: Any) -> None:
        """Fills it; again with the same contents is harmless.

        Raises:
          FailedPreconditionError: a key twice with different values, or other
            contents than it has.
        """
        flat, given = self._pairs(keys, values)
        with self._lock:
            if self.ready:
                self._check_same(len(flat))
                return
            items = ScalarItems(self.value_dtype.as_numpy_dtype)
            for key, value in zip(flat, given.tolist(), strict=True):
                if items.pairs.setdefault(key, value) != value:
                    raise _duplicate(key, items.pairs[key], value)
            self._items = items
            self.ready = True

    replace = initialize

    def _check_same(self, count: int) -> None:
        if len(self._items) != count:
            raise errors.FailedPreconditionError(
                None, None, "Table already initialized."
            )


class MutableHashTable(LookupTable):
    """A table that changes."""


def _duplicate(key: Any, old: Any, new: Any) -> errors.FailedPreconditionError:
    shown = [
        x.decode(errors="replace") if isinstance(x, bytes) else x
        for x in (key, old, new)
    ]
    return errors.FailedPreconditionError(
        None,
        None,
        f"HashTable has different value for same key. Key {shown[0]} has {shown[1]} "
        f"and trying to add value {shown[2]}",
    )
