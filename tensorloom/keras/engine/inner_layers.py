"""Layers and variables that are attributes of a layer are found by being assigned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.types import nest
from tensorloom.framework.types.trackable import Trackable
from tensorloom.framework.types.trackable_structures import (
    AutoTrackable,
    DictWrapper,
    ListWrapper,
)

# Values of these types hold neither layers nor variables.
_PLAIN = frozenset([bool, bytes, complex, float, int, str, type(None)])


class InnerLayers(AutoTrackable):
    """What has layers and variables in its attributes, in lists and dicts of them."""

    def _nested(self, attribute: str) -> list[Any]:
        """An attribute of all layers inside, as one list."""
        layers = self.__dict__.get("_layers")
        if not layers:
            return []
        found: list[Any] = []
        for layer in flat_layers(layers):
            found += getattr(layer, attribute)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        before = self.__dict__.get(name)
        if isinstance(before, Trackable) and before is not value:
            self._forget(name, before)
        if type(value) in _PLAIN or hasattr(type(self), name):
            try:
                object.__setattr__(self, name, value)
            except AttributeError:
                raise AttributeError(
                    f'Can\'t set the attribute "{name}", likely because it conflicts '
                    "with an existing read-only @property of the object. Please choose "
                    "a different name."
                ) from None
            return
        super().__setattr__(name, value)
        if self._self_setattr_tracking:
            self._note(self.__dict__.get(name, value))

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        super().__delattr__(name)
        if isinstance(value, Trackable):
            self._forget(name, value)

    def _note(self, value: Any) -> None:
        """Lists a layer or variable that became an attribute."""
        is_list = isinstance(value, (ListWrapper, DictWrapper))
        if (is_list or has_weights(value)) and type(self).__name__ != "Sequential":
            layers = self.__dict__.setdefault("_layers", [])
            if all(layer is not value for layer in layers):
                layers.append(value)
                if hasattr(value, "_use_resource_variables"):
                    value._use_resource_variables = True
        if not isinstance(value, (Variable, ListWrapper, DictWrapper, tuple)):
            return
        for leaf in nest.flatten(value):
            if isinstance(leaf, Variable):
                kind = "_trainable" if leaf.trainable else "_non_trainable"
                kept = self.__dict__.setdefault(f"{kind}_weights", [])
                if all(leaf is not known for known in kept):
                    kept.append(leaf)

    def _forget(self, name: str, value: Any) -> None:
        """Takes from the lists what no other attribute refers to."""
        if any(v is value for key, v in self.__dict__.items() if key != name):
            return
        for key in ("_layers", "_trainable_weights", "_non_trainable_weights"):
            listed = self.__dict__.get(key)
            if listed:
                listed[:] = [one for one in listed if one is not value]


def has_weights(value: Any) -> bool:
    """Whether the value is a layer, or has weights as one has."""
    kind = type(value)
    return hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights")


def flat_layers(values: Any) -> Iterator[Any]:
    """The layers among values and in lists and dicts among them, each once."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            pending[:0] = list(value.values())
        elif isinstance(value, (list, tuple)):
            pending[:0] = list(value)
        elif has_weights(value):
            yield value
