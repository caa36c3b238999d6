"""Objects whose state is kept by object-based checkpoints (`tf.train.Checkpoint`).

A `Trackable` has values of its own (a variable has one) and depends on others, each
under a name. The names along the way from the root make a value's key in a checkpoint.
What a checkpoint holds for an object that does not exist yet waits in the object that
will depend on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

# The attribute of an object that is a single value, as a variable is.
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
_uids = itertools.count()


def next_restore_uid() -> int:
    """A number above all before: later restorations win over earlier ones."""
    return next(_uids)


class TrackableReference(NamedTuple):
    """A dependency: its name, local to the object that has it, and the object."""

    name: str
    ref: Any


class Trackable:
    """Base of what `tf.train.Checkpoint` saves. Dependencies are declared by calls.

    There is no constructor to be called: what it needs is made at the first use, so
    that variables, of which there may be thousands, cost nothing more.
    """

    # What a SavedModel calls objects of the class.
    _object_identifier = "_generic_user_object"
    # The restoration that gave it its values last.
    _update_uid = -1
    _tracked: dict[str, Any] | None = None
    _awaited: dict[str, list[Any]] | None = None

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What it depends on, in the order of declaration."""
        return [TrackableReference(*item) for item in (self._tracked or {}).items()]

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        """Positions in checkpoints that wait for a dependency, by its name."""
        if self._awaited is None:
            # Past `__setattr__`, which may track what is assigned.
            self.__dict__["_awaited"] = {}
        assert self._awaited is not None
        return self._awaited

    def _lookup_dependency(self, name: str) -> Any:
        """The dependency of that name, or None."""
        return (self._tracked or {}).get(name)

    def _track_trackable(
        self, trackable: Any, name: str, overwrite: bool = False
    ) -> Any:
        """Declares a dependency, and restores it if a checkpoint waits for it.

        Args:
          overwrite: another object may have the name already.

        Returns:
          `trackable`.

        Raises:
          TypeError: it is no `Trackable`.
          ValueError: the name is taken.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"Trackable._track_trackable() passed type {type(trackable)}, not a "
                "Trackable."
            )
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a "
                "Trackable with this name is already declared as a dependency. Names "
                "must be unique (or overwrite=True)."
            )
        if self._tracked is None:
            self.__dict__["_tracked"] = {}
        assert self._tracked is not None
        self._tracked[name] = trackable
        if known is None:
            self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores an object from the checkpoints that wait for it, newest first."""
        if not self._awaited:
            return
        waiting = self._awaited.pop(name, [])
        for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
            position.restore(trackable)

    def _untrack(self, name: str) -> None:
        """Forgets a dependency."""
        if self._tracked:
            self._tracked.pop(name, None)

    def _no_dependency(self, value: Any) -> Any:
        """The value as what an attribute can be set to without being tracked."""
        return value

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        """The `tf.function`s and concrete functions that a SavedModel has of it."""
        return {}

    def _list_extra_dependencies_for_serialization(self, cache: Any) -> dict[str, Any]:
        """Objects that a SavedModel has of it besides its dependencies, by name."""
        return {}

    def _gather_saveables_for_checkpoint(self) -> Mapping[str, Any]:
        """Its own values: a variable, or a function of a name to a `SaveableObject`."""
        return {}


class SavedFunctionBase:
    """Base of functions that SavedModels keep, where they are attributes of objects."""


def functions_among(items: Mapping[str, Any]) -> dict[str, Any]:
    """The items that are functions which a SavedModel keeps."""
    return {k: v for k, v in items.items() if isinstance(v, SavedFunctionBase)}
