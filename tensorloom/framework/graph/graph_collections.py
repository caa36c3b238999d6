"""The named collections of a graph (`tf.GraphKeys`)."""

from __future__ import annotations

import re
from typing import Any


class GraphCollections:
    """Mixin of `Graph`: lists of objects under keys."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}

    def _check_not_finalized(self) -> None:
        """Overridden by the graph."""
        raise AssertionError

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Appends `value` to the collection `name`."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Appends `value` to each of the collections (one name, or several)."""
        names = (names,) if isinstance(names, str) else dict.fromkeys(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself, made when there is none; changes to it are kept."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the collection.

        Args:
          scope: a regular expression; only items whose `name` matches its start.
        """
        items = self._collections.get(name, ())
        if scope is None:
            return list(items)
        pattern = re.compile(scope)
        return [
            item for item in items if hasattr(item, "name") and pattern.match(item.name)
        ]

    def get_all_collection_keys(self) -> list[Any]:
        """The keys that are strings."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name: Any) -> None:
        """Empties the collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)
