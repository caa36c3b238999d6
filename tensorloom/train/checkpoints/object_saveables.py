"""Saveables that only object-based checkpoints have: the object graph, Python state."""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import device
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec


class NoRestoreSaveable(SaveableObject):
    """A tensor that is saved, and not restored."""

    def __init__(
        self, tensor: Any, name: str, dtype: Any = None, device: str | None = None
    ) -> None:
        spec = SaveSpec(tensor, "", name, dtype=dtype, device=device)
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Nothing."""
        return control_flow_ops.no_op()


class PythonStateSaveable(SaveableObject):
    """A string that Python makes when a checkpoint is written.

    Args:
      name: its key.
      state_callback: makes the string, at each saving.
      restore_callback: gets it, if a checkpoint has one.
    """

    def __init__(
        self,
        name: str,
        state_callback: Callable[[], Any],
        restore_callback: Callable[[bytes], Any] | None = None,
    ) -> None:
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        with device("/cpu:0"):
            self._tensor = constant_op.constant("", dtype=dtypes.string)
        spec = SaveSpec(self._tensor, "", name, dtype=dtypes.string)
        super().__init__(self._tensor, [spec], name)

    @property
    def optional_restore(self) -> bool:
        """Whether nobody asks for the string."""
        return self._restore_callback is None

    def feed_dict_additions(self) -> dict[Any, Any]:
        """What is fed when the checkpoint is written."""
        return {self._tensor: self._state_callback()}

    def frozen_state(self) -> Any:
        """A constant of the string of now."""
        with device("/cpu:0"):
            return constant_op.constant(self._state_callback(), dtype=dtypes.string)

    def python_restore(self, restored: list[Any]) -> None:
        """Hands the string over."""
        if self._restore_callback is not None:
            (value,) = restored
            self._restore_callback(value)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Nothing: no tensor is to be restored."""
        return control_flow_ops.no_op()


@export("train.experimental.PythonState")
class PythonState(Trackable, abc.ABC):
    """Python state in an object-based checkpoint, as a string of bytes.

    A subclass says how it becomes a string (`serialize`), when a checkpoint is
    written, and what becomes of a string that was read (`deserialize`).
    """

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The state as a string."""

    @abc.abstractmethod
    def deserialize(self, string_value: bytes) -> Any:
        """Takes the state over."""

    def _gather_saveables_for_checkpoint(self) -> Mapping[str, Any]:
        return {
            "py_state": functools.partial(
                PythonStateSaveable,
                state_callback=self.serialize,
                restore_callback=self.deserialize,
            )
        }
