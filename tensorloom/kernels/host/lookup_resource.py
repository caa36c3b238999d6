"""Lookup tables at run time: a dictionary from keys to values, under a lock."""

from __future__ import annotations

import threading
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import dtypes, errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.resource import Resource
from tensorloom.kernels.host.key_tables import NotIndexed, NumberIndex
from tensorloom.kernels.host.math_ops_errors import shape_text
from tensorloom.kernels.host.string_index import MOST_BYTES, StringIndex
from tensorloom.kernels.host.string_spans import Spans, spans_of

if TYPE_CHECKING:
    from tensorloom.framework.dtypes import DType


# For so few a dictionary is as fast.
_FEW_KEYS = 64


class LookupTable(Resource):
    """Keys are Python scalars; values too, or tuples of one flat tensor each."""

    # Whether it is filled once and then fixed.
    initialized_once = False

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
        self._items: dict[Any, Any] = {}

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
        """An array of the keys' values; `default` is one value, or one for each key."""
        self._check_ready()
        flat, shape = self._flat(keys)
        self._check_default(default, shape)
        with self._lock:
            if not self.value_shape and not default.ndim:
                fallback = repeat(_items(default)[0], len(flat))
                dtype = self.value_dtype.as_numpy_dtype
                values = map(self._items.get, flat, fallback)
                found = np.fromiter(values, dtype, len(flat)).reshape(shape)
                return found if found.ndim or dtype is object else found[()]
            defaults = self._rows(np.broadcast_to(default, (*shape, *self.value_shape)))
            pairs = zip(flat, defaults, strict=True)
            rows = [self._items.get(key, other) for key, other in pairs]
        return self._array(rows, shape)

    def find_words(self, words: Spans, default: Any) -> Any:
        """As `find`, of words that are not strings yet; None where they have to be."""
        del words, default

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
            self._items.update(pairs)

    def replace(self, keys: Any, values: Any) -> None:
        """Takes these pairs for all contents."""
        pairs = self._pairs(keys, values)
        with self._lock:
            self._items = dict(pairs)

    def remove(self, keys: Any) -> None:
        """Removes keys."""
        with self._lock:
            for key in self._flat(keys)[0]:
                self._items.pop(key, None)

    def _flat(self, keys: Any) -> tuple[list[Any], tuple[int, ...]]:
        """The keys one after the other, and the shape in which they came."""
        return keys.reshape(-1).tolist(), keys.shape

    def export(self) -> tuple[Any, Any]:
        """(keys [n], values [n, ...])."""
        self._check_ready()
        with self._lock:
            keys, values = list(self._items), list(self._items.values())
        found = np.empty(len(keys), self.key_dtype.as_numpy_dtype)
        found[:] = keys
        return found, self._array(values, (len(keys),))

    def _pairs(self, keys: Any, values: Any) -> list[tuple[Any, Any]]:
        flat, shape = self._flat(keys)
        if values.shape != (*shape, *self.value_shape):
            raise invalid_argument(
                f"Expected shape {shape_text((*shape, *self.value_shape))} for value, "
                f"got {shape_text(values.shape)}"
            )
        return list(zip(flat, self._rows(values), strict=True))

    def _rows(self, values: Any) -> list[Any]:
        if not self.value_shape:
            return values.reshape(-1).tolist()  # type: ignore[no-any-return]
        width = int(np.prod(self.value_shape))
        return [tuple(row) for row in values.reshape(-1, width).tolist()]

    def _array(self, found: list[Any], shape: tuple[int, ...]) -> Any:
        dtype = self.value_dtype.as_numpy_dtype
        full = (*shape, *self.value_shape)
        if not self.value_shape:
            result = np.empty(len(found), dtype)
            result[:] = found
        else:
            result = np.array(found, dtype)
        result = result.reshape(full)
        return result if result.ndim or dtype is object else result[()]

    def _check_ready(self) -> None:
        if not self.ready:
            raise errors.FailedPreconditionError(None, None, "Table not initialized.")


class HashTable(LookupTable):
    """A table that is filled once."""

    initialized_once = True
    # An index is made when words for a fourth of its cost have been asked for.
    _asked = 0
    _index: Any = None  # a StringIndex or a NumberIndex
    _index_values: Any = None

    def find(self, keys: Any, default: Any) -> Any:
        """As the base class; many keys are found by an index, without dictionary."""
        if keys.size < _FEW_KEYS or default.ndim or not self.ready:
            return super().find(keys, default)
        index = self._index or self._make_index(keys.size)
        if index is None:
            return super().find(keys, default)
        flat = keys.reshape(-1)
        if isinstance(index, NumberIndex):
            return self._values_at(index.find(flat), default).reshape(keys.shape)
        words = spans_of(flat.tolist())
        return self._of_words(index, words, default).reshape(keys.shape)

    def find_words(self, words: Spans, default: Any) -> Any:
        """As `find`, of words that are not strings yet; None where they have to be."""
        self._check_ready()
        if default.shape or self.value_shape:
            return None
        index = self._index or self._make_index(len(words.starts))
        return None if index is None else self._of_words(index, words, default)

    def _of_words(self, index: StringIndex, words: Spans, default: Any) -> Any:
        found = self._values_at(index.find(words), default)
        if words.longest > MOST_BYTES:
            self._find_long(words, found)
        return found

    def _values_at(self, places: Any, default: Any) -> Any:
        """The values of keys; `default` for the place behind the last one."""
        found = self._index_values.take(places)
        missing = places == len(self._items)
        if missing.any():
            found[missing] = default
        return found

    def _find_long(self, words: Spans, found: Any) -> None:
        blob, get = words.blob, self._items.get
        for i in np.flatnonzero(words.lengths > MOST_BYTES).tolist():
            start = int(words.starts[i])
            value = get(blob[start : start + int(words.lengths[i])])
            if value is not None:
                found[i] = value

    def _make_index(self, asked: int) -> Any:
        self._asked += asked
        if self._asked < len(self._items) // 4:
            return None
        self._asked = -(1 << 62)  # once is enough, should there be no index
        try:
            index = self._index_of(list(self._items))
        except NotIndexed:
            return None
        values = np.empty(len(self._items) + 1, self.value_dtype.as_numpy_dtype)
        values[:-1] = list(self._items.values())
        self._index_values, self._index = values, index
        return index

    def _index_of(self, keys: list[Any]) -> StringIndex | NumberIndex:
        if self.key_dtype == dtypes.string:
            return StringIndex(keys)
        if self.key_dtype.is_integer:
            return NumberIndex(np.array(keys, np.int64))
        raise NotIndexed

    def initialize(self, keys: Any, values: Any) -> None:
        """Fills it; again with the same contents is harmless.

        Raises:
          FailedPreconditionError: a key twice with different values, or other
            contents than it has.
        """
        pairs = self._pairs(keys, values)
        with self._lock:
            if self.ready:
                self._check_same(pairs)
                return
            items: dict[Any, Any] = {}
            for key, value in pairs:
                if items.setdefault(key, value) != value:
                    raise _duplicate(key, items[key], value)
            self._items = items
            self.ready = True

    replace = initialize

    def _check_same(self, pairs: list[tuple[Any, Any]]) -> None:
        if len(self._items) != len(pairs):
            raise errors.FailedPreconditionError(
                None, None, "Table already initialized."
            )


class MutableHashTable(LookupTable):
    """A table that changes."""


def _items(default: Any) -> list[Any]:
    return np.asarray(default).reshape(-1).tolist()


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
