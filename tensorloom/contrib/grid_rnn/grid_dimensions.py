"""What each dimension of a grid is there for."""

from __future__ import annotations

from typing import Any


class GridDimensions:
    """Sorted lists of a grid's dimensions, by what they are there for.

    Args:
      count: how many dimensions there are.
      inputs, outputs, priority, non_recurrents: number, list or None.

    Raises:
      ValueError: a dimension is not of the grid.
    """

    def __init__(
        self, count: int, inputs: Any, outputs: Any, priority: Any, non_recurrents: Any
    ) -> None:
        self.count = count
        self.inputs = _sorted(inputs, count)
        self.outputs = _sorted(outputs, count)
        self.priority = _sorted(priority, count)
        self.non_recurrents = _sorted(non_recurrents, count)
        self.others = [i for i in range(count) if i not in self.priority]
        self.recurrents = [i for i in range(count) if i not in self.non_recurrents]


def _sorted(given: Any, count: int) -> list[int]:
    if given is None:
        return []
    dimensions = sorted(set(given if isinstance(given, (list, tuple)) else [given]))
    if any(not 0 <= i < count for i in dimensions):
        raise ValueError(f"Invalid dims: {dimensions}. Must be in [0, {count})")
    return dimensions
