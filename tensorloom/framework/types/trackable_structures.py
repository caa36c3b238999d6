"""Attributes that are tracked when they are set, lists and dicts in them too.

A list or dict that is assigned to an attribute of an `AutoTrackable` is replaced by a
list or dict that tracks what is put into it. What the position in a list means must not
change between saving and restoring, so a list from which something was taken cannot be
saved; a dict with keys that are not strings cannot either.
"""

from __future__ import annotations

import collections
import copy
from collections.abc import Iterable
from typing import Any, NoReturn, SupportsIndex

from tensorloom.framework.types.trackable import (
    Trackable,
    TrackableReference,
    functions_among,
)


class NoDependency:
    """Wraps a value that is assigned to an attribute and not to be tracked."""

    def __init__(self, value: Any) -> None:
        self.value = value


class AutoTrackable(Trackable):
    """A `Trackable` whose attributes are its dependencies."""

    # False while attributes are set that are no dependencies.
    _self_setattr_tracking = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._self_setattr_tracking and self.__dict__.get(name, self) is not value:
            value = assigned(self, name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._untrack(name)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        return functions_among({name: _attribute(self, name) for name in dir(self)})


def _attribute(owner: Any, name: str) -> Any:
    """An attribute; None where a property fails, as some do before they are built."""
    try:
        return getattr(owner, name)
    except Exception:
        return None


def assigned(owner: Trackable, name: str, value: Any) -> Any:
    """What an attribute becomes; `owner` tracks it if it can be tracked."""
    if isinstance(value, NoDependency):
        return value.value
    value = _wrapped(value)
    if isinstance(value, Trackable):
        owner._track_trackable(value, name=name, overwrite=True)
    return value


def _wrapped(value: Any) -> Any:
    """Plain lists and dicts as those that track."""
    if isinstance(value, Trackable):
        return value
    if type(value) is list:
        return ListWrapper(value)
    if type(value) in (dict, collections.OrderedDict):
        return DictWrapper(value)
    return value.value if isinstance(value, NoDependency) else value


_IGNORE = (
    "\n\nIf you don't need this {} checkpointed, wrap it in a "
    "tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped "
    "and subsequently ignored."
)


class ListWrapper(list[Any], Trackable):
    """A list that tracks its elements by their positions.

    Args:
      values: the list that it stands for. If that is changed later, it cannot be saved.
    """

    _object_identifier = "trackable_list_wrapper"

    def __init__(self, values: list[Any]) -> None:
        super().__init__()
        self._moved = False
        self._wrapped_list = values
        for value in list(values):
            super().append(self._tracked_value(value, len(self)))
        self._wrapped_before = list(values)

    def _tracked_value(self, value: Any, index: int) -> Any:
        return assigned(self, str(index), value)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        if self._moved:
            raise ValueError(
                f"Unable to save the object {self!r} (a list wrapper constructed to "
                "track trackable TensorFlow objects). A list element was replaced "
                "(__setitem__, __setslice__), deleted (__delitem__, __delslice__), or "
                "moved (sort). In order to support restoration on object creation, "
                "tracking is exclusively for append-only data structures."
                + _IGNORE.format("list")
            )
        if not _same(self._wrapped_list, self._wrapped_before):
            raise ValueError(
                f"Unable to save the object {self!r} (a list wrapper constructed to "
                "track trackable TensorFlow objects). The wrapped list was modified "
                f"outside the wrapper (its final value was {self._wrapped_list}, its "
                "value when a checkpoint dependency was added was "
                f"{self._wrapped_before}), which breaks restoration on object creation."
                + _IGNORE.format("list")
            )
        return super()._checkpoint_dependencies

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        return functions_among({str(index): one for index, one in enumerate(self)})

    def append(self, value: Any) -> None:
        """Adds an element at the end."""
        super().append(self._tracked_value(value, len(self)))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds elements at the end."""
        for value in list(values):
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> ListWrapper:  # type: ignore[misc]
        self.extend(values)
        return self

    def __imul__(self, times: SupportsIndex) -> ListWrapper:
        count = times.__index__()
        if count <= 0:
            self._moved = True
            super().clear()
        else:
            self.extend(list(self) * (count - 1))
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, slice):
            self._moved |= isinstance(self[key], Trackable)
            index = key.__index__() % len(self)
            super().__setitem__(key, self._tracked_value(value, index))
            return
        before = list(self)
        super().__setitem__(key, value)
        self._moved |= any(isinstance(old, Trackable) for old in before)
        for index, new in enumerate(self):
            if index >= len(before) or new is not before[index]:
                super().__setitem__(index, self._tracked_value(new, index))

    def __delitem__(self, key: Any) -> None:
        self._moved = True
        super().__delitem__(key)

    def insert(self, index: SupportsIndex, value: Any) -> None:
        """Puts an element between others: the list can no longer be saved."""
        self._moved = True
        super().insert(index, value)

    def pop(self, index: SupportsIndex = -1) -> Any:
        """Takes an element away: the list can no longer be saved."""
        self._moved = True
        return super().pop(index)

    def remove(self, value: Any) -> None:
        """Takes an element away: the list can no longer be saved."""
        self._moved = True
        super().remove(value)

    def clear(self) -> None:
        """Takes all elements away: the list can no longer be saved."""
        self._moved = True
        super().clear()

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Sorts the elements: the list can no longer be saved."""
        self._moved = True
        super().sort(key=key, reverse=reverse)

    def reverse(self) -> None:
        """Turns the order round: the list can no longer be saved."""
        self._moved = True
        super().reverse()

    def __copy__(self) -> ListWrapper:
        copied = ListWrapper(list(self))
        copied._moved = self._moved
        return copied

    def copy(self) -> ListWrapper:
        """A copy that tracks the same elements."""
        return self.__copy__()

    def __deepcopy__(self, memo: Any) -> ListWrapper:
        copied = ListWrapper(copy.deepcopy(list(self), memo))
        copied._moved = self._moved
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return ListWrapper, (list(self),)

    def __repr__(self) -> str:
        return f"ListWrapper({super().__repr__()})"

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise TypeError("unhashable type: 'ListWrapper'")


class DictWrapper(dict[Any, Any], Trackable):
    """A dict that tracks its values by their keys.

    Args:
      values: the dict that it stands for. If that is changed later, it cannot be saved.
    """

    _object_identifier = "trackable_dict_wrapper"

    def __init__(self, values: dict[Any, Any]) -> None:
        super().__init__()
        self._non_string_key = False
        self._removed = False
        self._wrapped_dict = values
        for key, value in list(values.items()):
            self[key] = value
        self._wrapped_before = dict(values)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            value = assigned(self, key, value)
        else:
            kept = isinstance(value, NoDependency)
            value = _wrapped(value)
            self._non_string_key |= isinstance(value, Trackable) and not kept
        super().__setitem__(key, value)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        what = (
            f"Unable to save the object {self!r} (a dictionary wrapper constructed "
            "automatically on attribute assignment). The wrapped dictionary "
        )
        if self._non_string_key:
            raise ValueError(
                what + "contains a non-string key which maps to a trackable object or "
                "mutable data structure." + _IGNORE.format("dictionary")
            )
        now, before = self._wrapped_dict, self._wrapped_before
        if self._removed or not _same(
            [*now, *now.values()], [*before, *before.values()]
        ):
            raise ValueError(
                what + f"was modified outside the wrapper (its final value was {now}, "
                "its value when a checkpoint dependency was added was "
                f"{before}), which breaks restoration on object creation."
                + _IGNORE.format("dictionary")
            )
        return super()._checkpoint_dependencies

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        return functions_among(
            {key: one for key, one in self.items() if isinstance(key, str)}
        )

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Sets several keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """The value of a key, which is set if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, other: Any) -> DictWrapper:  # type: ignore[misc]
        self.update(other)
        return self

    def pop(self, key: Any, *default: Any) -> Any:
        """Takes a key away: the dict can no longer be saved."""
        self._removed |= key in self
        return super().pop(key, *default)

    def popitem(self) -> tuple[Any, Any]:
        """Takes the last key away: the dict can no longer be saved."""
        self._removed = True
        return super().popitem()

    def clear(self) -> None:
        """Takes all keys away: the dict can no longer be saved."""
        self._removed = True
        super().clear()

    def __copy__(self) -> DictWrapper:
        copied = DictWrapper(dict(self))
        copied._removed = self._removed
        return copied

    def copy(self) -> DictWrapper:
        """A copy that tracks the same values."""
        return self.__copy__()

    def __deepcopy__(self, memo: Any) -> DictWrapper:
        copied = DictWrapper(copy.deepcopy(dict(self), memo))
        copied._removed = self._removed
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return DictWrapper, (dict(self),)

    def __repr__(self) -> str:
        return f"DictWrapper({super().__repr__()})"

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        raise TypeError("unhashable type: 'DictWrapper'")


def _same(now: list[Any], before: list[Any]) -> bool:
    """Whether lists hold equal things; arrays and variables are equal to themselves."""
    return len(now) == len(before) and all(
        a is b or (type(a) is type(b) and _equal(a, b))
        for a, b in zip(now, before, strict=True)
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Trackable):
        return False
    return bool(a == b)
