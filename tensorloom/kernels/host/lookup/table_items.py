"""The pairs of a lookup table: keys are Python scalars, or tuples of a flat tensor."""

from __future__ import annotations

from itertools import repeat
from typing import Any, Final

import numpy as np

# So many rows of removed keys are kept at least.
_MOST_REMOVED: Final = 64


class ScalarItems:
    """Pairs of keys and scalars."""

    def __init__(self, dtype: Any) -> None:
        self._dtype = dtype
        self.pairs: dict[Any, Any] = {}

    def __len__(self) -> int:
        return len(self.pairs)

    def find(self, keys: list[Any], default: Any) -> Any:
        """The values [n] of keys [n]; `default` is [] or [n]."""
        others = default.reshape(-1).tolist() if default.ndim else repeat(default[()])
        values = map(self.pairs.get, keys, others)
        return np.fromiter(values, self._dtype, len(keys))

    def update(self, keys: list[Any], values: Any) -> None:
        """Adds or replaces; values are [n]."""
        self.pairs.update(zip(keys, values.tolist(), strict=True))

    def remove(self, keys: list[Any]) -> None:
        """Removes keys that are there."""
        for key in keys:
            self.pairs.pop(key, None)

    def keys(self) -> list[Any]:
        """All keys."""
        return list(self.pairs)

    def values(self) -> Any:
        """The value of each of the `keys`, [n]."""
        return np.fromiter(self.pairs.values(), self._dtype, len(self.pairs))


class RowItems:
    """Pairs of keys and tensors of one shape, which are the rows of one array."""

    def __init__(self, dtype: Any, shape: tuple[int, ...]) -> None:
        self._places: dict[Any, int] = {}
        self._rows = np.empty((0, *shape), dtype)
        self._used = 0  # rows; more than keys where some were removed

    def __len__(self) -> int:
        return len(self._places)

    def find(self, keys: list[Any], default: Any) -> Any:
        """The values [n, ...] of keys [n]; `default` is [...] or [n, ...]."""
        places = self._find_places(keys)
        is_there = places >= 0
        if is_there.all():
            return self._rows.take(places, axis=0)
        found = np.empty((len(keys), *self._rows.shape[1:]), self._rows.dtype)
        found[:] = default
        found[is_there] = self._rows[places[is_there]]
        return found

    def _find_places(self, keys: list[Any]) -> Any:
        return np.fromiter(map(self._places.get, keys, repeat(-1)), np.int64, len(keys))

    def update(self, keys: list[Any], values: Any) -> None:
        """Adds or replaces; values are [n, ...]."""
        self._reserve(self._used + len(keys))
        places, found = self._places, self._find_places(keys)
        for i in np.flatnonzero(found < 0).tolist():
            # It may have come before in `keys`.
            found[i] = place = places.setdefault(keys[i], self._used)
            self._used += place == self._used
        self._rows[found] = values

    def _reserve(self, count: int) -> None:
        if count > len(self._rows):
            size = max(count, 2 * len(self._rows))
            rows = np.empty((size, *self._rows.shape[1:]), self._rows.dtype)
            rows[: self._used] = self._rows[: self._used]
            self._rows = rows

    def remove(self, keys: list[Any]) -> None:
        """Removes keys that are there."""
        for key in keys:
            self._places.pop(key, None)
        if self._used > 2 * len(self) + _MOST_REMOVED:
            self._rows = self.values()
            self._places = {key: i for i, key in enumerate(self._places)}
            self._used = len(self)

    def keys(self) -> list[Any]:
        """All keys."""
        return list(self._places)

    def values(self) -> Any:
        """The value of each of the `keys`, [n, ...]."""
        places = np.fromiter(self._places.values(), np.int64, len(self))
        return self._rows.take(places, axis=0)
