"""`ReshapeCoder`: axes that are others for a while."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tensorloom.contrib.labeled_tensor.axis import Axis, AxisLike, as_axis
from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.layout import reshape
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import name_scope


@export("contrib.labeled_tensor.ReshapeCoder")
class ReshapeCoder:
    """Reshapes axes into others, and back.

    It serves functions that know other axes:

        coder = ReshapeCoder(["channel", "mask"], ["depth"])
        result = coder.decode(crop_center(coder.encode(images)))
    """

    @checked
    def __init__(
        self,
        existing_axis_names: Collection[str],
        new_axes: Collection[str | AxisLike],
        name: str | None = None,
    ) -> None:
        """Says which axes become which, as in `reshape`."""
        self._existing_names = existing_axis_names
        self._new_axes = new_axes
        self._name = name
        self._existing_axes: list[Axis] | None = None

    @checked
    def encode(self, labeled_tensor: LabeledTensorLike) -> LabeledTensor:
        """The tensor with the new axes.

        Raises:
          ValueError: the axes are not those of a tensor before.
        """
        with name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            encoded = reshape(
                labeled_tensor, self._existing_names, self._new_axes, name=scope
            )
            axes = [labeled_tensor.axes[name] for name in self._existing_names]
            if self._existing_axes not in (None, axes):
                raise ValueError(
                    f"input axes {axes!r} do not match axes from previous method call "
                    f"{self._existing_axes!r}"
                )
            self._existing_axes = axes
            return encoded

    @checked
    def decode(self, labeled_tensor: LabeledTensorLike) -> LabeledTensor:
        """The tensor with the axes that it had.

        Raises:
          ValueError: nothing was encoded before.
        """
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
            names: list[Any] = [
                axis if isinstance(axis, str) else as_axis(axis).name
                for axis in self._new_axes
            ]
            return reshape(labeled_tensor, names, self._existing_axes, name=scope)
