"""`split_dependency`: a variable that is saved as several values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec

_VALUE = "VARIABLE_VALUE"


class _PartSaveable(SaveableObject):
    def __init__(self, name: str, part: _Part) -> None:
        self._part = part
        spec = SaveSpec(part.save, "", name, dtype=part.dtype, device=part.device)
        super().__init__(part.save, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        (value,) = restored_tensors
        return self._part.restore(value)


class _Part(Trackable):
    """One value; all parts share what is to be saved, and what was restored."""

    def __init__(self, whole: _Whole, name: str, dtype: Any, device: str) -> None:
        self._whole = whole
        self._name = name
        self.dtype = dtype
        self.device = device

    def save(self) -> Any:
        """The value; the first that is asked for makes those of all."""
        waiting = self._whole.to_save
        if self._name not in waiting:
            if waiting:
                raise AssertionError(
                    f"Split dependency {self._name} ({self}) unsynchronized. Split "
                    "dependencies must be saved together."
                )
            self._whole.fill(waiting)
        return waiting.pop(self._name)

    def restore(self, value: Any) -> Any:
        """Takes a value; the last makes the operation that restores."""
        found = self._whole.restored
        if self._name in found:
            raise AssertionError(
                f"Split dependency {self._name} ({self}) unsynchronized. Split "
                "dependencies must be restored together."
            )
        found[self._name] = value
        if len(found) < self._whole.count:
            return no_op()
        op = self._whole.consume(found)
        found.clear()
        return op

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {_VALUE: functools.partial(_PartSaveable, part=self)}


class _Whole:
    """What the parts have in common."""

    def __init__(
        self,
        count: int,
        fill: Callable[[dict[str, Any]], None],
        consume: Callable[[dict[str, Any]], Any],
    ) -> None:
        self.count = count
        self.fill = fill
        self.consume = consume
        self.to_save: dict[str, Any] = {}
        self.restored: dict[str, Any] = {}


@export("contrib.checkpoint.split_dependency")
def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[Any],
    fill_save_buffer_fn: Callable[[dict[str, Any]], None],
    consume_restore_buffer_fn: Callable[[dict[str, Any]], Any],
    device: str,
) -> dict[str, Any]:
    """Objects to track in the place of one variable.

    Args:
      component_names: of the values.
      component_dtypes: of them.
      fill_save_buffer_fn: puts a tensor for each name into a dict.
      consume_restore_buffer_fn: from such a dict the operation that restores.
      device: of the tensors.

    Returns:
      By name the objects.
    """
    whole = _Whole(len(component_names), fill_save_buffer_fn, consume_restore_buffer_fn)
    pairs = zip(component_names, component_dtypes, strict=True)
    return {name: _Part(whole, name, dtype, device) for name, dtype in pairs}
