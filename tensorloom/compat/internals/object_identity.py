"""Dictionaries and sets that compare their keys by identity."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from tensorloom.framework.runtime.reference import Reference


class WeakReference(Reference):
    """The same, without keeping the object alive."""

    __slots__ = ("_id",)

    def __init__(self, wrapped: Any, gone: Any = None) -> None:
        super().__init__(weakref.ref(wrapped, gone and (lambda _: gone(self))))
        self._id = id(wrapped)

    @property
    def unwrapped(self) -> Any:
        """The object; None when it is gone."""
        return self._value()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return super().__eq__(other) and self.unwrapped is not None

    def __hash__(self) -> int:
        return self._id


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys need no hash."""

    def __init__(self) -> None:
        self._storage: dict[Reference, Any] = {}

    def _wrap(self, key: Any) -> Reference:
        return Reference(key)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[Reference(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[Reference(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in list(self._storage))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self.items())!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same; an entry goes with its key."""

    def _wrap(self, key: Any) -> Reference:
        return WeakReference(key, lambda gone: self._storage.pop(gone, None))


class ObjectIdentitySet(MutableSet[Any]):
    """A set whose items need no hash."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._storage: set[Reference] = set()
        for item in items:
            self.add(item)

    def _wrap(self, item: Any) -> Reference:
        return Reference(item)

    def __contains__(self, item: object) -> bool:
        return Reference(item) in self._storage

    def add(self, value: Any) -> None:
        """Adds an item."""
        self._storage.add(self._wrap(value))

    def discard(self, value: Any) -> None:
        """Removes an item if it is there."""
        self._storage.discard(Reference(value))

    def update(self, items: Iterable[Any]) -> None:
        """Adds items."""
        for item in items:
            self.add(item)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """What is not in `items`."""
        other = ObjectIdentitySet(items)
        return type(self)(item for item in self if item not in other)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (item.unwrapped for item in list(self._storage))


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same; items that are gone are not in it."""

    def _wrap(self, item: Any) -> Reference:
        return WeakReference(item, self._storage.discard)
