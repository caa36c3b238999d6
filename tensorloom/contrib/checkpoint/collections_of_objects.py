"""Lists, mappings and named values whose members are saved with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.export import export
from tensorloom.framework.types.trackable import Trackable
from tensorloom.framework.types.trackable_structures import NoDependency
from tensorloom.keras.engine.base_layer import Layer


class _Collection(Trackable):
    """Base of the three: members by name, and what the layers among them have."""

    def __init__(self) -> None:
        self.trainable = True

    def _members(self) -> Iterable[Any]:
        raise NotImplementedError

    def _as_member(self, value: Any, name: str) -> Any:
        """A value that becomes a member; what cannot be saved is refused."""
        if isinstance(value, NoDependency):
            return value.value
        value = _as_trackable(value)
        self._track_trackable(value, name=name)
        return value

    def _gathered(self, attribute: str) -> list[Any]:
        found: list[Any] = []
        for member in self._members():
            if isinstance(member, Layer | _Collection):
                new = getattr(member, attribute)
                found.extend(one for one in new if not any(one is x for x in found))
        return found

    @property
    def layers(self) -> list[Any]:
        """The layers among the members, and among theirs."""
        found: list[Any] = []
        for member in self._members():
            if isinstance(member, Layer):
                found.append(member)
            elif isinstance(member, _Collection):
                found.extend(member.layers)
        return found

    def _plain_variables(self) -> list[Any]:
        return [one for one in self._members() if isinstance(one, Variable)]

    @property
    def trainable_weights(self) -> list[Any]:
        """The trained variables of layers, and those among the members."""
        if not self.trainable:
            return []
        own = [one for one in self._plain_variables() if one.trainable]
        return self._gathered("trainable_weights") + own

    @property
    def non_trainable_weights(self) -> list[Any]:
        """All other variables."""
        trained = self.trainable_weights
        everything = self._gathered("weights") + self._plain_variables()
        return [one for one in everything if not any(one is x for x in trained)]

    @property
    def weights(self) -> list[Any]:
        """The trained variables, and the others."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        """`trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        """`non_trainable_weights`."""
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        """`weights`."""
        return self.weights

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers."""
        return self._gathered("updates")

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers."""
        return self._gathered("losses")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


def _as_trackable(value: Any) -> Any:
    if isinstance(value, list):
        return List(value)
    if isinstance(value, dict):
        return Mapping(value)
    if not isinstance(value, Trackable):
        raise ValueError(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a "
            f"List object. Got {value}, which does not inherit from Trackable."
        )
    return value


@export("contrib.checkpoint.List")
class List(_Collection, Sequence[Any]):
    """A list that is only added to; its members are saved under their positions.

    Args:
      *args: what it begins with, as for `list`.

    Raises:
      ValueError: a member cannot be saved.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage: list[Any] = []
        self.extend(list(*args, **kwargs))

    def _members(self) -> Iterable[Any]:
        return self._storage

    def append(self, value: Any) -> None:
        """Adds a member. Raises ValueError if it cannot be saved."""
        self._storage.append(self._as_member(value, str(len(self._storage))))

    def extend(self, values: Iterable[Any]) -> None:
        """Adds members. Raises ValueError if one cannot be saved."""
        for value in values:
            self.append(value)

    def copy(self) -> List:
        """A list of the same members."""
        return List(self._storage)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._storage)

    def __add__(self, other: Any) -> List:
        return List([*self._storage, *other])

    def __radd__(self, other: Any) -> List:
        return List([*other, *self._storage])

    def __mul__(self, n: int) -> List:
        return List(self._storage * n)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, List):
            return self._storage == other._storage
        return self._storage == other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


@export("contrib.checkpoint.Mapping")
class Mapping(_Collection, AnyMapping[str, Any]):
    """A mapping that is only added to; its values are saved under their keys.

    Args:
      *args, **kwargs: what it begins with, as for `dict`.

    Raises:
      TypeError: a key is no string.
      ValueError: a value cannot be saved.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    def _members(self) -> Iterable[Any]:
        return [self._storage[key] for key in sorted(self._storage)]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                "Mapping accepts only string keys, but got a key "
                f"{key!r} of type {type(key)}."
            )
        known = self._storage.get(key)
        if known is not None and known is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the "
                f"key '{key}' with value {value}, but it already contains {known}"
            )
        self._storage[key] = self._as_member(value, key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Adds values under their keys."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            return self._storage == other._storage
        return self._storage == other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


@export("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(_Collection):
    """Values under names that get numbers where they come again."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}

    def _members(self) -> Iterable[Any]:
        return [one.ref for one in self._checkpoint_dependencies]

    def track(self, trackable: Any, base_name: str) -> Any:
        """Saves a value under a name, or that with a number behind it.

        Raises:
          ValueError: it cannot be saved.
        """
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit "
                "from tf.track.Trackable."
            )
        count = self._counts.get(base_name, 0)
        name = f"{base_name}_{count}" if count else base_name
        while self._lookup_dependency(name) is not None:
            count += 1
            name = f"{base_name}_{count}"
        self._counts[base_name] = count + 1
        self._as_member(trackable, name)
        return trackable
