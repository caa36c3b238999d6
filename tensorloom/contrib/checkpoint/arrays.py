"""`NumpyState`: arrays as attributes, which are saved."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.types.trackable import Trackable, TrackableReference
from tensorloom.train.checkpoints.object_saveables import PythonState


class _Array(PythonState):
    """An array as its bytes."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def serialize(self) -> bytes:
        """The array as NumPy writes it to files."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        """Takes the array over."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


@export("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """An object whose attributes are NumPy arrays, saved in object-based checkpoints.

    Raises:
      NotImplementedError: something else is assigned to an attribute.
    """

    def _lookup_dependency(self, name: str) -> Any:
        """The array's object; it is made for a name that a checkpoint has."""
        own = self._own_dependencies()
        if name not in own:
            own[name] = _Array(np.array([]))
            object.__setattr__(self, name, own[name])
        return own[name]

    def _own_dependencies(self) -> dict[str, Any]:
        own: dict[str, Any] = self.__dict__.setdefault("_arrays", {})
        return own

    @property
    def _checkpoint_dependencies(self) -> Any:
        own = self._own_dependencies()
        return [TrackableReference(name, value) for name, value in own.items()]

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic):
            known = self._own_dependencies().get(name)
            if known is not None:
                known.array = value
                return
            made = _Array(value)
            object.__setattr__(self, name, made)
            self._own_dependencies()[name] = made
            self._handle_deferred_dependencies(name, made)
            return
        if not name.startswith("_"):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a "
                "NumPy array. Mixing NumPy arrays and other trackable objects is not "
                "supported."
            )
        super().__setattr__(name, value)
