"""What a `tf.train.Saver` can save: tensors with names, and how they are restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SaveSpec:
    """One tensor of a saveable object.

    Args:
      tensor: the tensor, or a function that makes it.
      slice_spec: which slice of a larger tensor it is, `""` for a whole one.
      name: the key in the checkpoint.
      dtype, device: needed with a function; of the tensor when None.
    """

    def __init__(
        self,
        tensor: Any,
        slice_spec: str,
        name: str,
        dtype: Any = None,
        device: str | None = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if not callable(tensor):
            dtype, device = tensor.dtype, tensor.device
        elif dtype is None or device is None:
            raise AssertionError(
                "When passing a callable `tensor` to a SaveSpec, an explicit dtype and "
                "device must be provided."
            )
        self.dtype = dtype
        self.device = device

    @property
    def tensor(self) -> Any:
        """The tensor; a function makes a new one each time."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something with state that is saved as one or more tensors.

    Args:
      op: what is saved; no two saveables of a saver may have the same.
      specs: its tensors.
      name: of the whole.
    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may be without it."""
        return False

    #: Whether it reads a checkpoint itself (`restore_from`), in place of `restore`.
    reads_checkpoint = False

    @property
    def device(self) -> Any:
        """The device of its tensors."""
        return self.specs[0].device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The operation that gives it its state back.

        Args:
          restored_tensors: as many as there are specs.
          restored_shapes: shapes to reshape to, or None.
        """
        raise ValueError("Calling an abstract method.")

    def restore_from(self, prefix: Any) -> Any:
        """The operation that gives it its state back from a checkpoint.

        Args:
          prefix: the checkpoint's, a string tensor.
        """
        raise ValueError("Calling an abstract method.")
