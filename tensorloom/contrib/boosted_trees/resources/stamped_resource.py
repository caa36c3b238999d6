"""What ensembles, sums of gradients and sketches of quantiles have in common."""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.trackable import Trackable
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.train.sessions.resources import register_resource

_NO_LETTERS = re.compile(r"[\W_]+")


def scope_name(name: str) -> str:
    """A name with letters and digits alone, which can be that of a scope."""
    return _NO_LETTERS.sub("", name)


class StampedSaveable(SaveableObject):
    """What a saver saves of a resource.

    Args:
      handle: of the resource.
      create: the operation that makes it.
      saved: tensors by the ends of their names in a checkpoint.
      prefix: of those names.
      name: of the object.
      restore: an operation that takes the saved values.
    """

    def __init__(
        self,
        handle: Tensor,
        create: Operation,
        saved: Sequence[tuple[str, Any]],
        prefix: str,
        name: str,
        restore: Callable[..., Operation],
    ) -> None:
        self._create, self._restore = create, restore
        specs = [SaveSpec(tensor, "", prefix + end) for end, tensor in saved]
        super().__init__(handle, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        """The operation that gives the resource its state back."""
        with control_dependencies([self._create]):
            return self._restore(*restored_tensors)


class StampedResource(Trackable, abc.ABC):
    """A resource of a graph: made by sessions that initialize it, saved by savers."""

    # Whether the operations of savers are in the scope of the resource, by TensorFlow's
    # names.
    _saved_in_scope = False

    def __init__(
        self,
        name: str | None,
        default_name: str,
        ops: tuple[str, str, str],
        create: Callable[[Tensor], Operation],
        container: str | None,
    ) -> None:
        """Makes the handle.

        Args:
          name: of the resource.
          default_name: of it without a name.
          ops: that give its handle, and tell whether it was made; and what the second
            calls the handle.
          create: an operation that makes it, of its handle.
          container: of the resource.
        """
        with name_scope(name, default_name) as scope:
            self._name = str(scope)
            self._handle: Tensor = apply_op(
                ops[0], container=container or "", shared_name=scope, name=scope
            )
            self._create = create(self._handle)
            self._is_initialized: Tensor = apply_op(ops[1], **{ops[2]: self._handle})
            if self._saved_in_scope:
                self._saveable = self._make_saveable()
        register_resource(self._handle, self._create, self._is_initialized)
        if not self._saved_in_scope:
            self._saveable = self._make_saveable()
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)

    @abc.abstractmethod
    def _make_saveable(self) -> StampedSaveable:
        """What a saver saves."""

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {type(self).__name__: lambda name: self._saveable}

    @property
    def resource_handle(self) -> Tensor:
        """The handle, a resource scalar."""
        return self._handle

    @property
    def initializer(self) -> Operation:
        """The operation that makes the resource."""
        return self._create

    @property
    def saveable(self) -> StampedSaveable:
        """What a saver saves of it."""
        return self._saveable

    def is_initialized(self) -> Tensor:
        """Whether it was made, a bool scalar."""
        return self._is_initialized
