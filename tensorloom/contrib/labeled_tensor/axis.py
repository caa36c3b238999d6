"""`Axis` and `Axes`: the names, sizes and labels of a tensor's dimensions."""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.types.dimension import Dimension

# What says how long an axis is: labels, a size, or None where it is not known.
AxisValue = np.ndarray | range | list[Any] | tuple[Any, ...] | Dimension | int | None
Scalar = numbers.Number | bool | bytes | str


@export("contrib.labeled_tensor.Axis")
class Axis:
    """The name of an axis with its size, or with a label for each position."""

    @checked
    def __init__(self, name: str, value: AxisValue) -> None:
        """Makes an axis.

        Args:
          name: of the axis.
          value: its size, None if that is not known, or a sequence of labels.

        Raises:
          ValueError: a label stands there twice.
        """
        labels: tuple[Any, ...] | None = None
        if value is None or isinstance(value, (Dimension, int)):
            dimension = Dimension(value)
        else:
            labels = tuple(value)
            dimension = Dimension(len(labels))
        if dimension.value == 0:
            labels = ()  # nothing to label, so all of it is labelled
        self._positions: dict[Any, int] | None = None
        if labels is not None:
            self._positions = {label: at for at, label in enumerate(labels)}
            if len(self._positions) != len(labels):
                raise ValueError(f"Tick labels must be unique, but got {labels}")
        self._name = name
        self._dimension = dimension
        self._labels = labels

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def __repr__(self) -> str:
        return f"{type(self).__name__}('{self.name}', {self.value!r})"

    def _key(self) -> tuple[str, int | None, tuple[Any, ...] | None]:
        return self.name, self.size, self.labels

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __len__(self) -> int:
        """The size. Raises ValueError where it is not known."""
        if self.size is None:
            raise ValueError(f"axis {self.name!r} has unknown length")
        return self.size

    @property
    def dimension(self) -> Dimension:
        """The size as a Dimension."""
        return self._dimension

    @property
    def size(self) -> int | None:
        """The size, None where it is not known."""
        return self._dimension.value

    @property
    def value(self) -> Any:
        """The labels, or the Dimension where there are none."""
        return self.dimension if self.labels is None else self.labels

    @property
    def labels(self) -> tuple[Any, ...] | None:
        """The labels of the positions, or None."""
        return self._labels

    def index(self, value: Any) -> int:
        """The position of a label.

        Raises:
          ValueError: the axis has no labels.
          KeyError: it has no such label.
        """
        if self._positions is None:
            raise ValueError("Axis does not have tick labels")
        return self._positions[value]


AxisLike = Axis | tuple[str, AxisValue]


@export("contrib.labeled_tensor.as_axis")
@checked
def as_axis(axis_data: AxisLike) -> Axis:
    """An axis from itself, or from a pair of a name and a value."""
    return axis_data if isinstance(axis_data, Axis) else Axis(*axis_data)


@export("contrib.labeled_tensor.Axes")
class Axes(Mapping[str, Axis]):
    """The axes of a tensor, in order, by their names."""

    @checked
    def __init__(self, axes: list[AxisLike]) -> None:
        """Makes axes of a list.

        Raises:
          ValueError: two axes have one name.
        """
        self._axes: dict[str, Axis] = {}
        for axis in map(as_axis, axes):
            if axis.name in self._axes:
                raise ValueError(f"Duplicate axis name: {axis.name}")
            self._axes[axis.name] = axis

    def __iter__(self) -> Iterator[str]:
        return iter(self._axes)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}([{axes_text(self, len(name) + 2)}])"

    @checked
    def __getitem__(self, name: str) -> Axis:
        return self._axes[name]

    def __contains__(self, name: object) -> bool:
        return name in self._axes

    def __len__(self) -> int:
        return len(self._axes)

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    @checked
    def remove(self, axis_name: str) -> Axes:
        """These axes without one. Raises KeyError where it is not there."""
        if axis_name not in self:
            raise KeyError(axis_name)
        return Axes([axis for axis in self.values() if axis.name != axis_name])


def axes_text(axes: Axes, indent: int) -> str:
    """The axes as pairs, one a line, the later lines indented."""
    pairs = [f"('{axis.name}', {axis.value!r})" for axis in axes.values()]
    return (",\n" + " " * indent).join(pairs)


def concat_axes(axes: Collection[Axis]) -> Axis:
    """The axis of several parts, one after the other.

    It has labels if all parts have; else their sizes are added.

    Raises:
      ValueError: there is none, one is no Axis, or the names differ.
    """
    if not axes:
        raise ValueError("axes must not be empty")
    for axis in axes:
        if not isinstance(axis, Axis):
            raise ValueError(f"Expected an Axis, but got {axis!r} of type {type(axis)}")
    names = {axis.name for axis in axes}
    if len(names) > 1:
        raise ValueError(f"axes do not all have the same name: {names!r}")
    (name,) = names
    if all(axis.labels is not None for axis in axes):
        return Axis(name, tuple(label for axis in axes for label in axis.labels or ()))
    if any(axis.size is None for axis in axes):
        return Axis(name, None)
    return Axis(name, sum(map(len, axes)))
